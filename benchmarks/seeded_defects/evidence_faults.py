"""Faults of evidence, updates, contradictions and order: beam.md 7.1 to 7.7."""

from __future__ import annotations

from benchmarks.seeded_defects.changes import (
    Change,
    Site,
    cites,
    last_cited,
    later_message,
    replaced,
    said,
    with_sentence,
)
from benchmarks.seeded_defects.tables import Row
from benchmarks.seeded_defects.wording import (
    in_other_words,
    in_words,
    other_writings,
    sentences,
    typed_value,
    wrong_value,
)

FACTUAL = ("information_extraction", "summarization", "multi_session_reasoning", "temporal_reasoning")
_MOVED = (
    "A correction on {subject}: the {attribute} is {value} now.",
    "Since yesterday the {attribute} of {subject} is {value} instead.",
    "I've changed the {attribute} of {subject} to {value}.",
    "Please note the new {attribute} of {subject}: {value}.",
    "{value} is what the {attribute} of {subject} comes to after all.",
)
_MOVED_LOOSELY = (
    "Forget my old figure for {subject}, it has become {value} in the meantime.",
    "With {subject} things have shifted again, and we are at {value} these days.",
    "As for {subject}, make that {value} from here on.",
    "We talked about {subject} again at home and ended up with {value}.",
)
_WITHOUT_WEIGHT = (
    "I thought about {subject} on the way home.",
    "There was another message about {subject} this morning.",
    "I've found my notes on {subject} again.",
    "My sister wanted to hear everything about {subject}.",
    "What a day, and {subject} was only a part of it.",
)
_AFFIRMED = (
    "I have to say that {subject} turned out just as I told you.",
    "What I told you about {subject} still holds.",
    "You may remember what I said about {subject}; yes, that was me.",
    "Everything that I said about {subject} is true.",
)
_ON_SOMETHING_ELSE = (
    "I've never had anything to do with the lottery on Main Street.",
    "I've never owned a boat.",
    "I still haven't been to the new swimming pool.",
    "I've never learnt to ski.",
    "Not once have I taken the night bus.",
)
_NOT_AGAINST_IT = (
    "I've never complained to anybody about {subject}.",
    "I've never slept badly because of {subject}.",
    "I never tell my neighbours about {subject}.",
    "I've never regretted a minute spent on {subject}.",
    "I've never heard a bad word about {subject}.",
)


# --- evidence ---------------------------------------------------------------------------------------------


def cite_replies(site: Site) -> Change | None:
    """All evidence points at what the assistant answered."""
    if site.probe["ability"] not in (*FACTUAL, "preference_following"):
        return None
    evidence = []
    for cited in site.probe["evidence"]:
        reply = site.chat.messages[site.chat.places[cited["message_key"]] + 1]
        if reply["role"] != "assistant":
            return None
        evidence.append(cites(reply, cited, sentences(reply["content"])[0]))
    return Change(site.probe | {"evidence": evidence})


def cite_another_message(site: Site) -> Change | None:
    """The evidence of a value points at a message of the user about something else."""
    return _cite_elsewhere(site, ("information_extraction", "knowledge_update"))


def cite_another_message_for_a_wish(site: Site) -> Change | None:
    """The evidence of an instruction or a preference points at a message of the user about something else."""
    return _cite_elsewhere(site, ("instruction_following", "preference_following"))


def _cite_elsewhere(site: Site, abilities: tuple[str, ...]) -> Change | None:
    evidence = list(site.probe["evidence"])
    if site.probe["ability"] not in abilities or not evidence:
        return None
    if len(evidence) > 1 and site.probe["ability"] != "knowledge_update":
        return None
    words = _long_words(f"{site.probe['gold_answer']} {evidence[-1]['quote']}")
    later = site.chat.messages[site.chat.places[evidence[0]["message_key"]] + 1 :]
    apart = [m for m in later if m["role"] == "user" and not words & _long_words(m["content"]) and _longest(m)]
    if not apart:
        return None
    message = site.rng.choice(apart)
    evidence[-1] = cites(message, evidence[-1], _longest(message))
    return Change(site.probe | {"evidence": evidence})


def _longest(message: Row) -> str:
    """The longest sentence of a message; empty where it has none of any length."""
    found = max(sentences(message["content"]), key=len, default="")
    return found if len(found) > 30 else ""


def _long_words(text: str) -> set[str]:
    return {w for w in text.casefold().replace(".", " ").replace(",", " ").split() if len(w) > 4 or w.isdecimal()}


def cite_one_update_twice(site: Site) -> Change | None:
    """Original and updated value cite the same message."""
    return _cite_one_message(site, "knowledge_update")


def cite_one_statement_twice(site: Site) -> Change | None:
    """Assertion and denial cite the same message."""
    return _cite_one_message(site, "contradiction_resolution")


