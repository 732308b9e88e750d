"""The rule-based reader: answers from the statements that `understanding` finds in a memory's text.

The reader sees what a language model sees, the text and the question. From the question it reads the attributes and
the operation: tell the latest value, compare, add, count, order, summarize, point out a contradiction, follow the
user's wishes. Where it does not understand, it quotes the text (`reading`); where the text says nothing on the
question, it says so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from longbeam.offline import reading
from longbeam.offline.advising import NTH
from longbeam.offline.probe_wording import clause_for, day_named, neutral, number_word, plural, to_you
from longbeam.offline.reading import answer_over
from longbeam.offline.understanding import ME, How, ReadStatement, Understood, Wish, understand
from longbeam.prompts.calls import AnswerInputs
from longbeam.schemas import AdviceKind, Value, ValueKind
from longbeam.text import format_date, listed, recompute, values_in, words_of

_MOST_WISHES = 2
_LEAST_OF_DENIAL = 0.6
"""Share of a question's words that a denial must contain to be about the question."""
_OF_THE_PAST = re.compile(r"\b(?:did|was|were|had|gave|told|said|we talked)\b|\bremind me\b")
"""Words of questions on what was said; such a question asks for no advice."""
_COUNTS = {number_word(n): n for n in range(11)}


def answer(inputs: AnswerInputs) -> str:
    """Return the answer; the best sentences if the reader does not understand the question or the text."""
    reader = _StatementReader(inputs.question, _understood(inputs.context))
    return reader.answer() or reading.answer(inputs)


@lru_cache(maxsize=64)
def _understood(context: str) -> Understood:
    told = reading.told(context)
    return understand(told.by_user, told.by_assistant, told.days)


@dataclass(frozen=True)
class _AskedSlot:
    """One attribute of one thing, with all statements on it."""

    attribute: str
    subject: str
    said: tuple[tuple[ReadStatement, str], ...]
    """Statements with the value, oldest first."""

    @property
    def name(self) -> str:
        """Name of the slot as said to the user: `the price of the roof`, `your age`."""
        return f"your {self.attribute}" if self.subject == ME else f"the {self.attribute} of {to_you(self.subject)}"

    @property
    def value(self) -> str:
        """The latest value."""
        return _shown(self.said[-1][1])

    @property
    def told(self) -> str:
        """The latest value as a clause: `the price of the roof is $400`."""
        return f"{self.name} is {self.value}"


