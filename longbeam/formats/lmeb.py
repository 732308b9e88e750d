"""A retrieval task in the layout of MTEB and LMEB: corpus, queries, relevance judgements, candidates.

A document is a message, a query is a probing question, what it cites is relevant; no model judges anything. Abstentions
have nothing to retrieve and are left out. Each ability is a subset of its own, beside one of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

from longbeam import __version__
from longbeam.abilities import Trait, ability_of
from longbeam.formats.dataset_card import format_card
from longbeam.formats.exporting import (
    ExportWriter,
    FormatExporter,
    HashedFile,
    cited_ids,
)
from longbeam.schemas import ConversationReader
from longbeam.text import format_date

FORMAT = "lmeb"
FORMAT_VERSION = 1
ALL = ""
"""Name of the subset with all abilities; the other subsets have one ability each."""
_PARTS = ("queries", "qrels", "top_ranked")
CORPUS = "corpus.jsonl"

BEIR_QRELS = "qrels/test.tsv"

ABOUT = f"""## Files

A retrieval task: `{CORPUS}` (`_id`, `title`, `text`: a message each), `queries.jsonl` (`_id`, `text`), `qrels.jsonl`
(`query-id`, `corpus-id`, `score`) and `top_ranked.jsonl` (`query-id`, `corpus-ids`: the messages of the query's own
conversation, in which alone it is to be searched). A folder for each ability has the last three for its queries alone.
`{BEIR_QRELS}` is `qrels.jsonl` in BEIR's form."""


def _write(writer: ExportWriter, readers: Iterable[ConversationReader]) -> None:
    subsets: dict[str, list[HashedFile]] = {}
    with ExitStack() as stack:

        def files_of(subset: str) -> list[HashedFile]:
            if subset not in subsets:
                subsets[subset] = [stack.enter_context(writer.open(f"{subset}{part}.jsonl")) for part in _PARTS]
            return subsets[subset]

        corpus, beir = (stack.enter_context(writer.open(name)) for name in (CORPUS, BEIR_QRELS))
        beir.write("query-id\tcorpus-id\tscore\n")
        # Opened before any query is written, so that the task has its files even if no probe is a query.
        files_of(ALL)
        for reader in readers:
            own = reader.head.conversation_id
            message_ids = _write_corpus(writer, reader, corpus)
            for probe, _ in writer.probes_of(reader):
                cited = [f"{own}/{i}" for i in sorted(set(cited_ids(reader, probe, message_ids)))]
                if not cited or ability_of(probe.ability).has(Trait.ABSTAINS):
                    writer.leave_out("questions without evidence, and abstentions, are no retrieval queries: left out")
                    continue
                query = f"{own}/{probe.probe_id}"
                beir.write("".join(f"{query}\t{document}\t1\n" for document in cited))
                for queries, qrels, ranked in (files_of(ALL), files_of(f"{probe.ability}/")):
                    queries.write_line({"_id": query, "text": probe.question})
                    for document in cited:
                        qrels.write_line({"query-id": query, "corpus-id": document, "score": 1})
                    candidates = [f"{own}/{i}" for i in range(len(message_ids))]
                    ranked.write_line({"query-id": query, "corpus-ids": candidates})
    writer.write_card(format_card(writer.told, writer.counts, __version__, ABOUT, configs=list(_configs(subsets))))


export_lmeb = FormatExporter(FORMAT, FORMAT_VERSION, _write)
"""Write the task below `target` and return what was written; see `Exporter`."""


def _write_corpus(writer: ExportWriter, reader: ConversationReader, corpus: HashedFile) -> dict[str, int]:
    """Write a conversation's messages as documents and return their ordinals by key."""
    message_ids: dict[str, int] = {}
    for ordinal, message in writer.messages_of(reader):
        title = f"{message.speaker}, {format_date(message.sent_at.date())}"
        document = f"{reader.head.conversation_id}/{ordinal}"
        corpus.write_line({"_id": document, "title": title, "text": message.content})
        message_ids[message.message_key] = ordinal
    return message_ids


def _configs(subsets: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Return the metadata that MTEB's loader reads, by its keys."""
    for subset in subsets:
        places = {"corpus": CORPUS} | {part: f"{subset}{part}.jsonl" for part in _PARTS}
        for name, path in places.items():
            config = f"{subset.replace('/', '-')}{name}"
            yield {"config_name": config, "data_files": [{"split": "test", "path": path}]}
