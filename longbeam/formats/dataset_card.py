"""The export's README.md: a dataset card whose YAML header a dataset loader reads.

The header declares every column's type, derived from the line records: without it a loader guesses types
from the first lines, and guesses wrong where these hold only empty lists or nulls.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from typing import Any, Union, get_args, get_origin

import yaml
from pydantic import BaseModel

from longbeam.formats.exporting import CANARY
from longbeam.models import describe_rules, is_rule_writer
from longbeam.prompts import overridden_prompts
from longbeam.schemas import BenchmarkSpec, OnContradiction, Role
from longbeam.text import language_of

SCALARS: Mapping[type, str] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    # A loader reads ISO dates as timestamps unless the card names their type.
    date: "date32",
    datetime: "timestamp[s]",
}


def features_of(line: type[BaseModel]) -> list[dict[str, Any]]:
    """Return a record's columns as the `features` list of a dataset card."""
    return [{"name": name, **_feature(field.annotation)} for name, field in line.model_fields.items()]


def _feature(annotation: Any) -> dict[str, Any]:  # Any: a type or a typing construct
    if get_origin(annotation) in (types.UnionType, Union):
        (inner,) = [a for a in get_args(annotation) if a is not type(None)]
        return _feature(inner)
    if get_origin(annotation) is tuple:
        item = get_args(annotation)[0]
        if issubclass(item, BaseModel):
            return {"list": features_of(item)}
        return {"sequence": _feature(item)["dtype"]}
    if issubclass(annotation, BaseModel):
        return {"struct": features_of(annotation)}
    if issubclass(annotation, Enum):
        return {"dtype": "string"}
    return {"dtype": SCALARS[annotation]}


def dataset_card(
    spec: BenchmarkSpec,
    lines: Mapping[str, type[BaseModel]],
    counts: Mapping[str, int],
    version: str,
    *,
    suffix: str = "jsonl",
) -> str:
    """Return the card: YAML header, who wrote the text, counts, columns, how to load it.

    `lines` and `counts` are keyed by the files' names without suffix; `counts` has `tokens` as well.
    """
    header = {
        **_about(spec),
        "configs": [
            {
                "config_name": name,
                "data_files": f"{name}.{suffix}",
                **({"default": True} if name == "probes" else {}),
            }
            for name in lines
        ],
        "dataset_info": [{"config_name": name, "features": features_of(line)} for name, line in lines.items()],
    }
    return _front(header) + _body(spec, lines, counts, version, suffix)


