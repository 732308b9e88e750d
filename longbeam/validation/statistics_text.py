"""Rendering of a benchmark's tables as plain text, with BEAM's figures beside them."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from longbeam.schemas import MEASURES, PROMPT_COLUMNS, REPETITION_MEASURES, TURN_SHAPES, Statistics, as_row, total_line
from longbeam.validation.base import shorten

Row = Sequence[str]
MISSING = "-"
WORST = 5
"""Number of masked sentences shown, over all conversations."""
WIDTH = 80
"""Columns of the narrowest terminal; wider tables are folded, the first column repeated."""
SENTENCE_WIDTH = 48
_REPEATED = {
    "user_duplicates": "user messages equal to another",
    "user_near_share": "user messages nearly equal to one",
    "user_masked_share": "the same, masked",
    "reply_duplicates": "replies equal to another",
    "reply_near_share": "replies nearly equal to one",
    "reply_masked_share": "the same, masked",
    "distinct_sentences": "distinct masked sentences",
    "most_frequent_share": "replies with the most frequent one",
    "frequent_sentences": "sentences in over 0.5 % of replies",
}


def render_text(statistics: Statistics) -> str:
    """Return all tables as aligned plain text with a final newline; the same on any terminal."""
    sections = [
        ("Sizes, mean per conversation", _sizes(statistics)),
        ("Turns by what follows the main question", _shapes(statistics)),
        ("Tokens per message", _category_tokens(statistics)),
        ("Probes", _abilities(statistics)),
        ("Places of the evidence", _deciles(statistics)),
        ("Evidence", _evidence(statistics)),
        ("Repetition, mean per conversation", _repetition(statistics)),
        ("Repetition by conversation", _repetition_by_conversation(statistics)),
        ("Most frequent masked sentences of replies", _frequent(statistics)),
        ("Continuity across plan borders", _borders(statistics)),
        ("Conversations", _conversations(statistics)),
        ("Replies by prompt", _prompts(statistics)),
        ("Incidents", _incidents(statistics)),
    ]
    blocks = [f"{title}\n{_table(rows)}" for title, rows in sections if len(rows) > 1]
    notes = [_spread(statistics), _repetition_note(statistics)]
    notes.append("\n".join([f"BEAM's figures: {statistics.beam_source}.", *statistics.beam_notes]))
    blocks += ["\n".join(fill(line, WIDTH) for line in note.splitlines()) for note in notes]
    return "\n\n".join(blocks) + "\n"


def _sizes(statistics: Statistics) -> list[Row]:
    beam, rows = statistics.beam, statistics.conversations
    table: list[Row] = [("", "mean", "least", "most", f"BEAM {beam.name} paper", "measured")]
    for measure in (*MEASURES, "sessions", "days", "probes", "nuggets"):
        values = [getattr(row, measure) for row in rows]
        table.append(
            (
                measure.replace("_", " "),
                _number(statistics.mean[measure]),
                _number(min(values)),
                _number(max(values)),
                _number(beam.paper.get(measure)),
                _number(beam.measured.get(measure)),
            )
        )
    return table


def _borders(statistics: Statistics) -> list[Row]:
    table: list[Row] = [
        (
            "plan",
            "people new",
            "people back",
            "facts changed",
            "denied",
            "plans back",
            "instructions",
            "preferences",
            "new",
        )
    ]
    for row in statistics.borders:
        counts = (
            len(row.people_new),
            len(row.people_back),
            row.facts_changed,
            row.facts_denied,
            row.plans_back,
            row.instructions_in_force,
            row.preferences_in_force,
            row.preferences_changed,
        )
        table.append((f"{row.conversation_id} p{row.plan_index}", *map(str, counts)))
    return table


def _shapes(statistics: Statistics) -> list[Row]:
    columns = [c.category.value for c in statistics.by_category]
    table: list[Row] = [("", *columns, "all", f"BEAM {statistics.beam.name} measured")]
    for shape in TURN_SHAPES:
        shares = [*(c.turn_shapes for c in statistics.by_category), statistics.turn_shapes, statistics.beam.turn_shapes]
        table.append((shape.replace("_", " "), *(_percent(s.get(shape)) for s in shares)))
    return table


def _category_tokens(statistics: Statistics) -> list[Row]:
    beam = statistics.beam_tokens_by_category
    table: list[Row] = [("", "conversations", "per user message", "BEAM", "per reply", "BEAM")]
    for row in statistics.by_category:
        table.append(
            (
                row.category.value,
                str(row.conversations),
                _number(row.per_user_message),
                _range(beam.user.get(row.category.value)),
                _number(row.per_reply),
                _range(beam.reply),
            )
        )
    return table


def _abilities(statistics: Statistics) -> list[Row]:
    name = statistics.beam.name
    header = ("", "probes", "easy/medium/hard", "nuggets", f"BEAM {name}", "messages cited", f"BEAM {name}", "span")
    table: list[Row] = [header]
    for row in statistics.abilities:
        table.append(
            (
                row.ability.replace("_", " "),
                str(row.probes),
                f"{row.easy}/{row.medium}/{row.hard}",
                f"{_number(row.nuggets)} (most {row.most_nuggets})",
                _number(statistics.beam.nuggets.get(row.ability)),
                f"{_number(row.cited_messages)} (most {row.most_cited_messages})",
                _number(statistics.beam.cited_messages.get(row.ability)),
                _percent(row.median_span),
            )
        )
    return table


def _deciles(statistics: Statistics) -> list[Row]:
    beam = statistics.beam
    table: list[Row] = [("tenth of the conversation", "share", f"BEAM {beam.name} paper", "measured")]
    for index, share in enumerate(statistics.deciles):
        paper, measured = (column[index] if column else None for column in (beam.paper_deciles, beam.measured_deciles))
        table.append((str(index + 1), _percent(share), _percent(paper), _percent(measured)))
    return table


def _evidence(statistics: Statistics) -> list[Row]:
    found = statistics.evidence
    return [
        ("", "figure"),
        ("cited messages of the user", _number(found.user_messages)),
        ("cited messages of the assistant", _number(found.assistant_messages)),
        ("probes that cite the assistant", f"{found.probes_of_assistant} of {found.probes}"),
        ("probes asked on the way", f"{found.asked_on_the_way} of {found.probes}"),
        ("tokens from evidence to question, median", _number(found.tokens_to_question)),
        ("messages to the next mention of a value, median", _number(found.messages_to_next_mention)),
        ("values that are mentioned again", _percent(found.mentioned_again)),
    ]


def _spread(statistics: Statistics) -> str:
    if statistics.median_span is None:
        return "No probe cites more than one message."
    return (
        f"A probe that cites several messages spans {_percent(statistics.median_span)} of its conversation "
        "from the first to the last (median; `span` above is the same by ability)."
    )


def _repetition(statistics: Statistics) -> list[Row]:
    beam = statistics.beam_repetition
    table: list[Row] = [("", "mean", "least", "most", f"BEAM {beam.name}", "pooled")]
    for measure in REPETITION_MEASURES:
        values = [row.repetition.figures[measure] for row in statistics.conversations]
        columns = (statistics.repetition[measure], min(values), max(values), beam.mean[measure])
        cells = [_repeated(measure, v) for v in (*columns, beam.pooled.get(measure))]
        table.append((_REPEATED[measure], *cells))
    return table


def _repetition_by_conversation(statistics: Statistics) -> list[Row]:
    header = (
        "",
        "user equal",
        "nearly",
        "masked",
        "replies equal",
        "nearly",
        "masked",
        "sentences",
        "top",
        "over 0.5 %",
    )
    rows = (
        (row.conversation_id, *(_repeated(measure, row.repetition.figures[measure]) for measure in REPETITION_MEASURES))
        for row in statistics.conversations
    )
    return [header, *rows]


def _frequent(statistics: Statistics) -> list[Row]:
    found = [(row.conversation_id, worst) for row in statistics.conversations for worst in row.repetition.worst]
    found.sort(key=lambda item: -item[1].share)
    rows = (
        (shorten(w.text, SENTENCE_WIDTH), conversation, str(w.replies), _exact_percent(w.share))
        for conversation, w in found[:WORST]
    )
    return [("", "conversation", "replies", "share"), *rows]


def _repetition_note(statistics: Statistics) -> str:
    beam = statistics.beam_repetition
    return (
        "Masked: ledger values, names, dates and numbers are replaced by `_`. Nearly equal: word 5-grams with a "
        "Jaccard similarity of at least 0.8. Sentences are those of prose: no code, tables or headings.\n"
        f"BEAM's {beam.conversations} {beam.name} conversations have no ledger: only names, dates and numbers could be "
        "masked, which lets them look more varied. Short ones have few replies: any sentence said twice is in over "
        "0.5 % of them; `pooled` is over all their replies together, about as much text as one 1M conversation."
    )


def _conversations(statistics: Statistics) -> list[Row]:
    header = ("", "domain", "tokens", "asked", "turns", "probes")
    table: list[Row] = [header]
    for row in statistics.conversations:
        table.append(
            (
                row.conversation_id,
                str(row.domain),
                _number(row.tokens),
                _number(row.target_tokens) if row.target_tokens else MISSING,
                _number(row.turns),
                _number(row.probes),
            )
        )
    return table


def _prompts(statistics: Statistics) -> list[Row]:
    lines = statistics.prompts
    return [PROMPT_COLUMNS, *map(as_row, lines), *([as_row(total_line(lines))] if lines else [])]


def _incidents(statistics: Statistics) -> list[Row]:
    rows = [(kind.replace("_", " "), f"{count:,}") for kind, count in statistics.incidents.items()]
    gaps = [("parts of a text missing, most", f"{statistics.gap_share:.1%}")] if statistics.gap_share else []
    return [("", "number"), *rows, *gaps]


def _table(rows: Sequence[Row]) -> str:
    """Return rows as aligned columns, the first to the left and the others to the right; wide ones below each other."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    parts: list[list[int]] = [[0]]
    for column in range(1, len(widths)):
        if len(parts[-1]) > 1 and sum(widths[i] + 2 for i in parts[-1]) + widths[column] > WIDTH:
            parts.append([0])
        parts[-1].append(column)
    return "\n\n".join("\n".join(_line(row, part, widths) for row in rows) for part in parts)


def _line(row: Row, columns: Sequence[int], widths: Sequence[int]) -> str:
    first, *others = columns
    return "  ".join([row[first].ljust(widths[first]), *(row[i].rjust(widths[i]) for i in others)]).rstrip()


def _number(value: float | None) -> str:
    if value is None:
        return MISSING
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:,.1f}"


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{share:.1%}"


def _repeated(measure: str, value: float | None) -> str:
    return _exact_percent(value) if measure.endswith("_share") else _number(value)


def _exact_percent(share: float | None) -> str:
    """Return a share with two decimal places: the limit is half a per cent."""
    return MISSING if share is None else f"{share:.2%}"


def _range(bounds: tuple[float, float] | None) -> str:
    return MISSING if bounds is None else f"{_number(bounds[0])}-{_number(bounds[1])}"
