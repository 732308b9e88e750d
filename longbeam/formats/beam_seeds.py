"""BEAM's topic.json: the seed of a conversation, and of each of its plans if there are several."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from longbeam.formats.dates import find_day
from longbeam.formats.exporting import CANARY
from longbeam.schemas import ConversationHead, Domain, PlanSeed, Seed, Timeline

_MODES = {"similar": "hierarchical", "following": "sequential"}
"""BEAM's names of modes, and ours."""
_MODE_OF = {ours: beams for beams, ours in _MODES.items()}


def read_seed(topic: Mapping[str, Any], name: str) -> Seed:
    """Return the seed of a conversation; `name` replaces a missing title."""
    mode = str(topic.get("mode") or "")
    return Seed(
        domain=_domain(topic),
        title=str(topic.get("title") or f"BEAM {name}"),
        theme=str(topic.get("theme") or ""),
        subtopics=_texts(topic.get("subtopics")),
        timeline=_timeline(topic),
        mode=_MODES.get(mode, mode if mode in _MODE_OF else None),
        source=f"beam:{name}",
    )


def read_plan_seeds(topics: Mapping[int, Mapping[str, Any]], plans: int, seed: Seed) -> tuple[PlanSeed, ...]:
    """Return the seeds of all plans from their topics; none if a topic lacks something, such as its days."""
    found = []
    for i in range(plans):
        topic = topics.get(i, {})
        bounds = topic.get("phase_boundaries")
        bounds = bounds if isinstance(bounds, Mapping) else {}
        timeline = _timeline(topic)
        try:
            found.append(
                PlanSeed(
                    plan_index=i,
                    domain=_domain(topic) if _domain(topic) is not Domain.GENERAL else seed.domain,
                    topic=str(topic.get("title") or ""),
                    theme=str(topic.get("theme") or ""),
                    subtopics=_texts(topic.get("subtopics")),
                    timeline=timeline,  # type: ignore[arg-type]  # None is refused, and caught below
                    phase=str(topic.get("phase_type") or ""),
                    tense=str(bounds.get("tense_for_main_action") or ""),
                    can_mention=_texts(bounds.get("can_mention")),
                    cannot_mention=_texts(bounds.get("cannot_mention")),
                )
            )
        except ValidationError:
            return ()
    return tuple(found) if plans > 1 else ()


def seed_object(head: ConversationHead) -> dict[str, Any]:
    """Return topic.json; for generated conversations also with the timeline in days and the canary."""
    if head.details.get("format") == "beam":
        return dict(head.details["seed"])
    seed = head.seed
    ordinal = head.conversation_id[1:]
    return {
        "id": int(ordinal) + 1 if ordinal.isdecimal() else head.conversation_id,
        "category": _category(seed.domain),
        "title": seed.title,
        "theme": seed.theme,
        "subtopics": list(seed.subtopics),
        **({"mode": _MODE_OF.get(seed.mode, seed.mode)} if seed.mode else {}),
        **({"timeline": _timeline_text(seed.timeline)} if seed.timeline else {}),
        "canary": CANARY,
    }


def plan_seed_objects(head: ConversationHead) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the topic.json of each plan by its file name, if there are several plans."""
    if head.details.get("format") == "beam":
        for name, text in head.details["files"].items():
            if name.startswith("plan-") and name.endswith("/topic.json"):
                yield name, json.loads(text)
        return
    for seed in head.plan_seeds:
        bounds = {"can_mention": list(seed.can_mention), "cannot_mention": list(seed.cannot_mention)}
        yield (
            f"plan-{seed.plan_index}/topic.json",
            {
                "id": seed.plan_index,
                "category": _category(seed.domain),
                "title": seed.topic,
                "theme": seed.theme,
                "subtopics": list(seed.subtopics),
                "timeline": _timeline_text(seed.timeline),
                "phase_type": seed.phase,
                "phase_boundaries": {**bounds, "tense_for_main_action": seed.tense},
            },
        )


def _domain(topic: Mapping[str, Any]) -> Domain:
    words = re.findall(r"[a-z]+", str(topic.get("category") or "").casefold())
    slug = "_".join(word for word in words if word not in {"and", "or"})
    return Domain(slug) if slug in set(Domain) else Domain.GENERAL


def _category(domain: str) -> str:
    return str(domain).replace("_", " ").title()


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _timeline(topic: Mapping[str, Any]) -> Timeline | None:
    """Return the timeline of `2024-01-03 to 2024-05-31`; None for those of BEAM's that name only months."""
    days = [find_day(part) for part in str(topic.get("timeline") or "").split(" to ")]
    if len(days) == 2 and days[0] is not None and days[1] is not None and days[0] < days[1]:
        return Timeline(start=days[0], end=days[1])
    return None


def _timeline_text(timeline: Timeline) -> str:
    return f"{timeline.start} to {timeline.end}"
