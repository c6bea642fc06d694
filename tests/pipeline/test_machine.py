from __future__ import annotations

import pytest

from rocm3d.model.errors import UserError
from rocm3d.pipeline import machine


@pytest.mark.parametrize(
    ("current", "message"), [((), "no AMD GPU on this machine"), (("gfx942", "gfx1100"), "several kinds of AMD GPU")]
)
def test_without_a_name_the_machine_must_have_one_kind_of_gpu(knowledge, monkeypatch, current, message):
    monkeypatch.setattr(machine, "gpus", lambda **_: list(current))

    with pytest.raises(UserError, match=message):
        machine.resolve_gpu(None, knowledge)


def test_the_gpus_of_this_machine_are_taken_where_they_are_alike(knowledge, monkeypatch):
    monkeypatch.setattr(machine, "gpus", lambda **_: ["gfx942"] * 8)

    assert "gfx942" == machine.resolve_gpu(None, knowledge).gfx


def test_a_name_wins_over_this_machine(knowledge, monkeypatch):
    monkeypatch.setattr(machine, "gpus", lambda **_: ["gfx942"])

    assert "gfx1100" == machine.resolve_gpu("rx 7900 xtx", knowledge).gfx