def _cite_one_message(site: Site, ability: str) -> Change | None:
    if site.probe["ability"] != ability or len(site.probe["evidence"]) != 2:
        return None
    first, second = site.probe["evidence"]
    message = site.chat.message(second["message_key"])
    return Change(site.probe | {"evidence": [cites(message, first, second["quote"]), second]})


# --- values -----------------------------------------------------------------------------------------------


def name_an_unsaid_value(site: Site) -> Change | None:
    """Gold and nugget name a value that the user never says."""
    return _unsaid(site, in_other_writing=False)


def name_an_unsaid_value_in_other_writing(site: Site) -> Change | None:
    """The same, the value written out, or as another form of date."""
    return _unsaid(site, in_other_writing=True)


def _unsaid(site: Site, *, in_other_writing: bool) -> Change | None:
    if site.probe["ability"] not in ("information_extraction", "summarization"):
        return None
    value = _value(site)
    wrong = wrong_value(value, site.rng) if value else ""
    if not wrong or any(site.chat.is_said(text) for text in (wrong, *other_writings(wrong))):
        return None
    return Change(replaced(site.probe, [(value, in_other_words(wrong) if in_other_writing else wrong)]))


def _value(site: Site) -> str:
    """A day or number of the probe's facts that stands in its gold answer, in no other place of it."""
    for fact_id in site.probe["fact_ids"]:
        value = typed_value(site.chat.values(fact_id), site.probe["gold_answer"])
        if value and site.probe["gold_answer"].count(value) == 1:
            return value
    return ""


def move_the_value_later(site: Site) -> Change | None:
    """The user gives another value later; the gold answer stays with the first."""
    return _move_later(site, "information_extraction", _MOVED, in_other_writing=False)


def swap_the_sides_of_an_update(site: Site) -> Change | None:
    """The gold answer is the value before the update, and the record takes it for the new one."""
    details = site.probe["details"]
    if site.probe["ability"] != "knowledge_update" or not details["old_value"]:
        return None
    old, new = details["old_value"], details["new_value"]
    if new not in site.probe["gold_answer"] or not all(new in n["text"] for n in site.probe["rubric"]):
        return None
    probe = replaced(site.probe, [(new, old)])
    return Change(probe | {"details": details | {"old_value": new, "new_value": old}})


def say_a_third_value(site: Site) -> Change | None:
    """After the update the user gives a third value."""
    return _move_later(site, "knowledge_update", _MOVED, in_other_writing=False)


def say_a_third_value_loosely(site: Site) -> Change | None:
    """The same without naming the attribute, the value written out."""
    return _move_later(site, "knowledge_update", _MOVED_LOOSELY, in_other_writing=True)


def _move_later(site: Site, ability: str, wordings: tuple[str, ...], *, in_other_writing: bool) -> Change | None:
    if site.probe["ability"] != ability or len(site.probe["fact_ids"]) != 1:
        return None
    value = _value(site)
    wrong = wrong_value(value, site.rng) if value else ""
    message = later_message(site, last_cited(site.probe))
    if not wrong or message is None or site.chat.is_said(wrong):
        return None
    fact = site.chat.fact(site.probe["fact_ids"][0])
    if fact["is_fixed"]:
        return None
    wrong = in_other_words(wrong) if in_other_writing else wrong
    sentence = site.rng.choice(wordings).format(subject=fact["subject"], attribute=fact["attribute"], value=wrong)
    return Change(messages=(with_sentence(message, sentence),), twins=(site.probe["probe_id"],), touches_facts=True)


def update_to_the_same_value(site: Site) -> Change | None:
    """The message that updates gives the old value again, and so does the gold answer."""
    return _update_to(site, in_other_writing=False)


def update_to_the_same_value_in_other_writing(site: Site) -> Change | None:
    """The same, the value written another way."""
    return _update_to(site, in_other_writing=True)


def _update_to(site: Site, *, in_other_writing: bool) -> Change | None:
    old, new = site.probe["details"]["old_value"], site.probe["details"]["new_value"]
    if site.probe["ability"] != "knowledge_update" or not old or (in_other_writing and not other_writings(old)):
        return None
    *earlier, updated = site.probe["evidence"]
    message = site.chat.message(updated["message_key"])
    if new not in updated["quote"] or message["content"].count(updated["quote"]) != 1:
        return None
    again = in_other_words(old) if in_other_writing else old
    quote = updated["quote"].replace(new, again)
    probe = replaced(site.probe, [(new, again)]) | {"evidence": [*earlier, updated | {"quote": quote}]}
    probe["details"] = site.probe["details"] | {"new_value": again}
    changed = said(message, message["content"].replace(updated["quote"], quote))
    return Change(probe, (changed,), touches_facts=True)


# --- contradictions ---------------------------------------------------------------------------------------


def leave_the_denial_out(site: Site) -> Change | None:
    """The denial is nowhere in the chat; its message says something of no weight instead."""
    return _deny_otherwise(site, _WITHOUT_WEIGHT, quoted=False)


