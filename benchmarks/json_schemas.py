"""JSON Schemas of the JSONL export's lines, made from their records.

`python -m benchmarks.json_schemas FOLDER` writes them; `make schemas` into `docs/schemas`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from longbeam.formats import LINES
from longbeam.formats.jsonl import FORMAT, FORMAT_VERSION

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schemas() -> Mapping[str, str]:
    """Return the text of each schema by its file's name; one line of a JSONL file fits the schema of the file."""
    schemas = {}
    for name, record in LINES.items():
        head = {"$schema": DIALECT, "title": f"{name}.jsonl of {FORMAT} {FORMAT_VERSION}"}
        schema = {**record.model_json_schema(mode="serialization"), **head}
        schemas[f"{name}.schema.json"] = json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    return schemas


if __name__ == "__main__":
    for file, text in json_schemas().items():
        (Path(sys.argv[1]) / file).write_text(text, encoding="utf-8")
