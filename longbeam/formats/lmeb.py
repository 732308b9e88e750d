"""A retrieval task in the layout of MTEB and LMEB: corpus, queries, relevance judgements, candidates.

A document is a message, a query is a probing question, what it cites is relevant; no model judges anything. Abstentions
have nothing to retrieve and are left out. Each ability is a subset of its own, beside one of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from longbeam import __version__
from longbeam.formats.dataset_card import format_card
from longbeam.formats.dates import long_day
from longbeam.formats.exporting import (
    CARD,
    NO_REVIEWS,
    ExportReport,
    ExportWriter,
    HashedFile,
    Reviews,
    cited_ids,
    write_export,
)
from longbeam.schemas.conversation import ConversationReader
from longbeam.schemas.spec import BenchmarkSpec

FORMAT = "lmeb"
FORMAT_VERSION = 1
ALL = "all"
CORPUS = "corpus.jsonl"

ABOUT = """## Files

A retrieval task: `corpus.jsonl` (`_id`, `title`, `text`: a message each), and per subset `queries/<subset>.jsonl`
(`_id`, `text`), `qrels/<subset>.tsv` (`query-id`, `corpus-id`, `score`) and `top_ranked/<subset>.jsonl` (`query-id`,
`corpus-ids`: the messages of the query's own conversation, in which alone it is to be searched). A subset is an
ability, or `all`."""


def export_lmeb(
    readers: Iterable[ConversationReader],
    spec: BenchmarkSpec,
    target: Path,
    *,
    reviews: Reviews = NO_REVIEWS,
    reviewed_only: bool = False,
) -> ExportReport:
    """Write the task below `target` and return what was written; see `Exporter`."""
    return write_export(
        FORMAT, FORMAT_VERSION, _write, readers, spec, target, reviews=reviews, reviewed_only=reviewed_only
    )


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    subsets: dict[str, tuple[HashedFile, HashedFile, HashedFile]] = {}
    with ExitStack() as stack:

        def files_of(subset: str) -> tuple[HashedFile, HashedFile, HashedFile]:
            if subset not in subsets:
                names = (f"queries/{subset}.jsonl", f"qrels/{subset}.tsv", f"top_ranked/{subset}.jsonl")
                queries, qrels, ranked = (stack.enter_context(writer.open(name)) for name in names)
                qrels.write("query-id\tcorpus-id\tscore\n")
                subsets[subset] = queries, qrels, ranked
            return subsets[subset]

        corpus = stack.enter_context(writer.open(CORPUS))
        files_of(ALL)
        for reader in readers:
            keys = _write_corpus(writer, reader, corpus)
            for probe, _ in writer.probes_of(reader):
                cited = sorted(set(cited_ids(reader, probe, {key: i for i, key in enumerate(keys)})))
                if not cited or probe.ability == "abstention":
                    writer.probes -= 1
                    writer.warn(
                        "questions without evidence and abstentions are no retrieval queries; they are left out"
                    )
                    continue
                own = reader.head.conversation_id
                query = f"{own}/{probe.probe_id}"
                for queries, qrels, ranked in (files_of(ALL), files_of(probe.ability)):
                    queries.write_line({"_id": query, "text": probe.question})
                    qrels.write("".join(f"{query}\t{own}/{i}\t1\n" for i in cited))
                    ranked.write_line({"query-id": query, "corpus-ids": [f"{own}/{i}" for i in range(len(keys))]})
    counts = {n: getattr(writer, n) for n in ("conversations", "messages", "probes", "tokens")}
    writer.write_text(CARD, format_card(writer.spec, counts, __version__, ABOUT, configs=list(_configs(subsets))))


def _write_corpus(writer: ExportWriter, reader: ConversationReader, corpus: HashedFile) -> list[str]:
    """Write a conversation's messages as documents and return their keys."""
    keys = []
    for ordinal, message in writer.messages_of(reader):
        title = f"{message.speaker}, {long_day(message.sent_at.date())}"
        document = f"{reader.head.conversation_id}/{ordinal}"
        corpus.write_line({"_id": document, "title": title, "text": message.content})
        keys.append(message.message_key)
    return keys


def _configs(subsets: Iterable[str]) -> Iterable[dict[str, Any]]:
    """What MTEB's loader asks for, by the names it asks with."""
    for subset in subsets:
        start = "" if subset == ALL else f"{subset}-"
        places = {
            "corpus": CORPUS,
            "queries": f"queries/{subset}.jsonl",
            "qrels": f"qrels/{subset}.tsv",
            "top_ranked": f"top_ranked/{subset}.jsonl",
        }
        for name, path in places.items():
            yield {"config_name": f"{start}{name}", "data_files": [{"split": "test", "path": path}]}
