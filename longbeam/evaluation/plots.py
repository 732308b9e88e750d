"""Plots as inline SVG: lines or points over an axis; floors are dashed, ceilings dotted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from zlib import crc32

from longbeam.memory.paging import Study

WIDTH, HEIGHT = 720, 340
LEFT, RIGHT, TOP, BOTTOM = 48, 190, 14, 44
"""Margins; the right one has the names of the systems."""
_COLOURS = 10
"""Colours of systems in the stylesheet, `.series-0` and so on."""
_LABEL_STEP = 14
_ALONE = "svg{background:#fff}.grid,.tickmark,.leader{stroke:#ddd}" + "".join(
    f".series-{i}{{color:hsl({36 * i},65%,38%)}}" for i in range(_COLOURS)
)
"""Style of a plot in a file of its own, which no page's stylesheet reaches."""


@dataclass(frozen=True)
class Series:
    """One system's points."""

    name: str
    kind: str
    """`system`, `floor` or `ceiling`."""
    points: tuple[tuple[float, float], ...]


def plot(
    series: Sequence[Series], *, x_label: str, ticks: Sequence[tuple[float, str]], title: str, is_log: bool = False
) -> str:
    """Return an SVG element of scores from 0 to 1; `ticks` are places on the x axis with their labels."""
    drawn = [s for s in series if s.points]
    places = [x for s in drawn for x, _ in s.points] + [x for x, _ in ticks]
    scale = _Scale(min(places, default=0.0), max(places, default=1.0), is_log)
    classes = _classes(drawn)
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">',
        *_axes(scale, ticks, x_label),
        *(line for s in drawn for line in _drawn(s, scale, classes[s.name])),
        *_names(drawn, scale, classes),
        "</svg>",
    ]
    return "\n".join(parts)


def plot_paging(study: Study) -> str:
    """Return an SVG file of a study's boundaries: questions answered under each eviction, and resident ones, dashed."""
    boundaries = [*dict.fromkeys(row.config.boundary for row in study.ablation)]
    points: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in study.ablation:
        place, eviction = float(boundaries.index(row.config.boundary)), row.config.eviction
        points[eviction, "system"].append((place, row.summary.accuracy))
        points[f"{eviction}, resident", "floor"].append((place, row.summary.residency))
    series = [Series(name, kind, tuple(of)) for (name, kind), of in points.items()]
    ticks = [(float(place), name) for place, name in enumerate(boundaries)]
    svg = plot(series, x_label="boundary", ticks=ticks, title=f"{study.name}, {study.capacity}")
    alone = f'<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11"><style>{_ALONE}</style>'
    return svg.replace("<svg", alone, 1)


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    is_log: bool

    def x(self, value: float) -> float:
        low, high, at = (math.log10(max(v, 1.0)) if self.is_log else v for v in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.5
        return LEFT + 10 + share * (WIDTH - LEFT - RIGHT - 20)

    @staticmethod
    def y(value: float) -> float:
        return TOP + (1 - value) * (HEIGHT - TOP - BOTTOM)


def _classes(series: Sequence[Series]) -> dict[str, str]:
    """Return the class of each series, which has its colour: its kind, or for a system a number that its name gives."""
    numbers: dict[str, int] = {}
    for name in sorted(s.name for s in series if s.kind == "system"):
        number = crc32(name.encode())
        while number % _COLOURS in numbers.values() and len(numbers) < _COLOURS:
            number += 1
        numbers[name] = number % _COLOURS
    return {s.name: f"series-{numbers.get(s.name, s.kind)}" for s in series}


def _axes(scale: _Scale, ticks: Sequence[tuple[float, str]], x_label: str) -> list[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    lines = []
    for step in range(6):
        y = scale.y(step / 5)
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{step / 5:.1f}</text>')
    for value, name in ticks:
        x = scale.x(value)
        lines.append(f'<line class="tickmark" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 4}"/>')
        lines.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 17}" text-anchor="middle">{escape(name)}</text>')
    middle = (LEFT + right) / 2
    lines.append(f'<text class="axis" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>')
    return lines


def _drawn(series: Series, scale: _Scale, drawn_as: str) -> list[str]:
    points = [(scale.x(x), scale.y(y)) for x, y in series.points]
    dash = {"floor": ' stroke-dasharray="5 4"', "ceiling": ' stroke-dasharray="1 4"'}.get(series.kind, "")
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    lines = [
        f'<polyline points="{path}" class="{drawn_as}" fill="none" stroke="currentcolor" stroke-width="1.8"{dash}/>'
    ]
    for (x, y), (_, value) in zip(points, series.points, strict=True):
        title = f"<title>{escape(series.name)}: {value:.3f}</title>"
        lines.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" class="{drawn_as}" fill="currentcolor">{title}</circle>'
        )
    return lines


def _names(series: Sequence[Series], scale: _Scale, classes: dict[str, str]) -> list[str]:
    """Return the names right of the last points, moved apart where they would overlap."""
    wanted = sorted((scale.y(s.points[-1][1]), i) for i, s in enumerate(series))
    places: list[float] = []
    for y, _ in wanted:
        places.append(max(y, places[-1] + _LABEL_STEP) if places else y)
    overrun = max(0.0, places[-1] - (HEIGHT - BOTTOM)) if places else 0.0
    for i in range(len(places) - 1, -1, -1):  # push back up what ran below the axis
        limit = HEIGHT - BOTTOM if i == len(places) - 1 else places[i + 1] - _LABEL_STEP
        places[i] = min(places[i], limit) if overrun else places[i]
    lines = []
    x = WIDTH - RIGHT + 22
    for (_, i), y in zip(wanted, places, strict=True):
        name = series[i].name
        at_x, at_y = scale.x(series[i].points[-1][0]), scale.y(series[i].points[-1][1])
        shown = name if len(name) <= 26 else name[:25] + "…"
        lines.append(f'<line class="leader" x1="{at_x + 5:.1f}" y1="{at_y:.1f}" x2="{x - 4}" y2="{y:.1f}"/>')
        lines.append(
            f'<text class="{classes[name]}" x="{x}" y="{y + 4:.1f}" fill="currentcolor">{escape(shown)}</text>'
        )
    return lines
