"""Help of the commands that take a format: it names the formats of plug-ins, too, which are looked up only then."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from longbeam.formats import ENTRY_POINTS, EXPORTS, IMPORTS
from longbeam.plugins import offered


class FormatCommand(TyperCommand):
    """A command with a parameter `format`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # Any: Typer carries a Click of its own
        """Write the help, with the formats of other packages behind longbeam's own."""
        names = ", ".join(offered(ENTRY_POINTS, {*EXPORTS, *IMPORTS}))
        for parameter in self.params:
            told = getattr(parameter, "help", None)
            if names and parameter.name == "format" and told and names not in told:
                parameter.help = f"{told.rstrip('.')}; of other packages: {names}."  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
