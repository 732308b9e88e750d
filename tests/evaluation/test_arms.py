"""Names of rows: the system, its mode, and every setting that is not the default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from longbeam.errors import SpecError
from longbeam.evaluation import arm_of, arms_of, at_budgets, render_table, with_embedder
from tests.evaluation.evaluated import evaluated


@pytest.fixture
def products(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages of products that are installed as far as Python can tell."""
    for name in ("mem0ai", "graphiti-core", "kuzu", "chromadb", "lancedb", "langmem", "supermemory"):
        folder = tmp_path / f"{name.replace('-', '_')}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize(
    ("system", "values", "embedder", "name"),
    [
        ("rag", {}, "", "rag"),
        ("rag", {"retriever": "bm25", "order": "time"}, "", "rag[retriever=bm25]"),
        ("rag", {"order": "time", "weight_dense": "0.7"}, "", "rag"),
        ("rag", {"k": "20"}, "", "rag[k=20]"),
        ("rag", {}, "hashed", "rag[embedder=hashed,retriever=dense]"),
        ("rag", {"retriever": "bm25"}, "hashed", "rag[retriever=bm25]"),
        ("rag", {"retriever": "hybrid"}, "minilm", "rag[embedder=minilm,retriever=hybrid]"),
        ("cogcanvas", {}, "hashed", "cogcanvas[embedder=hashed,retriever=hybrid]"),
        ("light", {"variant": "released", "fill": "newest"}, "", "light[fill=newest,variant=released]"),
        ("light", {"variant": "released", "fill": "oldest"}, "", "light[variant=released]"),
        ("long_context", {}, "hashed", "long_context"),
        ("tests.memory.third_party:Drawer", {"k": 5}, "", "tests.memory.third_party:Drawer[k=5]"),
        ("http://127.0.0.1:8888", {"version": "2"}, "hashed", "http://127.0.0.1:8888[version=2]"),
    ],
)
def test_a_name_has_every_setting_that_is_not_the_default(
    system: str, values: dict[str, object], embedder: str, name: str
) -> None:
    assert with_embedder(arm_of(system, values), embedder).name == name


@pytest.mark.usefixtures("products")
@pytest.mark.parametrize(
    ("systems", "names"),
    [
        ("mem0", ["mem0[store]"]),
        ("mem0[infer], mem0[store,k=5],rag[k=3,order=rank]", ["mem0[infer]", "mem0[store,k=5]", "rag[k=3,order=rank]"]),
        ("mem0[infer=true]", ["mem0[infer]"]),
        ("graphiti,graphiti[extract]", ["graphiti[episodes]", "graphiti[extract]"]),
        ("chroma,langmem", ["chroma[store]", "langmem[store]"]),
        ("lancedb,lancedb[hybrid]", ["lancedb[dense]", "lancedb[hybrid]"]),
        ("supermemory", ["supermemory[hybrid]"]),
    ],
)
def test_the_name_of_a_product_says_its_mode_and_reads_back(systems: str, names: Sequence[str]) -> None:
    assert [arm.name for arm in arms_of(systems, [], [])] == names
    assert [arm.name for arm in arms_of(",".join(names), [], [])] == names
    embedded = with_embedder(arms_of(names[0], [], [])[0], "hashed").name
    assert embedded.startswith(names[0].rstrip("]"))


@pytest.mark.usefixtures("products")
def test_a_mode_that_is_none_is_named() -> None:
    with pytest.raises(SpecError, match=r"^mem0\[infers\]: 'infers' is no setting of mem0; write one of its modes"):
        arms_of("mem0[infers]", [], [])


def test_several_budgets_are_rows_of_each_system_that_reads_one() -> None:
    arms = at_budgets(arms_of("rag[k=3],long_context", [], []), [1_000, 16_000])
    assert [arm.name for arm in arms] == ["rag[budget=1000,k=3]", "rag[budget=16000,k=3]", "long_context"]
    assert [arm.budget for arm in arms] == [1_000, 16_000, None]
    labelled = at_budgets([arm_of("rag", {}, "ours")], [1_000, 16_000])
    assert [arm.name for arm in labelled] == ["ours 1000", "ours 16000"]


def test_no_two_rows_of_a_table_read_alike_however_long_their_names() -> None:
    names = ["light[k=5,without=filter]", "light[k=5,without=working]", "http://127.0.0.1:8888"]
    one = evaluated({**{name: [[1, 0]] for name in names}, "gold": [[1, 1]]})
    lines = render_table(one.run, one.results).splitlines()
    for name in names:
        assert [line.strip().removeprefix("1 ").strip() for line in lines].count(name) == 2  # scores, abilities
    assert max(map(len, lines)) <= 80
    assert any(line.startswith(" ce gold ") for line in lines)


@pytest.mark.parametrize(
    ("count", "says"), [(1, "no interval"), (3, "p cannot fall below 0.25"), (7, "below 8"), (8, "")]
)
def test_few_conversations_are_named_above_the_table(count: int, says: str) -> None:
    one = evaluated({"rag": [[1, 0]] * count, "gold": [[1, 1]] * count})
    told = " ".join(render_table(one.run, one.results).partition("    system ")[0].split())
    assert bool(told) == bool(says)
    assert says in told


def test_a_system_may_have_a_name_of_its_own() -> None:
    arms = arms_of("Acme 1.3=rag[k=3],http://127.0.0.1:9/?a=b", ["rag.retriever=bm25"], [])
    assert [(arm.name, arm.base) for arm in arms] == [("Acme 1.3", "rag"), ("http://127.0.0.1:9/?a=b",) * 2]
    assert getattr(arms[0].settings, "k", None) == 3
    with pytest.raises(SpecError, match="Acme is asked for twice"):
        arms_of("Acme=rag,Acme=light", [], [])
