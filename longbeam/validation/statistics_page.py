"""The tables of a benchmark as one self-contained page: charts beside BEAM's figures, then the text of every table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from longbeam.pages import PAGE_END, page_start
from longbeam.schemas import AbilityStatistics, Statistics
from longbeam.validation.statistics_text import render_text

_STYLE = """
table { width: auto; } pre { font: 12px/1.5 var(--figures); }
th, td { padding: 4px 16px 4px 0; text-align: right; }
:is(th, td):first-child, td:has(.bar) { text-align: left; }
.bar { display: inline-block; height: .7em; border-radius: 2px; background: var(--accent); }
.beam { background: #b08a3c; }
"""
_BAR_PX = 160


def render_page(name: str, statistics: Statistics) -> str:
    """Return the page of a benchmark; it loads and runs nothing."""
    parts = [
        f"<h1>{escape(name)}</h1>",
        f'<p class="soft">Beside BEAM at {escape(statistics.beam.name)}: {escape(statistics.beam_source)}. '
        "Violet: this benchmark. Brown: BEAM.</p>",
        _section("Where the evidence is, by tenth of the conversation", _deciles(statistics)),
        _section("Abilities: each column from its least (pale) to its most", _abilities(statistics.abilities)),
        _section("Mean tokens of a message", _messages(statistics)),
        _section("Share of the tokens", _speakers(statistics)),
        _section("All tables", f"<pre>{escape(render_text(statistics))}</pre>"),
    ]
    return page_start(f"{name}: statistics", name, _STYLE) + "\n".join(parts) + PAGE_END


def _section(title: str, table: str) -> str:
    name = escape(title)
    return f'<h2>{name}</h2><div class="card scroller" tabindex="0" role="region" aria-label="{name}">{table}</div>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _bar(value: float | None, most: float, *, is_beam: bool = False) -> str:
    width = round(_BAR_PX * (value or 0.0) / most) if most else 0
    return f'<span class="bar{" beam" if is_beam else ""}" style="width: {width}px"></span>'


def _deciles(statistics: Statistics) -> str:
    beam = statistics.beam.paper_deciles or statistics.beam.measured_deciles
    most = max((*statistics.deciles, *beam), default=0.0)
    rows = []
    for i, share in enumerate(statistics.deciles):
        of_beam = beam[i] if beam else None
        bars = f"{_bar(share, most)}<br>{_bar(of_beam, most, is_beam=True)}"
        rows.append((str(i + 1), f"{share:.1%}", f"{of_beam:.1%}" if of_beam is not None else "-", bars))
    return _table(("tenth", "evidence", "BEAM", ""), rows)


def _abilities(abilities: Sequence[AbilityStatistics]) -> str:
    columns: dict[str, list[float | None]] = {
        "probes": [float(a.probes) for a in abilities],
        "nuggets": [a.nuggets for a in abilities],
        "cited messages": [a.cited_messages for a in abilities],
        "hard": [a.hard / a.probes if a.probes else 0.0 for a in abilities],
        "median span": [a.median_span for a in abilities],
    }
    cells = {title: _heat(values) for title, values in columns.items()}
    rows = [
        (escape(a.ability.replace("_", " ")), *(cells[title][i] for title in columns)) for i, a in enumerate(abilities)
    ]
    return _table(("ability", *columns), rows)


def _heat(values: Sequence[float | None]) -> list[str]:
    known = [v for v in values if v is not None]
    least, most = (min(known), max(known)) if known else (0.0, 0.0)
    cells = []
    for value in values:
        share = (value - least) / (most - least) if value is not None and most > least else 0.0
        text = f"{value:.2f}" if value is not None else "-"
        wash = f"color-mix(in srgb, var(--accent) {share * 40:.0f}%, transparent)"
        cells.append(f'<span style="padding: 3px 8px; border-radius: 4px; background: {wash}">{text}</span>')
    return cells


def _messages(statistics: Statistics) -> str:
    beam = statistics.beam_tokens_by_category
    rows = []
    for row in statistics.by_category:
        user = beam.user.get(row.category.value)
        of_user = f"{user[0]:.0f} to {user[1]:.0f}" if user else "-"
        of_reply = f"{beam.reply[0]:.0f} to {beam.reply[1]:.0f}"
        rows.append((row.category.value, f"{row.per_user_message:.0f}", of_user, f"{row.per_reply:.0f}", of_reply))
    return _table(("category", "user", "BEAM", "assistant", "BEAM"), rows)


def _speakers(statistics: Statistics) -> str:
    tokens = sum(c.tokens for c in statistics.conversations)
    user = sum(c.user_tokens for c in statistics.conversations) / tokens if tokens else 0.0
    shares = (("user", user), ("assistant", 1 - user))
    return _table(("speaker", "share", ""), [(who, f"{share:.1%}", _bar(share, 1.0)) for who, share in shares])
