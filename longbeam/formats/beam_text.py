"""The texts of a BEAM folder: plans, labels, profile, relationships, markers; read, and written for our own.

They are free text that a language model wrote and regular expressions read; what does not fit is kept and noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from longbeam.formats.dates import find_day
from longbeam.formats.reading import Notes
from longbeam.keys import BulletId
from longbeam.schemas import (
    SPECIAL_KINDS,
    Bullet,
    BulletKind,
    ConversationHead,
    Gender,
    Narrative,
    NoteKind,
    Person,
    Plan,
    Profile,
    Relation,
    RelationshipGraph,
    SubPlan,
    people_graph,
)
from longbeam.text import format_date

_MARKERS = ("->->", "<-<-")
_INDEX = re.compile(r"(\d+)\s*,\s*(\d+(?:\s*,\s*\d+)*)\s*\)?")
_HEADER = re.compile(r"^[\s*#]*BATCH\s+(\d+)\s+PLAN[\s*:]*$", re.MULTILINE)
_BULLET = re.compile(r"^[\s\-*]*[•*-]?\s*\*\*(?P<label>[^*]+?):?\*\*:?\s*(?P<text>.*)$")
_ORNAMENT = re.compile(r"^[\s*\-_=•]*$")
_LABEL = re.compile(r"^(?:\d+\.\s*LABEL CATEOGRY:\s*(?P<old>.+)|\*\*(?P<new>.+?):?\*\*:?)\s*$")
_PERSON = re.compile(r"^[•*-]\s*(?P<name>.+?)\s*\((?P<gender>\w+),\s*age\s*(?P<age>\d+)\)\s*$")

_SPECIAL = {
    "information update": BulletKind.UPDATE,
    "user instruction": BulletKind.INSTRUCTION,
    "logical contradiction": BulletKind.CONTRADICTION,
    "preference statement": BulletKind.PREFERENCE,
    "personal introduction": BulletKind.INTRODUCTION,
}
_LABEL_OF = {kind: label.title() for label, kind in _SPECIAL.items()}
TIME_ANCHOR = "Time Anchor"

_SECTIONS = {
    "PARENTS & GUARDIANS": Relation.PARENT,
    "ROMANTIC PARTNER": Relation.PARTNER,
    "CHILDREN": Relation.CHILD,
    "CLOSE FRIENDS": Relation.FRIEND,
    "ACQUAINTANCES & COLLEAGUES": Relation.ACQUAINTANCE,
}


# --- markers ----------------------------------------------------------------------------------------------


def split_marker(text: str) -> tuple[str, str]:
    """Return a text without the plan marker at its end, and that marker (empty if there is none)."""
    last_line = text.rfind("\n") + 1
    at = min((i for marker in _MARKERS if (i := text.find(marker, last_line)) >= 0), default=None)
    if at is None:
        return text, ""
    said = text[:at].rstrip()
    return said, text[len(said) :]


def has_marker(text: str) -> bool:
    """Return whether a text contains a plan marker anywhere."""
    return any(marker in text for marker in _MARKERS)


def read_index(index: str) -> tuple[int, tuple[int, ...]] | None:
    """Return the sub-plan and the bullets, from 1, of an index: `1,4`, `2,22, 24`, `5,14)`; None for other text."""
    match = _INDEX.fullmatch(index.strip())
    return (int(match[1]), tuple(int(n) for n in match[2].split(","))) if match else None


def is_usual_index(index: str) -> bool:
    """Return whether an index is a sub-plan and its bullets: `1,4`, as nearly all of BEAM's are, or `2,22, 24`."""
    return re.fullmatch(r"\d+,\d+(?:, \d+)*", index) is not None


# --- plans ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanText:
    """The plan of a plan_new.txt: its sub-plans' bullets as (label, text)."""

    sub_plans: tuple[tuple[tuple[str, str], ...], ...]

    def anchors(self) -> list[date | None]:
        """Return the first day that each sub-plan names; None for a sub-plan that names none."""
        return [next((day for _, text in bullets if (day := find_day(text))), None) for bullets in self.sub_plans]


