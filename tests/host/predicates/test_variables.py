from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.host.facts import MachineFacts
from rocm3d.host.predicates import predicates
from rocm3d.host.predicates.variables import (
    mask_hides_all,
    override_for_unlike,
    override_needless,
    override_of_other_family,
)
from rocm3d.knowledge.load import load
from rocm3d.model.snapshot import GraphicsCard, Snapshot

KNOWLEDGE = load()
CARD = GraphicsCard(pci="0000:03:00.0", gfx="gfx1100", uuid="GPU-1d10000000000001")


def facts(gfx: str = "gfx1100", **variables: str) -> MachineFacts:
    card = CARD.model_copy(update={"gfx": gfx})
    rocm = [{"form": "system", "path": "/opt/rocm", "version": "7.2.0"}]
    return MachineFacts(Snapshot(taken="now", gpus=(card,), variables=variables, rocm=rocm), KNOWLEDGE)


@pytest.mark.parametrize(
    ("gfx", "value", "needless", "foreign"),
    [
        ("gfx1100", None, False, False),
        ("gfx1100", "11.0.0", True, False),
        ("gfx1100", "10.3.0", True, True),
        ("gfx1031", "10.3.0", False, False),
        ("gfx1031", "10.3.1", True, False),
        ("gfx1031", "11.0.0", False, True),
        ("gfx90a", "9.0.10", True, False),
        ("gfx1100", "gfx1100", True, True),
        ("gfx1031", "", False, False),
    ],
)
def test_which_override_is_needless_and_which_is_foreign(gfx, value, needless, foreign):
    machine_facts = facts(gfx, **({} if value is None else {"HSA_OVERRIDE_GFX_VERSION": value}))
    condition = KNOWLEDGE.host["override-needless"]

    assert bool(override_needless(machine_facts, condition)) is needless
    assert bool(override_of_other_family(machine_facts, condition)) is foreign


@pytest.mark.parametrize(
    ("mask", "blind"),
    [
        ("0", False),
        ("GPU-1d10000000000001", False),
        ("gpu-1D10000000000001", False),
        ("1", True),
        ("-1", True),
        ("1,0", True),
    ],
)
def test_mask_ends_at_the_first_missing_gpu(mask, blind):
    condition = KNOWLEDGE.host["mask-hides-every-gpu"]

    assert bool(mask_hides_all(facts(ROCR_VISIBLE_DEVICES=mask), condition)) is blind


def test_masks_of_hip_count_what_rocr_left():
    condition = KNOWLEDGE.host["mask-hides-every-gpu"]

    assert mask_hides_all(facts(HIP_VISIBLE_DEVICES="-1"), condition)
    assert not mask_hides_all(facts(HIP_VISIBLE_DEVICES=""), condition)
    assert not mask_hides_all(facts(HIP_VISIBLE_DEVICES="3", ROCR_VISIBLE_DEVICES="0"), condition)


@given(st.dictionaries(st.sampled_from(sorted(KNOWLEDGE.variables)), st.text(max_size=40)))
def test_no_value_of_a_variable_breaks_a_predicate(variables):
    machine_facts = facts(**variables)

    for name in ("override-needless", "override-of-another-family", "masks-together", "arch-list-lacks-gpu"):
        condition = KNOWLEDGE.host[name]
        assert predicates()[condition.test](machine_facts, condition) is None or variables
    assert override_for_unlike(machine_facts, KNOWLEDGE.host["override-for-unlike-gpus"]) is None
