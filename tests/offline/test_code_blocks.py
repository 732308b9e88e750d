"""Code of the offline writer: every block parses in its language, and the fault shown is really there and mended."""

from __future__ import annotations

import ast
import asyncio
import json
import re
import shutil
import sqlite3
import subprocess
import tempfile
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from longbeam.generators import seeds_for
from longbeam.offline import Snippet, filled_code, load_pack, pack_for, pack_paths
from longbeam.pipeline.run import run_inline
from longbeam.schemas import BenchmarkSpec, Domain
from longbeam.store import SealedConversation, create_benchmark
from tests.offline import data_checks, game_checks, web_checks
from tests.wired import offline

CHECKS = {**web_checks.CHECKS, **data_checks.CHECKS, **game_checks.CHECKS}
SNIPPETS = {s.snippet: s for path in pack_paths() for s in load_pack(path).snippets}
CODING = sorted(load_pack(path).pack for path in pack_paths() if load_pack(path).domain is Domain.CODING)
FENCE = re.compile(r"^```(\w*)\n(.*?)\n^```$", re.MULTILINE | re.DOTALL)
NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no node on PATH: JavaScript is not checked here")


# --- parsing ------------------------------------------------------------------------------------------------


def _parse_sql(code: str) -> None:
    """SQLite compiles a statement only against its tables; these are all that the packs use."""
    connection = sqlite3.connect(":memory:")
    connection.executescript("CREATE TABLE orders (id, amount); CREATE TABLE payments (order_id, amount);")
    connection.executescript(code)
    connection.close()


def _parse_css(code: str) -> None:
    """Rules of one level: selectors, braces, declarations with a value and a semicolon."""
    rest = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
    rule = re.compile(r"\s*[.#:\w][^{};]*\{(\s*[\w-]+\s*:\s*[^:;{}]+;)*\s*\}\s*")
    while rest:
        found = rule.match(rest)
        if found is None:
            raise ValueError(f"not a CSS rule: {rest!r}")
        rest = rest[found.end() :]


PARSERS: dict[str, Callable[[str], Any]] = {
    "python": ast.parse,
    "json": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
    "sql": _parse_sql,
    "css": _parse_css,
}
"""Language -> a function that raises for code that does not parse; JavaScript goes to node in one batch."""