def read_plan_text(text: str, where: str, notes: Notes) -> PlanText:
    """Return the plan's bullets; other lines get a note."""
    pieces = _HEADER.split(text)
    sub_plans = []
    for number, body in zip(pieces[1::2], pieces[2::2], strict=True):
        bullets: list[tuple[str, str]] = []
        for line in body.splitlines():
            match = _BULLET.match(line)
            if match:
                bullets.append((match["label"].strip(), match["text"].strip()))
            elif not _ORNAMENT.match(line):
                notes.add(NoteKind.PLAN, where, f"a line of sub-plan {number} is no bullet: {line.strip()[:70]!r}")
        if bullets:  # some plans have a header too many
            sub_plans.append(tuple(bullets))
    if not sub_plans:
        notes.add(NoteKind.PLAN, where, "the plan has no sub-plan that can be read")
    return PlanText(tuple(sub_plans))


def to_plan(plan_index: int, text: PlanText, anchors: Sequence[date]) -> Plan:
    """Return the plan's record; it has no ledger. `anchors` are the first days of its sub-plans."""
    return Plan(
        plan_index=plan_index,
        sub_plans=tuple(
            SubPlan(
                plan_index=plan_index,
                sub_plan_index=s,
                anchor=anchor,
                bullets=tuple(
                    _bullet(str(BulletId(plan_index, s, b)), label, said or label, anchor)
                    for b, (label, said) in enumerate(bullets)
                ),
            )
            for s, (bullets, anchor) in enumerate(zip(text.sub_plans, anchors, strict=True))
        ),
        facts=(),
        assertions=(),
    )


def _bullet(bullet_id: str, label: str, text: str, anchor: date) -> Bullet:
    narrative, _, topic = label.partition(":")
    kind = _SPECIAL.get(label.casefold())
    if kind is None:
        kind = BulletKind.RELATIONSHIP if "relationship" in narrative.casefold() else BulletKind.EVENT
    is_asked = kind in (BulletKind.INSTRUCTION, BulletKind.PREFERENCE)
    at = text.casefold().find("when i ask")
    return Bullet(
        bullet_id=bullet_id,
        kind=kind,
        narrative=narrative.strip(),
        topic=topic.strip() or narrative.strip(),
        text=text,
        happens_on=anchor,
        condition=text[at:].rstrip(". ") if is_asked and at >= 0 else "",
        requirement=text if is_asked else "",
        variety="never_statement" if kind is BulletKind.CONTRADICTION and "never" in text.casefold() else "",
    )


