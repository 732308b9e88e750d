"""Croissant metadata: what the tables of an export are, for machines that list datasets.

Columns of scalars and of lists of scalars are declared; nested ones are left to the dataset card, whose header types
them all the way down.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from enum import Enum
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel

from longbeam.formats.exporting import CANARY
from longbeam.schemas import BenchmarkSpec

CROISSANT = "croissant.json"
ENCODINGS = {"jsonl": "application/jsonlines", "parquet": "application/x-parquet"}
_DATA_TYPES: Mapping[type, str] = {
    bool: "sc:Boolean",
    int: "sc:Integer",
    float: "sc:Float",
    str: "sc:Text",
    date: "sc:Date",
    datetime: "sc:DateTime",
}

_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The JSON-LD context of the Croissant 1.0 specification, word by word."""


def croissant(
    spec: BenchmarkSpec, lines: Mapping[str, type[BaseModel]], tables: Mapping[str, tuple[str, str, int]], version: str
) -> dict[str, Any]:
    """Return the metadata as JSON-LD; `tables` maps the names of `lines` to file name, SHA-256 and bytes."""
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": spec.name,
        "description": "A benchmark of long conversational memory: conversations, messages and probing questions "
        f"with gold answers, rubrics and evidence. Made with longbeam {version}. {CANARY}",
        "version": f"{version}.0" if version.count(".") == 1 else version,
        **({"license": spec.licence} if spec.licence else {}),
        "isLiveDataset": False,
        "distribution": [_file(*table) for table in tables.values()],
        "recordSet": [_record_set(name, line, tables[name][0]) for name, line in lines.items()],
    }


def _file(name: str, sha256: str, size: int) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{size} B",
        "encodingFormat": ENCODINGS[name.rsplit(".", 1)[-1]],
        "sha256": sha256,
    }


def _record_set(name: str, line: type[BaseModel], file: str) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"The rows of {file}; nested columns are described in the dataset card.",
        "field": list(_fields(name, line, file)),
    }


def _fields(table: str, line: type[BaseModel], file: str) -> Iterator[dict[str, Any]]:
    for column, field in line.model_fields.items():
        kind, repeated = _scalar(field.annotation)
        if kind is not None:
            yield {
                "@type": "cr:Field",
                "@id": f"{table}/{column}",
                "name": column,
                "dataType": kind,
                **({"repeated": True} if repeated else {}),
                "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
            }


def _scalar(annotation: Any) -> tuple[str | None, bool]:  # Any: a type or a typing construct
    """Return the data type of a column and whether it is a list; no type if it is nested."""
    if get_origin(annotation) in (types.UnionType, Union):
        (annotation,) = [a for a in get_args(annotation) if a is not type(None)]
    if get_origin(annotation) is tuple:
        return _scalar(get_args(annotation)[0])[0], True
    if issubclass(annotation, Enum):
        return "sc:Text", False
    return _DATA_TYPES.get(annotation), False
