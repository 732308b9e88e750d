"""Sequences of records that show themselves as a table in a notebook and become pandas or Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, overload

from longbeam.errors import require_extra
from longbeam.terminal import counted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

T = TypeVar("T")
Row = Mapping[str, Any]
"""Column to value; all rows of a table have the same columns."""
_ROWS_SHOWN = 10
_CHARACTERS_SHOWN = 120


class Table(Sequence[T]):
    """Records in order, with a row for each."""

    def __init__(self, records: Sequence[T], noun: str, rows: Callable[[], Iterable[Row]]) -> None:
        """Keep the records; `noun` names one of them, `rows` makes their rows when they are asked for."""
        self._records = records
        self._noun = noun
        self._rows = rows

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self._records[place]

    def __repr__(self) -> str:
        return f"<{counted(len(self), self._noun)}>"

    def rows(self) -> list[dict[str, Any]]:
        """Return one dictionary for each record."""
        return [dict(row) for row in self._rows()]

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas data frame; UserError where pandas is not installed."""
        require_extra("tables", "to_pandas", "pandas")
        import pandas as pd

        return pd.DataFrame.from_records(self.rows())

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; UserError where pyarrow is not installed."""
        require_extra("tables", "to_arrow", "pyarrow")
        import pyarrow as pa

        return pa.Table.from_pylist(self.rows())

    def _repr_html_(self) -> str:
        shown = list(islice(self._rows(), _ROWS_SHOWN))
        is_cut = len(shown) < len(self)
        return html_table(
            counted(len(self), self._noun) + (f", of which the first {len(shown)}" if is_cut else ""), shown
        )


def html_table(caption: str, rows: Sequence[Row]) -> str:
    """Return rows as an HTML table; long values are cut, everything is escaped."""
    columns = list(rows[0]) if rows else []
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{_cell(row[c])}</td>" for c in columns) + "</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: object) -> str:
    text = "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
    return escape(text if len(text) <= _CHARACTERS_SHOWN else f"{text[: _CHARACTERS_SHOWN - 3]}...")