def _node(*, parse: list[str] | None = None, run: dict[str, list[str]] | None = None) -> dict[str, Any]:
    """What `snippet_checks.cjs` says of all code at once, in the time zone of New York."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, str(Path(__file__).parent / "snippet_checks.cjs")],
        input=json.dumps({"parse": parse or [], "run": run or {}}),
        capture_output=True,
        text=True,
        timeout=30,
        env={"TZ": "America/New_York"},
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@cache
def _conversation(pack: str) -> tuple[str, ...]:
    """The messages of the first coding conversation whose story this pack tells."""
    specs = (
        BenchmarkSpec.model_validate({"name": "code", "seed": seed, "length": "48K", "domains": ["coding"]})
        for seed in range(40)
    )
    spec = next(spec for spec in specs if pack_for(seeds_for(spec, 1)[0][0]).pack == pack)
    with tempfile.TemporaryDirectory() as folder:
        benchmark = create_benchmark(spec, Path(folder))
        asyncio.run(run_inline(benchmark, offline()))
        with SealedConversation(benchmark.sealed_path("c000")) as sealed:
            return tuple(m.content for m in sealed.messages())


def _blocks(pack: str) -> set[tuple[str, str]]:
    return {block for message in _conversation(pack) for block in FENCE.findall(message)}


def _shown() -> set[tuple[str, str]]:
    """All code that can ever be shown, with two things put in."""
    codes = ((s.lang, c, t) for s in SNIPPETS.values() for c in (s.code, s.fixed) for t in ("my login page", "A 2nd"))
    return {(lang, filled_code(code, thing)) for lang, code, thing in codes if code}


def test_every_language_has_a_parser() -> None:
    assert {s.lang for s in SNIPPETS.values()} <= {*PARSERS, "javascript"}


@pytest.mark.parametrize("pack", CODING)
def test_every_fence_of_a_conversation_is_a_block_with_a_language(pack: str) -> None:
    for message in _conversation(pack):
        fences = [line for line in message.splitlines() if line.lstrip().startswith("```")]
        assert len(fences) == 2 * len(FENCE.findall(message))
    languages = {lang for lang, _ in _blocks(pack)}
    assert "python" in languages
    assert languages <= {*PARSERS, "javascript"}


@pytest.mark.parametrize("pack", [*CODING, ""])
def test_every_block_parses_in_its_language(pack: str) -> None:
    blocks = _blocks(pack) if pack else _shown()
    assert len(blocks) > (5 if pack else 10)  # a story of 48K shows what its few matters ask for
    for lang, code in blocks:
        if lang in PARSERS:
            PARSERS[lang](code)


@needs_node
def test_every_javascript_block_parses() -> None:
    blocks = _shown().union(*map(_blocks, CODING))
    codes = sorted(code for lang, code in blocks if lang == "javascript")
    assert len(codes) > 10
    assert _node(parse=codes)["unparsed"] == []


@pytest.mark.parametrize(
    ("lang", "code"),
    [
        ("python", "def f(:"),
        ("json", "{a: 1}"),
        ("toml", "a ="),
        ("yaml", "a: [1"),
        ("sql", "SELEC 1;"),
        ("css", ".a { width 1px; }"),
    ],
)
def test_parsers_refuse_what_does_not_parse(lang: str, code: str) -> None:
    with pytest.raises((ValueError, SyntaxError, yaml.YAMLError, sqlite3.Error)):
        PARSERS[lang](code)


@needs_node
def test_node_refuses_what_does_not_parse() -> None:
    assert _node(parse=["let a = 1;", "let a = ;"])["unparsed"] == ["let a = ;"]


# --- behaviour ----------------------------------------------------------------------------------------------


def _defined(snippet: Snippet, code: str) -> dict[str, Any]:
    """The names that the code defines; `f` is its function, the last one if it has helpers."""
    names: dict[str, Any] = {}
    text = filled_code(code, "the thing")
    exec(compile(text, snippet.snippet, "exec"), names)
    # The same dictionary: a check may put another `open` or `time` into the globals of the function.
    names["f"] = names[[node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)][-1]]
    return names


PYTHON = sorted(name for name, s in SNIPPETS.items() if s.lang == "python")


def test_every_python_snippet_has_a_check() -> None:
    assert sorted(CHECKS) == PYTHON


@pytest.mark.parametrize("name", PYTHON)
def test_fixed_code_has_not_the_fault(name: str, tmp_path: Path) -> None:
    snippet = SNIPPETS[name]
    assert CHECKS[name](_defined(snippet, snippet.fixed), tmp_path)


@pytest.mark.parametrize("name", [name for name in PYTHON if SNIPPETS[name].code])
def test_code_shown_has_the_fault(name: str, tmp_path: Path) -> None:
    snippet = SNIPPETS[name]
    assert not CHECKS[name](_defined(snippet, snippet.code), tmp_path)


def test_sql_total_doubles_and_no_longer_does() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE orders (id, amount); CREATE TABLE payments (order_id);"
        "INSERT INTO orders VALUES (1, 10), (2, 5), (3, 7); INSERT INTO payments VALUES (1), (1), (2);"
    )
    snippet = SNIPPETS["doubled_total"]
    totals = [connection.execute(filled_code(code, "the shop")).fetchone()[0] for code in (snippet.code, snippet.fixed)]
    connection.close()
    # Orders 1 and 2 are paid: 10 + 5; with the join, order 1 counts twice.
    assert totals == [25, 15]


def test_sql_loses_unpaid_orders_and_no_longer_does() -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE orders (id, amount); CREATE TABLE payments (order_id, amount);"
        "INSERT INTO orders VALUES (1, 10), (2, 5), (3, 7); INSERT INTO payments VALUES (1, 4), (1, 6), (2, 0);"
    )
    snippet = SNIPPETS["lost_orders"]
    counts = [connection.execute(filled_code(code, "the shop")).fetchall() for code in (snippet.code, snippet.fixed)]
    connection.close()
    # Order 2 was only paid 0 and order 3 not at all: both belong into the list with none.
    assert counts == [[(1, 2)], [(1, 2), (2, 0), (3, 0)]]


@needs_node
def test_javascript_has_the_fault_and_no_longer_has_it() -> None:
    snippets = {name: s for name, s in SNIPPETS.items() if s.lang == "javascript"}
    codes = {name: [filled_code(c, "the shop") for c in (s.code, s.fixed) if c] for name, s in snippets.items()}
    answer = _node(run=codes)
    assert answer["known"] == sorted(snippets)
    assert answer["sound"] == {name: [False, True] if s.code else [True] for name, s in snippets.items()}


def test_css_box_no_longer_adds_padding_to_the_screen() -> None:
    snippet = SNIPPETS["sideways_scroll"]
    assert [s.snippet for s in SNIPPETS.values() if s.lang == "css"] == ["sideways_scroll"]
    assert "100vw" in snippet.code
    assert "100vw" not in snippet.fixed
    assert ["border-box" in code for code in (snippet.code, snippet.fixed)] == [False, True]