@dataclass(frozen=True)
class _StatementReader:
    question: str
    known: Understood

    def answer(self) -> str:
        """Return the answer of the first reading that understands the question; empty if none does."""
        ways = (
            (r"", self._over_side_story),
            (r"\bin which order\b|\bin the order in which\b", self._order),
            (r"\bwhich of (?:your|the) three (?:ways|options)\b", self._taken),
            (r"\bways to deal with\b", self._options),
            (r"\bwas (?:it )?for\?", self._use),
            (r"\bsteps\b|\b(?:in|all) \w+ points\b", self._steps),
            (r"^(?:going back to|as of)\b|, as of\b|\bas of [A-Z]", self._as_of),
            (r"\b(?:miss or beat|days off)\b", self._miss),
            (r"\b(?:how many days|counting in days)\b", self._days),
            (r"\bin total\b|\badd up\b|\baltogether:|\btogether\?", self._sum),
            (r"\bdifference\b|\bhow far apart\b|\bby how much\b", self._difference),
            (r"\bhow many\b.*\b(?:different|counting each)\b|\bcounting each\b.*\bhow many\b", self._count),
            (r"\border\b|\bfirst \w+ topics\b", self._order),
            (r"\bsum up\b|\bsummari[sz]e\b|\bsummary of\b|^take me through\b", self._summary),
            (r"^(?:have I|did I)\b|\bexperience of my own\b|\bdealt with myself\b|\bbehind me\b", self._whether),
            (r"\bhas it happened\b", self._whether),
            (r"\bas its\b|\bgoes with it\b|\bwhich thing that (?:is|was)\b", self._by_clue),
            (r"", self._facts),
            (r"", self._as_wished),
        )  # fmt: skip
        for pattern, way in ways:
            if re.search(pattern, self.question, re.IGNORECASE) and (found := way()):
                return found
        # The thing is known, but no statement on it has the attribute that is asked for.
        return reading.NO_INFORMATION if self._subjects_in(self.question) else ""

    def _over_side_story(self) -> str:
        return answer_over(self.question, self.known.statements)

    @property
    def _every(self) -> tuple[ReadStatement, ...]:
        """Statements of both sides: what the assistant brings in has attributes of its own."""
        return (*self.known.statements, *self.known.advised)

    # --- what is asked about --------------------------------------------------------------------------------------

    def _slots(self) -> list[_AskedSlot]:
        """Return a slot for each attribute and thing that the question names, in the order of the question."""
        if found := self._slots_asked():
            return found
        asked = self._attributes()
        found = []
        for i, (attribute, start, end) in enumerate(asked):
            if re.search(r"\bmy (?:[\w ]+ and my )*$", self.question[:start]):
                subjects = [ME]
            else:
                # `the price and the builder of the roof`: the thing follows the last of the attributes.
                rest = self.question[end : asked[i + 1][1] if i + 1 < len(asked) else None]
                subjects = self._subjects_in(rest, attribute) or self._subjects_in(self.question[end:], attribute)
            found += [slot for subject in subjects if (slot := self._slot(attribute, subject)) is not None]
        return found

    def _slots_asked(self) -> list[_AskedSlot]:
        """Return the slots whose clause (`what I paid for the roof`) the question has, in its order."""
        here = self._subjects_in(self.question)
        known = dict.fromkeys(
            (subject, name)
            for subject in here
            for s in self._every
            if _same(s.subject, subject)
            for name, _ in s.values
        )
        forms: dict[str, list[tuple[str, str]]] = {}
        for subject, name in known:
            clauses = (clause_for(name, subject), clause_for(name, subject, is_of_assistant=True))
            # A thing of no pack's attribute is asked for by both names: `the last day of the whole undertaking`.
            for clause in filter(None, clauses) if any(clauses) else (f"the {name} of {{it}}",):
                for form in dict.fromkeys((clause, day_named(clause))):
                    forms.setdefault(form, []).append((name, subject))
        places: dict[tuple[str, str], int] = {}
        things = "|".join(re.escape(neutral(s)) for s in sorted(here, key=len, reverse=True))
        thing = rf"(?:(?:the|my|our|an?) )?(?:{things})"
        named = rf"(?P<it>it|them|{thing}(?:(?:,| and) {thing})*)\b"
        for form, slots_of_form in forms.items():
            before, _, after = form.partition("{it}")
            pattern = re.escape(before) + named + re.escape(after)
            for match in re.finditer(pattern, self.question, re.IGNORECASE):
                meant = here if match["it"] in {"it", "them"} else self._subjects_in(match["it"])
                for name, subject in slots_of_form:
                    if subject in meant:
                        places.setdefault((name, subject), match.start() + match["it"].find(neutral(subject)))
        slots = (self._slot(name, subject) for name, subject in sorted(places, key=lambda key: places[key]))
        return [slot for slot in slots if slot is not None]

    def _slot(self, attribute: str, subject: str) -> _AskedSlot | None:
        said = tuple(
            (s, listed(values))
            for s in self._every
            if _same(s.subject, subject) and (values := [value for name, value in s.values if name == attribute])
        )
        return _AskedSlot(attribute, subject, said) if said else None

    def _subjects_in(self, text: str, attribute: str = "") -> list[str]:
        """Return the things that a text names, in its order, and that have the attribute."""
        names = dict.fromkeys(
            s.subject for s in self._every if s.subject and (not attribute or attribute in dict(s.values))
        )
        places: list[tuple[int, str]] = []
        left = text.casefold()
        for name in sorted(names, key=lambda n: (-len(n), n)):
            found = re.search(rf"\b{re.escape(neutral(name).casefold())}\b", left)
            if found and not any(_same(name, other) for _, other in places):
                places.append((found.start(), name))
                left = f"{left[: found.start()]}{' ' * len(found.group())}{left[found.end() :]}"
        return [name for _, name in sorted(places)]

    def _attributes(self) -> list[tuple[str, int, int]]:
        """Return (attribute, start, end) of the attributes in the question, in its order; the longest match wins."""
        told = {name for s in self._every for name, _ in s.values}
        left, found = self.question.casefold(), list[tuple[str, int, int]]()
        for attribute in sorted(told, key=lambda name: (-len(name), name)):
            for match in re.finditer(rf"\b{re.escape(attribute.casefold())}\b", left):
                found.append((attribute, match.start(), match.end()))
                left = f"{left[: match.start()]}{' ' * len(match.group())}{left[match.end() :]}"
        return sorted(found, key=lambda one: one[1])

    # --- what is done with it ---------------------------------------------------------------------------------------

    def _facts(self) -> str:
        slots = self._slots()
        for slot in slots:
            if against := self._against(slot):
                return _contradicting(*against)
        return " ".join(_sentence(slot.told) for slot in slots)

    def _against(self, slot: _AskedSlot) -> tuple[str, str] | None:
        """Return two statements on a slot that contradict each other, oldest first; None if there are none."""
        told = [s for s, _ in slot.said if s.how is not How.OTHERWISE]
        matters = {s.matter for s in told} | {f"any/{slot.attribute}"}
        others = [
            s
            for s in self.known.statements
            if (s.how is How.DENIED and s.matter in matters and (not s.subject or _same(s.subject, slot.subject)))
            or any(s is of and s.how is How.OTHERWISE for of, _ in slot.said)
        ]
        return self._in_order(told[0], others[0]) if told and others else None

    def _in_order(self, one: ReadStatement, other: ReadStatement) -> tuple[str, str]:
        first, second = sorted((one, other), key=self.known.statements.index)
        return first.quote, second.quote

    def _whether(self) -> str:
        """Answer whether something happened, with its denial and what was told of the same matter."""
        asked = set(words_of(self.question))
        denials = [s for s in self.known.statements if s.how is How.DENIED]
        shares = [len(asked & set(words_of(s.quote))) / len(asked) if asked else 0.0 for s in denials]
        subjects = self._subjects_in(self.question)
        fitting = [
            s
            for s, share in sorted(zip(denials, shares, strict=True), key=lambda pair: -pair[1])
            if share >= _LEAST_OF_DENIAL or any(_same(s.subject, subject) for subject in subjects)
        ]
        for denial in fitting:
            for told in self.known.statements:
                is_of_it = told.matter == denial.matter or denial.matter.removeprefix("any/") in dict(told.values)
                if told.how is How.TOLD and is_of_it and (not denial.subject or _same(told.subject, denial.subject)):
                    return _contradicting(*self._in_order(told, denial))
        return f'You told me: "{fitting[0].quote}"' if fitting else ""

    def _days(self) -> str:
        slots = self._slots()
        dates = [_typed(slot) for slot in slots]
        if len(slots) != 2 or any(d is None or d.date is None for d in dates):
            return ""
        days = recompute("days_between", [d for d in dates if d is not None])
        verb = "is" if days.number == 1 else "are"
        first, second = (f"{slot.name} ({slot.value})" for slot in slots)
        return f"There {verb} {days.text} between {first} and {second}."

    def _as_of(self) -> str:
        """Answer with the last value told up to the day that the question names."""
        days = [v.date for v in values_in(self.question) if v.date is not None]
        told = [
            replace(slot, said=said)
            for slot in self._slots()
            if days and (said := tuple((s, v) for s, v in slot.said if s.said_on <= days[0]))
        ]
        return f"At that time {told[0].name} was {told[0].value}." if told else ""

    def _miss(self) -> str:
        """Answer with the days between the day that was planned last and the day on which it came about."""
        for planned in self._slots():
            dated = dict.fromkeys(
                name for s in self.known.statements if _same(s.subject, planned.subject) for name, _ in s.values
            )
            others = [self._slot(name, planned.subject) for name in dated if name != planned.attribute]
            for actual in filter(None, others):
                first, second = _typed(planned), _typed(actual)
                is_outcome = re.search(
                    r"complet|finished|done|actual|took place|submi|filing|sign-off", actual.attribute
                )
                if first and second and first.date and second.date and is_outcome:
                    side = "before" if second.date < first.date else "after"
                    days = recompute("days_between", [first, second]).text
                    return (
                        f"It was done {days} {side} the last {planned.attribute}: {_sentence(actual.told)} "
                        f"{_sentence(planned.told)}"
                    )
        return ""

    def _sum(self) -> str:
        return self._computed("sum", "Together they come to {}: ")

    def _difference(self) -> str:
        return self._computed("difference", "The difference is {}: ")

    def _computed(self, computation: str, opening: str) -> str:
        slots = self._slots()
        amounts = [_typed(slot) for slot in slots]
        if len(slots) < 2 or any(a is None for a in amounts):
            return ""
        try:
            result = recompute(computation, [a for a in amounts if a is not None])
        except ValueError:
            return ""
        return f"{opening.format(result.text)}{listed([slot.told for slot in slots])}."

    def _count(self) -> str:
        asked = self.question.casefold()
        told = [(name, _shown(value)) for s in self.known.statements for name, value in s.values]
        named = [name for name, _ in told if plural(name).casefold() in asked]
        values = dict.fromkeys(value for name, value in told if named and name == named[0])
        return f"You named {len(values)} different {plural(named[0])}: {listed(list(values))}." if values else ""

    def _order(self) -> str:
        """Answer with the things that the question names, in the order in which they were first told."""
        asked = self.question.casefold()
        named: dict[tuple[str, str], str] = {}
        for s in self.known.statements:
            for attribute, _ in s.values if s.how is not How.DENIED else ():
                clause = clause_for(attribute, s.subject).format(it=s.subject) or f"the {attribute} of {s.subject}"
                if clause.casefold() in asked and s.subject.casefold() in asked:
                    named.setdefault((attribute, s.subject), to_you(clause))
        for s in self.known.advised if not named else ():
            for attribute, _ in s.values:
                given = clause_for(attribute, s.subject, is_of_assistant=True).format(it=s.subject)
                given = given or f"the {attribute} that you gave me for {s.subject}"
                if (short := f"the {attribute} for {s.subject}").casefold() in asked:
                    named.setdefault((attribute, s.subject), to_you(short))
                elif given.casefold() in asked:
                    told = re.sub(r"\byou (gave|told) you\b", r"I \1 you", to_you(given))
                    named.setdefault((attribute, s.subject), told)
        return "\n".join(f"{i}) {name}" for i, name in enumerate(named.values(), 1))

    def _items(self, attribute: str) -> tuple[str, list[str]]:
        """Return the thing that the question names, and the last list of the assistant's for it."""
        for subject in self._subjects_in(self.question, attribute):
            lists = [
                [v for name, v in s.values if name == attribute]
                for s in self.known.advised
                if _same(s.subject, subject)
            ]
            if any(lists):
                return subject, next(items for items in reversed(lists) if items)
        return "", []

    def _steps(self) -> str:
        _, steps = self._items(AdviceKind.STEPS.value)
        return "\n".join(f"{i}) {step}" for i, step in enumerate(steps, 1))

    def _options(self) -> str:
        subject, options = self._items(AdviceKind.OPTIONS.value)
        return f"The options for {to_you(subject)} were {listed(options)}." if options else ""

    def _taken(self) -> str:
        subject, options = self._items(AdviceKind.OPTIONS.value)
        taken = [dict(s.values)["taken"] for s in self.known.taken if _same(s.subject, subject)]
        if not options or not taken or taken[-1] not in NTH:
            return ""
        return f"You took this one: {options[NTH.index(taken[-1])]}."

    def _use(self) -> str:
        subject, uses = self._items(AdviceKind.USE.value)
        return f"The amount that I suggested for {to_you(subject)} was for {listed(uses)}." if uses else ""

    def _summary(self) -> str:
        told = []
        for subject in self._subjects_in(self.question):
            of_it = (name for s in self.known.statements if _same(s.subject, subject) for name, _ in s.values)
            for name in dict.fromkeys(of_it):
                if (slot := self._slot(name, subject)) is not None:
                    before = [_shown(v) for _, v in slot.said if _shown(v) != slot.value]
                    told.append(_sentence(slot.told) + (f" Before that it was {listed(before)}." if before else ""))
        return " ".join(told)

    def _by_clue(self) -> str:
        """Answer a question that describes a thing by another of its values."""
        for clue in self.known.statements:
            for name, value in clue.values:
                if _shown(value).casefold() in self.question.casefold() and self._names(
                    name, clue.subject, "one thing"
                ):
                    of_it = [n for s in self._every if _same(s.subject, clue.subject) for n, _ in s.values if n != name]
                    wanted = next((n for n in of_it if self._names(n, clue.subject, "it")), "")
                    if (slot := self._slot(wanted, clue.subject)) is not None:
                        return _sentence(slot.told)
        return ""

    def _names(self, attribute: str, subject: str, it: str) -> bool:
        """Return whether the question has an attribute's clause, with `it` for the thing, or the attribute itself."""
        clause, asked = clause_for(attribute, subject).format(it=it), self.question.casefold()
        return (bool(clause) and clause.casefold() in asked) or re.search(
            rf"\b{re.escape(attribute)}\b", asked
        ) is not None

    def _as_wished(self) -> str:
        """Answer with the user's wish for questions of this kind, and in compliance with it."""
        asked = set(words_of(self.question))

        def fit(wish: Wish) -> float:
            if self.question in wish.standing.probe:
                return 2.0
            condition = set(words_of(wish.standing.condition))
            return len(asked & condition) / len(condition) if condition else 0.0

        if _OF_THE_PAST.search(self.question):
            return ""
        latest = {w.standing.condition: w for w in self.known.wishes}  # The latest: a preference may have changed.
        best = sorted(latest.values(), key=lambda w: -fit(w))
        return "\n".join(f'You asked: "{w.quote}" {_kept(w)}' for w in best[:_MOST_WISHES])


def _kept(wish: Wish) -> str:
    return next((h for h in wish.standing.honour if "{" not in h), wish.standing.honour[0].replace("{it}", "this"))


def _contradicting(first: str, second: str) -> str:
    return (
        f'You have told me two things that contradict each other: you said "{first}", and you also said "{second}" '
        "Which of the two is right?"
    )


def _same(one: str, other: str) -> bool:
    return neutral(one).casefold() == neutral(other).casefold()


def _typed(slot: _AskedSlot) -> Value | None:
    found = values_in(slot.said[-1][1])
    return found[0] if found else None


def _shown(value: str) -> str:
    found = values_in(value)
    is_date = len(found) == 1 and found[0].kind is ValueKind.DATE and found[0].date is not None
    return format_date(found[0].date) if is_date and found[0].date else value


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
