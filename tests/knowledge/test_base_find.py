"""Records are found by any of their names; a misspelt name suggests the closest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from packaging.utils import canonicalize_name

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


def with_commands(known, *commands, package="zz-attn", **fields):
    """The knowledge base with one route of a package."""
    old = known.packages[package]
    route = old.routes[0].model_copy(update={"decision": "replace", "commands": commands, **fields})
    copy = old.model_copy(update={"id": package, "routes": (route,)})
    return replace(known, packages={**known.packages, package: copy})


@pytest.mark.parametrize("word", ["zz-src", "host", "simple", "zz-file", "zz-file-1.0", "rocm"])
def test_files_and_indexes_of_a_route_are_no_names(known, word):
    commands = (
        ("pip", "install", "--no-deps", "./zz-src"),
        ("pip", "install", "https://host/zz-file-1.0-py3.whl"),
        ("pip", "install", "--index-url", "https://host/simple"),
        ("git", "clone", "-b", "rocm", "https://host/other.git"),
    )
    with pytest.raises(UserError, match="no record for"):
        find_record(word, with_commands(known, *commands))


def test_what_a_dropped_package_would_install_is_no_name(known):
    dropped = with_commands(known, ("pip", "install", "zz-fork"), decision="drop")
    with pytest.raises(UserError, match="no record for"):
        find_record("zz-fork", dropped)


@pytest.mark.parametrize("word", ["zz_rocm", "ZZ-ROCM", "zz-fork", "zz-built", "zz-cloned"])
def test_package_is_found_by_what_its_routes_install(known, word):
    commands = (
        ("git", "clone", "-b", "rocm", "https://host/a/zz-cloned.git"),
        ("pip", "install", "--index-url", "https://host/simple", "--no-deps", "zz-fork==1.0", "-e", "./zz-cloned"),
        ("pip", "install", "git+https://host/a/zz-built.git@rocm#subdirectory=torch"),
    )
    extended = with_commands(known, *commands, requirement="zz_rocm>=1")
    assert find_record(word, extended) == extended.packages["zz-attn"]
    assert canonicalize_name(word) in known_names(extended)


def test_of_two_packages_with_one_replacement_the_better_rank_is_found(overlay):
    loaded = overlay.family().package("zz-attn").package("aa-attn").load()
    known = with_commands(loaded, ("pip", "install", "zz-fork"), rank=1)
    known = with_commands(known, ("pip", "install", "zz-fork"), package="aa-attn", rank=2)
    assert find_record("zz-fork", known) == known.packages["zz-attn"]


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