def format_card(
    spec: BenchmarkSpec,
    counts: Mapping[str, int],
    version: str,
    about: str,
    *,
    configs: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the card of an export in a foreign format; `about` is Markdown about its files.

    `configs` are what a dataset loader can load.
    """
    header = _about(spec) | ({"configs": list(configs)} if configs else {})
    return f"""{_front(header)}# {spec.name}

{_summary(spec, counts, version)}

{about.strip()}

## Who wrote it

{_provenance(spec, version)}

{_notices(spec)}
"""


def _about(spec: BenchmarkSpec) -> dict[str, Any]:
    return {
        "pretty_name": spec.name,
        **({"license": spec.licence.lower()} if spec.licence else {}),
        **({"language": [code]} if (code := language_of(spec.language).code) else {}),
        "task_categories": ["question-answering"],
        "tags": [
            "long-term-memory",
            "conversational-memory",
            *([] if spec.imported_from == "chat" or (spec.imported_from and not spec.models) else ["synthetic"]),
            "longbeam",
        ],
    }


def _front(header: Mapping[str, Any]) -> str:
    return f"---\n{yaml.safe_dump(dict(header), sort_keys=False, allow_unicode=True, width=100)}---\n\n"


def _provenance(spec: BenchmarkSpec, version: str) -> str:
    if spec.imported_from == "chat":
        read = "The conversations are somebody's own chats, read from files; no licence for them is implied."
        made = f"Questions, gold answers and rubrics were made from them.\n{who_wrote_it(spec.models, version)}"
        return f"{read}\n\n{made}" if spec.models else read
    if spec.imported_from and not spec.models:
        return (
            f"Not longbeam: it was read from files in the {spec.imported_from} format. Its text, its questions and\n"
            "its gold answers are those of their authors, whose licence and citation apply."
        )
    if spec.suite:
        return (
            f"All text was written by the suite `{spec.suite}` of longbeam {version}: rules, templates and data, not\n"
            "a language model. It is a controlled benchmark: its gold is right by construction, its prose is plain."
        )
    return "\n\n".join([who_wrote_it(spec.models, version), *_own_parts(spec), _REACTIONS[spec.on_contradiction]])


def _own_parts(spec: BenchmarkSpec) -> Iterator[str]:
    """Yield paragraphs on what the makers of a benchmark brought along: a domain, seeds, templates of prompts."""
    if spec.domain is not None:
        writer = f"the planner, `{spec.model_for(Role.PLANNER)}`"
        seeds = "its makers, in a file" if spec.seeds_file else writer
        about = " ".join(spec.domain.about.split())
        yield f"The domain is of its makers, `{spec.domain.name}`; the seeds are written by {seeds}:\n\n> {about}"
    if changed := overridden_prompts(spec):
        lines = "\n".join(f"- `{prompt_id}`: `{digest[:12]}`" for prompt_id, digest in changed.items())
        yield f"Prompts with templates of its makers, and their digests (SHA-256):\n\n{lines}"


_REACTIONS = {
    OnContradiction.IGNORE: (
        "The user contradicts an earlier remark now and then. The assistant of the conversations lets that pass\n"
        '(`on_contradiction = "ignore"`, as in BEAM).'
    ),
    OnContradiction.ASK: (
        "The user contradicts an earlier remark now and then. The assistant of the conversations asks which remark is\n"
        'right, and the user leaves it open (`on_contradiction = "ask"`).'
    ),
}


def _notices(spec: BenchmarkSpec) -> str:
    licence = f"Licence: {spec.licence}." if spec.licence else "No licence is stated: ask whoever gave it to you."
    return f"""## Licence and contamination

{licence}

This is test data. Keep it out of training corpora; whoever finds the following line in one has found contamination:

    {CANARY}"""


CHECKED = """The role `checker` judged the text while it was made, and each probe before it was selected: its evidence
gives the answer, it cannot be guessed, its rubric fits its gold answer, and no other message changes it."""
UNCHECKED = """**No model checked the text or the probes** (`checks.model = false`, or a version of longbeam without
these checks)."""


def who_wrote_it(models: Mapping[str, str], version: str) -> str:
    """Return a paragraph that says which model wrote the text; one that writes by rule is not called a model."""
    by_rule = sorted({model for model in models.values() if is_rule_writer(model)})
    if by_rule and set(models.values()) == {by_rule[0]}:
        return (
            f"All text was written by {describe_rules(by_rule[0], version)}.\n"
            "No language model wrote, chose or judged any of it. It suits trying, testing and measuring\n"
            "memory systems on gold that is right by construction; as prose it is not what a language model\n"
            "or a person would write."
        )
    rows = "\n".join(f"| {role} | `{model}` |" for role, model in sorted(models.items()))
    text = f"Written by these models, by the role they had:\n\n| role | model |\n|---|---|\n{rows}\n"
    for model in by_rule:
        text += f"\n`{model}` is {describe_rules(model, version)}.\n"
    if Role.CHECKER in models:
        text += f"\n{CHECKED}\n"
    elif "default" not in models:  # these are the roles that answered
        text += f"\n{UNCHECKED}\n"
    return text.rstrip("\n")


def _summary(spec: BenchmarkSpec, counts: Mapping[str, int], version: str) -> str:
    conversations = _number(counts["conversations"], "conversation")
    messages, probes = _number(counts["messages"], "message"), _number(counts["probes"], "probing question")
    people = "" if spec.imported_from else "All people in it are made up. "
    return f"""A benchmark of long conversational memory: {conversations} with {messages}
({counts["tokens"]:,} tokens of {spec.tokenizer}, message content only) and {probes} with gold answers,
nugget rubrics and evidence. {people}Language: {spec.language}. Made with longbeam
{version}."""


def _body(
    spec: BenchmarkSpec, lines: Mapping[str, type[BaseModel]], counts: Mapping[str, int], version: str, suffix: str
) -> str:
    columns = "\n".join(
        f"- `{name}.{suffix}` ({_number(counts[name], 'line')}): "
        + ", ".join(f"`{column}`" for column in line.model_fields)
        for name, line in lines.items()
    )
    return f"""# {spec.name}

{_summary(spec, counts, version)}

## Who wrote it

{_provenance(spec, version)}

## Files

{columns}
- `croissant.json`: the same for machines that list datasets
- `manifest.json`: format version, the benchmark's specification, counts, SHA-256 of each file

Messages come in the order in which they were sent: `message_id` is 0, 1, 2, ... within a conversation. A
probe is asked after the last message, or after the messages up to its `asked_at`. Its `evidence` names the
messages that make its gold answer true
(`message_id`, `message_key`), each with a verbatim `quote`; only abstention probes have none. Each nugget of
its `rubric` is one criterion that an answer is judged on. `review.status` is `unreviewed` unless a reader
has looked at the probe.

## Load it

```python
import datasets

probes = datasets.load_dataset("DIR", "probes", split="train")
messages = datasets.load_dataset("DIR", "messages", split="train")
```

{_notices(spec)}
"""


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
