from __future__ import annotations

from longbeam.evaluation import grouped_failures


def test_failures_of_one_reason_are_one_line_with_their_number() -> None:
    boom = "notes:Bad.add: KeyError: 'boom' (notes.py:23)"
    assert grouped_failures(
        [
            f"c000/answer/notes:Bad/temporal_reasoning.0: {boom}",
            "c000/judge/rag[k=3]/summarization.1: no reply: time-out",
            f"c000/answer/http://127.0.0.1:8888/summarization.1: {boom}",
            f"c001/answer/notes:Bad/temporal_reasoning.0: {boom}",
            "c000/used/rag: out of cheese",
            f"c000/answer/notes:Bad/summarization.1: {boom}",
            "c001/used/rag: out of cheese",
        ]
    ) == (
        f"answer/notes:Bad (3 probes): {boom}",
        "c000/judge/rag[k=3]/summarization.1: no reply: time-out",
        f"c000/answer/http://127.0.0.1:8888/summarization.1: {boom}",
        "used/rag (2 conversations): out of cheese",
    )


def test_failures_that_differ_in_places_and_numbers_alone_are_one_line() -> None:
    def misfit(probe: str, verdict: int) -> str:
        where = f"c000/judge/rag/{probe}"
        return f"{where}: {where}/n0, prompt 'judge_nugget': 3 replies did not fit; the last: no verdict {verdict}"

    (line,) = grouped_failures([misfit(f"summarization.{n}", n) for n in range(400)])
    assert line.startswith("judge/rag (400 probes): c000/judge/rag/summarization.0/n0, prompt 'judge_nugget'")
