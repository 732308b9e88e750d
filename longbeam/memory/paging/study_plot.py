"""Plot of the ablation: a bar for each boundary and eviction; the resident share is dark, the recalled share light."""

from __future__ import annotations

from xml.sax.saxutils import escape

from longbeam.memory.paging.study import Row, Study

BAR, GAP, GROUP, LEFT, TOP, HEIGHT = 26, 6, 24, 46, 42, 240
DARK, LIGHT, INK = "#30638e", "#9cc4e4", "#333"


def plot_study(study: Study) -> str:
    """Return the plot as SVG."""
    groups = list(dict.fromkeys(row.config.boundary for row in study.ablation))
    each = len(study.ablation) // max(len(groups), 1)
    width = LEFT + len(groups) * (each * (BAR + GAP) + GROUP) + 20
    title = f"{study.name}, {study.capacity}: questions answered, resident (dark) and by recall (light), percent"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + HEIGHT + 70}" font-family="sans-serif" '
        f'font-size="11" fill="{INK}"><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="13">{escape(title)}</text>',
    ]
    for share in range(0, 101, 25):
        y = TOP + HEIGHT * (1 - share / 100)
        parts.append(f'<line x1="{LEFT}" x2="{width - 10}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{share}</text>')
    x = LEFT + GAP
    for group in groups:
        start = x
        for row in (r for r in study.ablation if r.config.boundary == group):
            parts += _bar(row, x)
            x += BAR + GAP
        middle = (start + x - GAP) / 2
        parts.append(f'<text x="{middle}" y="{TOP + HEIGHT + 58}" text-anchor="middle">{escape(group)}</text>')
        x += GROUP
    return "\n".join([*parts, "</svg>"]) + "\n"


def _bar(row: Row, x: float) -> list[str]:
    there, whole = HEIGHT * row.summary.residency, HEIGHT * row.summary.accuracy
    low = TOP + HEIGHT
    middle, percent = x + BAR / 2, f"{100 * row.summary.accuracy:.0f}"
    return [
        f'<rect x="{x}" y="{low - whole:.1f}" width="{BAR}" height="{whole - there:.1f}" fill="{LIGHT}"/>',
        f'<rect x="{x}" y="{low - there:.1f}" width="{BAR}" height="{there:.1f}" fill="{DARK}"/>',
        f'<text x="{middle}" y="{low - whole - 4:.1f}" text-anchor="middle">{percent}</text>',
        f'<text transform="translate({middle + 4},{low + 8}) rotate(60)">{escape(row.config.eviction)}</text>',
    ]
