"""Parts of every HTML page: the stylesheet, and the switch between light, dark and the system's scheme.

The review serves the same files; pages that stand alone (report, statistics, findings) carry them inside. The switch
needs no script: the stylesheet reads which of its three radio buttons is chosen.
"""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Content security policy of a page that stands alone: it loads and runs nothing."""
_STATIC = Path(__file__).parent / "annotation_ui" / "static"
_CHOICES = {"light": "Light", "system": "As the system", "dark": "Dark"}


@cache
def stylesheet(name: str = "base.css") -> str:
    """Return a stylesheet that the server has, too: by default the one of all pages."""
    return (_STATIC / name).read_text(encoding="utf-8")


def theme_switch() -> str:
    """Return the three radio buttons that choose the colour scheme; a page has at most one such switch."""
    buttons = "".join(
        f'<label><input type="radio" name="theme" id="theme-{name}" value="{name}"'
        f"{' checked' if name == 'system' else ''}>{text}</label>"
        for name, text in _CHOICES.items()
    )
    return f'<fieldset class="theme" aria-label="colours">{buttons}</fieldset>'


def page_start(title: str, brand: str, style: str = "") -> str:
    """Return the start of a page that stands alone, up to its open `<main>`.

    Args:
        title: Text of the browser's tab.
        brand: Words at the left of the header.
        style: Rules of this page alone; they come after the shared stylesheet.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<title>{escape(title)}</title>\n<style>\n{stylesheet()}{style}</style>\n</head>\n<body>\n"
        f'<header class="site"><span class="brand">{escape(brand)}</span><span class="grow"></span>'
        f'{theme_switch()}</header>\n<main class="page">\n'
    )


PAGE_END = "</main>\n</body>\n</html>\n"
