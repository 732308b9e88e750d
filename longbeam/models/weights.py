"""GGUF files, which hold the weights of a language model: their header, and the digest that identifies the weights.

The reader of the `gguf` package decodes every token of the vocabulary, which takes 15 s for 150,000 tokens. This one
stops at the one value that is needed.
"""

from __future__ import annotations

import hashlib
import os
import re
import struct
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import BinaryIO

from longbeam.errors import SpecError
from longbeam.models.tuning import CALLING

MAGIC = b"GGUF"
_PART = re.compile(r"(?P<stem>.+)-00001-of-(?P<count>\d{5})\.gguf")
_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value, by the number of its type."""
_INTEGERS = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the files of a model: several if the name ends as in `-00001-of-00003.gguf`, else the path alone."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return (path,)
    stem, count = match["stem"], match["count"]
    return tuple(path.with_name(f"{stem}-{i:05}-of-{count}.gguf") for i in range(1, int(count) + 1))


@cache
def trained_context(path: Path) -> int | None:
    """Return the context length in tokens that a model was trained with; None if its header does not say.

    Raises SpecError in one line for a file that is missing, cannot be read, or is not a GGUF file.
    """
    for part in parts_of(path):
        if not part.is_file():
            raise SpecError(f"{part}: no such file; name the GGUF file of a model, as in gguf:models/small.gguf")
    try:
        with path.open("rb") as file:
            if file.read(4) != MAGIC:
                raise SpecError(f"{path}: not a GGUF file; it begins with other bytes. Convert the model to GGUF")
            return _context_in(file)
    except (struct.error, UnicodeDecodeError, KeyError, OverflowError) as exc:
        raise SpecError(f"{path}: its GGUF header is cut off or damaged; fetch the file again") from exc
    except OSError as exc:
        raise SpecError(f"{path}: cannot be read: {exc.strerror or exc}") from exc


def default_context(path: Path) -> int:
    """Return the context length where a spec names none: the trained one, up to CALLING.longest_default_context."""
    return min(trained_context(path) or CALLING.longest_default_context, CALLING.longest_default_context)


def _context_in(file: BinaryIO) -> int | None:
    version, _, count = struct.unpack("<IQQ", file.read(20))
    if not 2 <= version <= 1_000:  # version 1 has shorter lengths; a file of the other byte order reads as millions
        raise SpecError(f"{file.name}: GGUF version {version} cannot be read; convert the model to version 2 or later")
    for _ in range(count):
        key, kind = _string(file).decode(), _number(file, "<I")
        if key.endswith(".context_length") and kind in _INTEGERS:
            return _number(file, _INTEGERS[kind])
        _skip(file, kind)
    return None


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _STRING:
        _string(file)
    elif kind != _ARRAY:
        file.seek(_SIZES[kind], os.SEEK_CUR)
    else:
        of, length = struct.unpack("<IQ", file.read(12))
        if of in _SIZES:
            file.seek(_SIZES[of] * length, os.SEEK_CUR)
        else:
            for _ in range(length):
                _skip(file, of)


def _string(file: BinaryIO) -> bytes:
    length = _number(file, "<Q")
    text = file.read(length)
    if len(text) < length:
        raise struct.error("the file ends within a text")
    return text


def _number(file: BinaryIO, form: str) -> int:
    (number,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return int(number)


@cache
def weights_digest(path: Path) -> str:
    """Return the SHA-256 (hex) of a model's weights, whatever their file is called and wherever it lies.

    A digest is kept in the user's cache folder until the file changes, because reading 1 GB takes seconds. Raises
    SpecError if a file cannot be read.
    """
    digests = [_kept_digest(part.resolve()) for part in parts_of(path)]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def cache_folder() -> Path:
    """Return longbeam's folder under the user's cache folder; it may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "longbeam"


def _kept_digest(path: Path) -> str:
    try:
        found = path.stat()
        state = f"{path}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}"
        kept = cache_folder() / "weights" / hashlib.sha256(state.encode()).hexdigest()
        with suppress(OSError, UnicodeDecodeError):
            if re.fullmatch("[0-9a-f]{64}", known := kept.read_text(encoding="ascii")):
                return known
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as exc:
        raise SpecError(f"{path}: cannot be read: {exc.strerror or exc}") from exc
    with suppress(OSError):  # without a cache folder the weights are read again the next time
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False) as written:
            written.write(digest)
        os.replace(written.name, kept)
    return digest
