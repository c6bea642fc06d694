from __future__ import annotations

import pytest
from pydantic import ValidationError

from rocm3d.model.look import Look, Smoke, SuiteLooks


@pytest.mark.parametrize(
    "answer",
    ['{"probe": "p"}', '{"probe": "p", "outcome": "splendid"}', '{"probe": "p", "outcome": "absent", "x": 1}', "[]"],
)
def test_an_answer_that_is_none_is_refused(answer):
    with pytest.raises(ValidationError):
        Look.model_validate_json(answer)


def test_two_packages_may_share_a_probe():
    look = Look(probe="deformable_attention", outcome="absent")

    assert (look.label, look.model_copy(update={"package": "groundingdino"}).label) == (
        "deformable_attention",
        "groundingdino",
    )


def test_the_looks_of_all_suites():
    looks = [Look(probe=name, outcome="absent") for name in "ab"]
    suites = tuple(SuiteLooks(suite=look.probe, title="t", looks=(look,)) for look in looks)

    assert Smoke(machine="m", interpreter="i", knowledge_date="d", suites=suites).looks == tuple(looks)