def affirm_instead_of_denying(site: Site) -> Change | None:
    """The message cited for the denial says the same as the assertion."""
    return _deny_otherwise(site, _AFFIRMED, quoted=False)


def deny_something_else(site: Site) -> Change | None:
    """The denial is about another thing than the assertion."""
    return _deny_otherwise(site, _ON_SOMETHING_ELSE, quoted=True)


def deny_what_does_not_contradict(site: Site) -> Change | None:
    """The denial is about the same thing but contradicts nothing."""
    return _deny_otherwise(site, _NOT_AGAINST_IT, quoted=True)


def _deny_otherwise(site: Site, wordings: tuple[str, ...], *, quoted: bool) -> Change | None:
    """`quoted`: gold answer and rubric quote what is said now; else what was said."""
    if site.probe["ability"] != "contradiction_resolution" or len(site.probe["evidence"]) != 2:
        return None
    first, denial = site.probe["evidence"]
    message = site.chat.message(denial["message_key"])
    if message["content"].count(denial["quote"]) != 1:
        return None
    sentence = site.rng.choice(wordings).format(subject=site.chat.fact(site.probe["fact_ids"][0])["subject"])
    probe = dict(site.probe)
    if quoted and denial["quote"] in probe["gold_answer"]:
        probe = replaced(site.probe, [(denial["quote"], sentence)])
    elif quoted:  # the gold names the two values of a slip
        probe["gold_answer"] = f"You said “{first['quote']}” and “{sentence}”, which contradict each other."
        probe["rubric"] = [
            nugget | {"text": f"Says that the user said “{(first['quote'], sentence)[i % 2]}”"}
            for i, nugget in enumerate(probe["rubric"])
        ]
    probe["evidence"] = [first, denial | {"quote": sentence}]
    changed = said(message, message["content"].replace(denial["quote"], sentence))
    return Change(probe, (changed,), touches_facts=True)


# --- order ------------------------------------------------------------------------------------------------


def swap_two_items(site: Site) -> Change | None:
    """Two items stand in the wrong order everywhere: gold, rubric, items, evidence."""
    swapped = _swapped_items(site)
    if swapped is None:
        return None
    probe, a, b = swapped
    rubric = [n["text"] for n in probe["rubric"]]
    rubric[a], rubric[b] = rubric[b], rubric[a]
    evidence = list(probe["evidence"])
    place = ("message_id", "message_key", "quote")
    evidence[a], evidence[b] = (evidence[x] | {name: evidence[y][name] for name in place} for x, y in ((a, b), (b, a)))
    nuggets = [n | {"text": text} for n, text in zip(probe["rubric"], rubric, strict=True)]
    return Change(probe | {"rubric": nuggets, "evidence": evidence})


def swap_two_items_of_the_gold(site: Site) -> Change | None:
    """Two items stand in the wrong order in the gold answer and the list of items; the evidence is in order."""
    swapped = _swapped_items(site)
    return None if swapped is None else Change(swapped[0])


def _swapped_items(site: Site) -> tuple[Row, int, int] | None:
    """The probe with two items of different messages swapped in its gold answer and its items, and which."""
    probe = site.probe
    items, evidence = list(probe["details"]["items"]), probe["evidence"]
    if probe["ability"] != "event_ordering" or not len(items) == len(evidence) == len(probe["rubric"]):
        return None
    pairs = [
        (a, b)
        for a in range(len(items))
        for b in range(a + 1, len(items))
        if evidence[a]["message_id"] != evidence[b]["message_id"]
    ]
    if not pairs or any(probe["gold_answer"].count(item) != 1 for item in items):
        return None
    a, b = site.rng.choice(pairs)
    gold = probe["gold_answer"].replace(items[a], "\0").replace(items[b], items[a]).replace("\0", items[b])
    items[a], items[b] = items[b], items[a]
    return probe | {"gold_answer": gold, "details": probe["details"] | {"items": items}}, a, b


def leave_an_item_out(site: Site) -> Change | None:
    """The last item is missing from gold, rubric and evidence; the question still asks for all."""
    probe = site.probe
    items = probe["details"]["items"]
    if probe["ability"] != "event_ordering" or not len(items) == len(probe["evidence"]) == len(probe["rubric"]):
        return None
    gold, found, _ = probe["gold_answer"].rpartition(f", {len(items)}) ")
    if not found or in_words(len(items)) not in probe["question"]:
        return None
    kept = {name: probe[name][:-1] for name in ("rubric", "evidence")}
    return Change(probe | kept | {"gold_answer": f"{gold}.", "details": probe["details"] | {"items": items[:-1]}})


def ask_for_another_number_of_items(site: Site) -> Change | None:
    """The question asks for one item more than there are, in digits."""
    count = len(site.probe["details"]["items"])
    if site.probe["ability"] != "event_ordering" or in_words(count) not in site.probe["question"]:
        return None
    return Change(site.probe | {"question": site.probe["question"].replace(in_words(count), str(count + 1))})
