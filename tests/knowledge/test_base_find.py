"""Records are found by any of their names; a misspelt name suggests the closest."""

from __future__ import annotations

import pytest

from rocm3d.knowledge.base import find_record, known_names
from rocm3d.model.errors import UserError


@pytest.fixture
def known(overlay):
    overlay.family().package("zz-attn", pip=["zz_attention"], imports=["zz_attn_cuda", "ZzExt"])
    overlay.target("gfx999", "zz900x", title="Radeon ZZ 900 X", names=["zed"]).stack("zz-stack", ["gfx999"])
    return overlay.codes({}).fix("zz-recipe").load()


def test_misspelt_name_is_refused_with_the_closest(known):
    with pytest.raises(UserError, match="no record for 'zz-atn'") as failure:
        find_record("zz-atn", known)
    assert failure.value.hint.startswith("did you mean ")
    assert "zz-attn" in failure.value.hint


def test_unknown_name_is_refused_with_known_names(known):
    with pytest.raises(UserError, match="no record for") as failure:
        find_record("%%%%", known)
    assert failure.value.hint.startswith("known names: ")


@pytest.mark.parametrize("word", ["", "  "])
def test_empty_name_is_refused(known, word):
    with pytest.raises(UserError, match="no record for"):
        find_record(word, known)


@pytest.mark.parametrize("word", ["NUM901", "num901", " NUM901 ", "odd_thing", "Odd_Thing"])
def test_code_is_found_by_number_and_rule(known, word):
    assert find_record(word, known) == known.codes["NUM901"]


@pytest.mark.parametrize("word", ["zz-attn", "ZZ-ATTN", "zz-attention", "ZZ.Attention", "zz_attn_cuda", "ZzExt"])
def test_package_is_found_by_id_distribution_and_import(known, word):
    assert find_record(word, known) == known.packages["zz-attn"]


@pytest.mark.parametrize("word", ["gfx999", "GFX999", "zz900x", "radeon zz 900 x", "ZED"])
def test_target_is_found_by_any_name_of_a_gpu(known, word):
    assert find_record(word, known) == known.targets["gfx999"]


def test_stack_family_and_recipe_are_found_by_id(known):
    assert find_record("zz-stack", known) == known.stacks["zz-stack"]
    assert find_record("fam", known) == known.families["fam"]
    assert find_record("zz-recipe", known) == known.recipes["zz-recipe"]


def test_every_known_name_is_found(known):
    offered = [word for word in known_names(known) if "*" not in word]
    assert {"zz-attn", "gfx999", "zz900x", "zz_attention", "zz_attn_cuda", "num901", "odd_thing"} <= set(offered)
    for word in offered:
        find_record(word, known)


def test_nvidia_card_is_found_and_an_amd_one_leads_to_its_target(overlay):
    overlay.target("gfx999", "zz900x").card("zz900x", amd=True).card("zz-rival", names=["the zed"])
    known = overlay.load()

    assert find_record("the zed", known) == known.cards["zz-rival"]
    assert find_record("zz900x", known) == known.targets["gfx999"]
    assert "zz-rival" in known_names(known)
