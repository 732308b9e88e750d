from __future__ import annotations

import pytest

from longbeam.annotation_ui.agreement import agreement_over, krippendorff_alpha, percent_agreement
from longbeam.annotation_ui.desk import Desk
from longbeam.annotation_ui.log import new_event
from longbeam.evaluation.agreement import cohen_kappa
from longbeam.schemas.review import EventKind
from tests.annotation_ui.conftest import Enter

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section D: four observers, twelve units.
OBSERVERS = {
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}


def units_of(observers: dict[str, str]) -> list[dict[str, str]]:
    rows = {name: labels.split() for name, labels in observers.items()}
    count = len(next(iter(rows.values())))
    return [{name: row[i] for name, row in rows.items() if row[i] != "."} for i in range(count)]


def test_alpha_is_that_of_the_published_example() -> None:
    assert krippendorff_alpha(units_of(OBSERVERS)) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units_of(OBSERVERS), "ordinal") == pytest.approx(0.815, abs=5e-4)


def test_alpha_of_two_observers_and_two_values_is_that_of_the_published_example() -> None:
    # The same paper, section A: Meg and Owen, ten units.
    pairs = {"Meg": "0 1 0 0 0 0 0 0 1 0", "Owen": "1 1 1 0 0 1 0 0 0 0"}
    assert krippendorff_alpha(units_of(pairs)) == pytest.approx(0.095, abs=5e-4)


def test_kappa_equals_a_table_counted_by_hand() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: 35/50 equal; by chance 25/50 x 30/50 + 25/50 x 20/50 = 0.5
    pairs = [("yes", "yes")] * 20 + [("yes", "no")] * 5 + [("no", "yes")] * 10 + [("no", "no")] * 15
    assert cohen_kappa(pairs) == pytest.approx((0.7 - 0.5) / (1 - 0.5))


def test_total_disagreement_is_below_chance() -> None:
    units = [{"a": "accept", "b": "reject"}, {"a": "reject", "b": "accept"}]
    found = agreement_over("all", units)
    # kappa: 0 equal, 1/2 by chance; alpha: 1 - (n - 1) x 4 / (2 x 2 x 2) with n = 4 labels
    assert (found.percent, found.kappa, found.alpha) == (0.0, -1.0, pytest.approx(-0.5))


def test_one_label_only_leaves_kappa_and_alpha_open() -> None:
    found = agreement_over("all", [{"a": "accept", "b": "accept"}] * 5)
    assert (found.percent, found.kappa, found.alpha, found.alpha_low) == (1.0, None, None, None)


def test_units_of_one_label_do_not_count() -> None:
    found = agreement_over("all", [{"a": "accept"}, {"a": "accept", "b": "reject"}])
    assert (found.units, found.labels) == (1, {"accept": 1, "reject": 1})
    assert percent_agreement([{"a": "accept"}]) is None


def test_the_interval_holds_alpha_and_is_the_same_every_time() -> None:
    units = units_of(OBSERVERS)
    found = agreement_over("all", units)
    assert found.alpha is not None
    assert found.alpha_low is not None
    assert found.alpha_high is not None
    assert found.alpha_low < found.alpha < found.alpha_high <= 1
    assert agreement_over("all", units) == found


async def test_the_page_counts_what_both_have_judged(enter: Enter, desk: Desk) -> None:
    desk.log.append(new_event(EventKind.CONFIGURED, "", "bo", target="overlap", after=2))
    ana, bo, lead = await enter("ana"), await enter("bo"), await enter("cleo", "lead")
    item = "c000/information_extraction.0"
    await lead.post(f"/api/items/{item}/gold", {"verdict": "accept"})
    for reviewer, label in ((ana, "yes"), (bo, "no")):
        await reviewer.act(item, "judged", "nugget/information_extraction.0.n0", {"label": label})
        await reviewer.act(item, "judged", "nugget/information_extraction.0.n1", {"label": "yes"})
    await ana.judge(item, "accept")
    assert (await ana.get("/agreement.json"))["verdicts"][0]["units"] == 0  # still blind
    await bo.judge(item, "reject", active_ms=60_000)
    page = await ana.get("/agreement.json")
    assert [(r["name"], r["units"], r["percent"]) for r in page["verdicts"]] == [
        ("all", 1, 0.0),
        ("information_extraction", 1, 0.0),
    ]
    assert (page["nuggets"][0]["units"], page["nuggets"][0]["percent"]) == (2, 0.5)
    assert [row["name"] for row in page["pairs"]] == ["ana / bo"]
    rows = {r["reviewer_id"]: r for r in (await lead.get("/progress.json"))["reviewers"]}
    assert {name: (r["gold_seen"], r["gold_right"]) for name, r in rows.items()} == {"ana": (1, 1), "bo": (1, 0)}
    assert rows["bo"]["items_per_hour"] == pytest.approx(60)
    assert (await ana.get("/progress.json"))["reviewers"][0]["gold_seen"] is None


async def test_ratings_stand_beside_beams_once_all_are_there(enter: Enter, desk: Desk) -> None:
    desk.log.append(new_event(EventKind.CONFIGURED, "", "bo", target="overlap", after=2))
    ana, bo = await enter("ana"), await enter("bo")
    address = "/api/conversations/c000/ratings"
    for aspect, score in (("coherence_and_flow", 4), ("realism", 5), ("complexity_and_depth", 3)):
        seen = await ana.post(address, {"aspect": aspect, "score": score})
    assert (seen["realism"]["mine"], seen["realism"]["mean"]) == (5, None)
    assert (await bo.get("/conversations/c000.json"))["ratings"]["realism"]["others"] == {}
    assert (await bo.get("/ratings.json"))["waiting"] == 1
    for aspect in ("coherence_and_flow", "realism", "complexity_and_depth"):
        seen = await bo.post(address, {"aspect": aspect, "score": 3})
    assert (seen["realism"]["others"], seen["realism"]["mean"]) == ({"ana": 5}, 4.0)
    rows = {r["length"]: r for r in (await bo.get("/ratings.json"))["rows"]}
    assert rows["all"]["means"] == {"coherence_and_flow": 3.5, "realism": 4.0, "complexity_and_depth": 3.0}
    assert rows["all"]["beam"]["realism"] == 4.57
    assert (await bo.post(address, {"aspect": "wit", "score": 3}, status=422))["error"] == "invalid"
