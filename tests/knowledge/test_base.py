"""The knowledge base is asked by any name a person or a manifest uses."""

from __future__ import annotations

import pytest

from rocm3d.knowledge.base import suggestion
from rocm3d.model.failure import UserError


@pytest.fixture
def asked(overlay):
    overlay.package("zz-attn", pip=["Zz_Attn", "zz.attn.extra"]).package("zz-libs", pip=["zz-*-cu12", "Zz_Lib_*"])
    overlay.package("zz-one", pip=["zz-one-cu12"])
    overlay.target("gfx999", "zz900x", title="Radeon ZZ 900 X", names=["zed nine hundred"])
    return overlay


@pytest.mark.parametrize("name", ["zz", "zzattn", "zz-attn-more", "xzz-one-cu12", "zz-cu12", ""])
def test_distribution_nobody_knows_is_none(asked, name):
    assert asked.load().package_by_pip(name) is None


@pytest.mark.parametrize("name", ["zz-attn", "zz_attn", "ZZ.Attn", "Zz--_attn", "zz-attn-extra", "ZZ_ATTN_EXTRA"])
def test_distribution_is_found_by_any_spelling(asked, name):
    assert asked.load().package_by_pip(name).id == "zz-attn"


@pytest.mark.parametrize("name", ["zz-cublas-cu12", "ZZ_cublas_CU12", "zz-a-b-cu12"])
def test_distribution_is_found_by_pattern(asked, name):
    assert asked.load().package_by_pip(name).id == "zz-libs"


def test_pattern_is_spelled_as_freely_as_a_name(asked):
    assert asked.load().package_by_pip("zz-lib-nccl").id == "zz-libs"


def test_exact_name_wins_over_a_pattern(asked):
    assert asked.load().package_by_pip("zz-one-cu12").id == "zz-one"


def test_misspelt_gpu_is_refused_with_the_nearest(asked):
    with pytest.raises(UserError, match="no GPU is called 'zz90x'") as failure:
        asked.load().gpu("zz90x")
    assert failure.value.hint.startswith("did you mean ")
    assert "zz900x" in failure.value.hint


@pytest.mark.parametrize("name", ["", "rtx 4090 by somebody", "!!"])
def test_gpu_like_no_other_is_refused_with_some_that_are_known(asked, name):
    with pytest.raises(UserError, match="no GPU is called") as failure:
        asked.load().gpu(name)
    assert failure.value.hint.startswith(("known are ", "did you mean "))


@pytest.mark.parametrize(
    "name", ["zz900x", "ZZ900X", "zz-900 x", "Radeon ZZ 900 X", "radeon zz900x", "Zed Nine-Hundred", "gfx999", "GFX999"]
)
def test_gpu_is_found_by_id_title_spelling_and_gfx(asked, name):
    found = asked.load().gpu(name)
    assert (found.gfx, found.product, found.title) == ("gfx999", "zz900x", "Radeon ZZ 900 X")
    assert (found.wave_size, found.vram_gb) == (64, 16)


def test_gfx_id_alone_means_the_default_product(asked):
    place = asked.folder / "targets" / "gfx999.toml"
    place.write_text(
        place.read_text().replace("[[products]]", '[[products]]\nid = "zz800"\ntitle = "ZZ 800"\n\n[[products]]', 1)
    )
    knowledge = asked.load()
    assert [product.id for product in knowledge.targets["gfx999"].products] == ["zz800", "zz900x"]
    assert knowledge.gpu("gfx999").product == "zz900x"
    assert knowledge.gpu("zz800").product == "zz800"


def test_planned_recipe_answers_no_code(overlay):
    assert overlay.codes({}).recipe("r", status="planned").load().recipe_for("NUM901") is None


def test_active_recipe_answers_its_code_alone(overlay):
    knowledge = overlay.codes({}).recipe("q", status="refuted").recipe("r").load()
    assert knowledge.recipe_for("NUM901").id == "r"
    assert knowledge.recipe_for("NUM902") is None


def test_suggestion_is_the_nearest_or_a_dozen_of_all():
    assert suggestion("MI300", ["mi300x", "mi300a", "rx"]) == "did you mean mi300x, mi300a?"
    assert suggestion("qqqq", (f"n{number:02}" for number in range(20))) == "known are " + ", ".join(
        f"n{number:02}" for number in range(12)
    )
