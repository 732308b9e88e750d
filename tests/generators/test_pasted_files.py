"""Files that messages paste persist over the batches of a sub-plan."""

from __future__ import annotations

import json

from longbeam.generators import (
    DIALOGUE,
    Frame,
    FurtherTurns,
    Ledger,
    TurnBatch,
    TurnScene,
    last_pasted,
    write_more_turns,
    write_user_turns,
)
from longbeam.prompts.calls import PastedFile, ProjectName, Stage
from longbeam.schemas import Domain, UserTurn
from tests.builders import good_conversation
from tests.generators.scripted import ScriptedModel, asker_for

NAMES = tuple(
    ProjectName(name=name, what="a part of the app", stage=1) for name in ("basket.py", "views.py", "BasketStore")
)
BASKET = "class BasketStore:\n    rate = 0.2"


def _turn(text: str) -> UserTurn:
    return UserTurn(turn_id="x", text=text, bullet_ids=())


def _fence(code: str, language: str = "python") -> str:
    return f"```{language}\n{code}\n```\n"


def test_last_pasted_keeps_the_last_fence_of_each_named_file() -> None:
    turns = [
        _turn(f"This is basket.py, BasketStore in it:\n{_fence('rate = 0.1')}why?"),
        _turn(f"views.py calls it:\n{_fence('render()')}ok?"),
        _turn(f"changed it:\n{_fence('# basket.py' + chr(10) + BASKET)}better?"),
    ]
    assert last_pasted(turns, NAMES) == (
        PastedFile(name="views.py", code="render()"),
        PastedFile(name="basket.py", code=f"# basket.py\n{BASKET}"),
    )


def test_last_pasted_leaves_out_logs_and_unlisted_files() -> None:
    turns = [
        _turn(f"basket.py fails:\n{_fence('File basket.py, line 3', 'text')}{_fence('KeyError', '')}why?"),
        _turn(f"my_basket.py is this:\n{_fence('x = 1')}ok?"),
        _turn("basket.py has no code here."),
    ]
    assert last_pasted(turns, NAMES) == ()


def test_last_pasted_keeps_two_files_of_one_message_and_an_open_fence() -> None:
    text = f"basket.py:\n{_fence(BASKET)}and views.py:\n```python\nrender()"
    assert [(f.name, f.code) for f in last_pasted([_turn(text)], NAMES)] == [
        ("basket.py", BASKET),
        ("views.py", "render()"),
    ]


def test_long_file_is_cut_at_the_end_of_a_line() -> None:
    lines = [f"step_{i:04}()" for i in range(400)]  # 11 characters with the line end: 181 lines fit into 2,000
    (file,) = last_pasted([_turn(f"basket.py:\n{_fence(chr(10).join(lines))}")], NAMES)
    assert file.is_cut
    assert file.code.splitlines() == lines[: (DIALOGUE.file_characters + 1) // 12]


def test_batch_takes_along_the_files_of_the_batches_before() -> None:
    sub_plan = Ledger.of(good_conversation().head.plans[0]).sub_plans[0]
    batch = TurnBatch(batch_index=1, bullet_ids=(sub_plan.bullets[2].bullet_id,), questions=1)
    turn = _turn(f"basket.py:\n{_fence(BASKET)}ok?")
    assert batch.behind(sub_plan, [turn], NAMES).files == (PastedFile(name="basket.py", code=BASKET),)


def _coding_scene() -> TurnScene:
    head = good_conversation().head
    assert head.profile is not None
    ledger = Ledger.of(head.plans[0])
    sub_plan = ledger.sub_plans[0]
    seed = head.seed.model_copy(update={"domain": Domain.CODING})
    frame = Frame(seed=seed, profile=head.profile, relationships=head.relationships, narratives=head.narratives)
    stage = Stage(stage_index=0, first_day=sub_plan.anchor, last_day=sub_plan.bullets[-1].happens_on, names=NAMES)
    return TurnScene(frame, ledger, stage, sub_plan)


async def test_file_is_shown_where_a_card_pastes_code() -> None:
    scene = _coding_scene()
    bullet = scene.sub_plan.bullets[2]
    turn = {"text": f"{bullet.text} Is that enough?", "voices": [bullet.bullet_id]}
    shown = []
    for index in range(12):  # 30 % of the cards paste code
        model = ScriptedModel({"user_turns": [json.dumps({"turns": [turn]})]})
        files = (PastedFile(name="basket.py", code=BASKET),)
        batch = TurnBatch(batch_index=index, bullet_ids=(bullet.bullet_id,), questions=1, files=files)
        await write_user_turns(asker_for(model), scene, batch)
        request = model.calls[0].messages()[-1].content
        shown.append(f"basket.py:\n~~~file\n{BASKET}\n~~~" in request)
        assert shown[-1] is ("pastes the part of a file" in request)
    assert 0 < sum(shown) < 12


async def test_further_questions_carry_a_file_on() -> None:
    scene = _coding_scene()
    heard = scene.sub_plan.bullets[:3]
    asked = [_turn(f"basket.py:\n{_fence(BASKET)}ok?")]
    questions = [{"text": f"What comes after step {i}?", "voices": [], "asks_about": []} for i in range(12)]
    model = ScriptedModel({"more_turns": [json.dumps({"turns": questions})]})
    await write_more_turns(asker_for(model), scene, FurtherTurns(12, heard, asked))
    assert f"~~~file\n{BASKET}\n~~~" in model.calls[0].messages()[-1].content