def write_plan_text(plan: Plan, *, with_special: bool) -> str:
    """Return the text of BEAM's plan_new.txt for a plan, or of plan.txt, which has no special bullets."""
    blocks = []
    for number, sub_plan in enumerate(plan.sub_plans, start=1):
        lines = [f"BATCH {number} PLAN", f"• **{TIME_ANCHOR}:** {format_date(sub_plan.anchor)}"]
        for bullet in sub_plan.bullets:
            if with_special or bullet.kind not in SPECIAL_KINDS:
                label = _LABEL_OF.get(bullet.kind) or f"{bullet.narrative}:{bullet.topic}"
                lines.append(f"• **{label}:** {' '.join(bullet.text.split())}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


# --- labels, people ---------------------------------------------------------------------------------------


def read_labels(text: str) -> tuple[Narrative, ...]:
    """Return the narratives of labels.txt, in either of its two forms."""
    narratives: list[Narrative] = []
    label = ""
    lines: list[str] = []

    def close() -> None:
        if label:
            # The last line of a label lists its focus areas, in both forms.
            focus = [part.strip() for part in lines[-1].split(":")[-1].split(",")] if lines else []
            said = lines[0].split(":", 1)[-1].strip() if len(lines) > 1 else ""
            sub_labels = tuple(part for part in focus if part)[:6] or (label,)
            narratives.append(Narrative(label=label, description=said, sub_labels=sub_labels))

    for line in text.splitlines():
        if match := _LABEL.match(line.strip()):
            close()
            label, lines = (match["old"] or match["new"]).strip(), []
        elif line.strip():
            lines.append(line.strip().lstrip("-• ").strip())
    close()
    return tuple(narratives)


def write_labels(narratives: Iterable[Narrative]) -> str:
    """Return the text of BEAM's labels.txt for narratives."""
    blocks = (
        f"{n}. LABEL CATEOGRY: {narrative.label}\n   LABEL DESCRIPTION: {narrative.description}\n"
        f"   Focus Areas: {', '.join(narrative.sub_labels)}"
        for n, narrative in enumerate(narratives, start=1)
    )
    return "\n\n".join(blocks) + "\n"


def read_profile(text: str, where: str, notes: Notes) -> Profile | None:
    """Return the profile of main_spec.txt; None, with a note, if it does not describe the user."""
    said = {
        key.casefold(): value.strip()
        for key, value in re.findall(r"^[\s•*-]*(Name|Age|Gender|Location|Profession):\s*(.+)$", text, re.MULTILINE)
    }
    age = re.match(r"\d+", said.get("age", ""))
    gender = said.get("gender", "").casefold()
    missing = [k for k in ("name", "age", "gender", "location", "profession") if not said.get(k)]
    if missing or age is None or gender not in set(Gender):
        notes.add(NoteKind.PROFILE, "profile", f"{where} says no {', '.join(missing or ['age or gender in words'])}")
        return None
    city, _, country = said["location"].partition(",")
    overview = text.partition("PERSONALITY OVERVIEW:")[2]
    return Profile(
        name=said["name"],
        first_name=said["name"].split()[0],
        gender=Gender(gender),
        age=int(age[0]),
        city=city.strip(),
        country=country.strip(),
        profession=said["profession"],
        personality=" ".join(overview.split()),
    )


def write_profile(profile: Profile) -> str:
    """Return the text of BEAM's main_spec.txt for a profile."""
    rows = {
        "Name": profile.name,
        "Age": f"{profile.age} years old",
        "Gender": profile.gender.value.title(),
        "Location": f"{profile.city}, {profile.country}",
        "Profession": profile.profession,
    }
    listed = "\n".join(f"    • {key}: {value}" for key, value in rows.items())
    return f"USER PROFILE:\n{listed}\n\n    PERSONALITY OVERVIEW:\n    {profile.personality}\n"


def read_people(texts: Mapping[str, str], notes: Notes) -> RelationshipGraph:
    """Return the people of relationship texts, by file name; equal entries are one person."""
    people: dict[tuple[Relation, str, str, int], Person] = {}
    for where, text in texts.items():
        relation: Relation | None = None
        for line in filter(None, (line.strip() for line in text.splitlines())):
            if line.rstrip(":") in _SECTIONS:
                relation = _SECTIONS[line.rstrip(":")]
                continue
            match = _PERSON.match(line)
            if match is None or relation is None or match["gender"] not in set(Gender) or int(match["age"]) > 129:
                notes.add(NoteKind.PROFILE, where, f"a line that names no person: {line[:70]!r}")
                continue
            key = relation, match["name"], match["gender"], int(match["age"])
            people.setdefault(
                key,
                Person(
                    person_id=f"n{len(people) + 1}",
                    first_name=match["name"],
                    gender=Gender(match["gender"]),
                    age=int(match["age"]),
                    relation=relation,
                ),
            )
    return people_graph(tuple(people.values()))


def write_people(graph: RelationshipGraph) -> str:
    """Return the text of BEAM's relationships.txt for people."""
    blocks = []
    for title, relation in _SECTIONS.items():
        rows = [f"• {p.first_name} ({p.gender.value}, age {p.age})" for p in graph.of(relation)]
        if rows:
            blocks.append("\n".join([f"{title}:", *rows]))
    return "\n\n".join(blocks) + "\n"


def own_texts(head: ConversationHead) -> Iterator[tuple[str, str]]:
    """Yield the text files of a generated conversation, by their names in BEAM's folder."""
    if head.profile is not None:
        yield "main_spec.txt", write_profile(head.profile)
    if head.narratives:
        yield "labels.txt", write_labels(head.narratives)
    many = len(head.plans) > 1
    if head.relationships.people:
        yield ("core_relationships.txt" if many else "relationships.txt"), write_people(head.relationships)
    for plan in head.plans:
        folder = f"plan-{plan.plan_index}/" if many else ""
        yield f"{folder}plan.txt", write_plan_text(plan, with_special=False)
        yield f"{folder}plan_new.txt", write_plan_text(plan, with_special=True)
