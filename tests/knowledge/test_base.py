"""Lookups in the knowledge base by any spelling of a name."""

from __future__ import annotations

import pytest

from rocm3d.knowledge.base import suggestion
from rocm3d.model.errors import UserError


@pytest.fixture
def knowledge_base(overlay):
    overlay.package("zz-attn", pip=["Zz_Attn", "zz.attn.extra"]).package("zz-libs", pip=["zz-*-cu12", "Zz_Lib_*"])
    overlay.package("zz-one", pip=["zz-one-cu12"])
    overlay.target("gfx999", "zz900x", title="Radeon ZZ 900 X", names=["zed nine hundred"])
    return overlay


@pytest.mark.parametrize("name", ["zz", "zzattn", "zz-attn-more", "xzz-one-cu12", "zz-cu12", ""])
def test_unknown_distribution_is_none(knowledge_base, name):
    assert knowledge_base.load().package_by_pip(name) is None


@pytest.mark.parametrize("name", ["zz-attn", "zz_attn", "ZZ.Attn", "Zz--_attn", "zz-attn-extra", "ZZ_ATTN_EXTRA"])
def test_distribution_is_found_by_any_spelling(knowledge_base, name):
    assert knowledge_base.load().package_by_pip(name).id == "zz-attn"


@pytest.mark.parametrize("name", ["zz-cublas-cu12", "ZZ_cublas_CU12", "zz-a-b-cu12"])
def test_distribution_is_found_by_pattern(knowledge_base, name):
    assert knowledge_base.load().package_by_pip(name).id == "zz-libs"


def test_pattern_is_spelled_as_freely_as_a_name(knowledge_base):
    assert knowledge_base.load().package_by_pip("zz-lib-nccl").id == "zz-libs"


def test_exact_name_wins_over_a_pattern(knowledge_base):
    assert knowledge_base.load().package_by_pip("zz-one-cu12").id == "zz-one"


@pytest.fixture
def extras(overlay):
    record = overlay.package("zz-cut", pip=["zz-cut", "zz-cut-gpu"]).folder / "packages" / "zz-cut.toml"
    text = 'only_with_extra = { "zz-cut[Gpu_12]" = "the rest" }\nconda = ["zz-tool*"]\nrepositories = ["o/ZZ_Cutter"]\n'
    record.write_text(record.read_text().replace("imports = ", f"{text}imports = ", 1))
    return overlay.load()


@pytest.mark.parametrize(
    ("name", "arguments"), [("zz-cut", ()), ("Zz_Cut", ("cpu",)), ("zz-cutter", ("gpu-12",)), ("numpy", ("gpu-12",))]
)
def test_name_without_its_extra_is_no_cuda_package(extras, name, arguments):
    assert extras.cuda_package(name, arguments) is None
    assert extras.cuda_extras(name, arguments) == {}


@pytest.mark.parametrize(
    ("name", "arguments"), [("ZZ.cut", ("cpu", "GPU-12")), ("zz-cut-gpu", ()), ("zz-cut-gpu", ("cpu",))]
)
def test_name_with_its_extra_or_suffix_is_one(extras, name, arguments):
    assert extras.cuda_package(name, arguments).id == "zz-cut"


def test_extras_name_what_they_install(extras):
    assert extras.cuda_extras("zz_cut", ("cpu", "gpu.12")) == {"gpu.12": "the rest"}


def test_conda_has_different_names_and_no_extras(extras):
    assert extras.cuda_package("ZZ-tool-kit", conda=True).id == "zz-cut"
    assert extras.cuda_package("zz-cut-gpu", conda=True).id == "zz-cut"
    assert extras.cuda_package("zz-cut", conda=True) is None
    assert extras.cuda_package("zz-tool-kit") is None


def test_repository_is_known_by_its_last_name(extras):
    assert extras.package_by_repository("zz-cutter").id == "zz-cut"
    assert extras.package_by_repository("zz-cut") is None


def test_misspelt_gpu_is_refused_with_the_nearest(knowledge_base):
    with pytest.raises(UserError, match="unknown GPU 'zz90x'") as failure:
        knowledge_base.load().gpu("zz90x")
    assert failure.value.hint.startswith("did you mean ")
    assert "zz900x" in failure.value.hint


@pytest.mark.parametrize("name", ["", "rtx 4090 by somebody", "!!"])
def test_unknown_gpu_is_refused_with_known_names(knowledge_base, name):
    with pytest.raises(UserError, match="unknown GPU") as failure:
        knowledge_base.load().gpu(name)
    assert failure.value.hint.startswith(("known names: ", "did you mean "))


@pytest.mark.parametrize(
    "name", ["zz900x", "ZZ900X", "zz-900 x", "Radeon ZZ 900 X", "radeon zz900x", "Zed Nine-Hundred", "gfx999", "GFX999"]
)
def test_gpu_is_found_by_id_title_spelling_and_gfx(knowledge_base, name):
    result = knowledge_base.load().gpu(name)
    assert (result.gfx, result.product, result.title) == ("gfx999", "zz900x", "Radeon ZZ 900 X")
    assert (result.wave_size, result.vram_gb) == (64, 16)


def test_gfx_id_alone_means_the_default_product(knowledge_base):
    path = knowledge_base.folder / "targets" / "gfx999.toml"
    path.write_text(
        path.read_text().replace("[[products]]", '[[products]]\nid = "zz800"\ntitle = "ZZ 800"\n\n[[products]]', 1)
    )
    knowledge = knowledge_base.load()
    assert [product.id for product in knowledge.targets["gfx999"].products] == ["zz800", "zz900x"]
    assert knowledge.gpu("gfx999").product == "zz900x"
    assert knowledge.gpu("zz800").product == "zz800"


def test_planned_recipe_is_not_used(overlay):
    assert overlay.codes({}).fix("r", status="planned").load().recipe_for("NUM901") is None


def test_also_codes_apply_only_to_the_package_of_the_recipe(overlay):
    codes = overlay.codes({"rest": 'package = "p"'}, {"code": "NUM902"}, {"code": "NUM903", "rule": "third_thing"})
    codes.fix("q", "more/third_thing", status="planned", also=["NUM902"]).fix("r", also=["NUM902"])
    knowledge = codes.load()
    assert knowledge.recipe_also_resolving("NUM902", "p").id == "r"
    assert knowledge.recipe_also_resolving("NUM902", "other") is None
    assert knowledge.recipe_also_resolving("NUM902", None) is None
    assert knowledge.recipe_also_resolving("NUM901", "p") is None


def test_active_recipe_fixes_only_its_code(overlay):
    knowledge = overlay.codes({}).fix("r").load()
    assert knowledge.recipe_for("NUM901").id == "r"
    assert knowledge.recipe_for("NUM902") is None


def test_suggestion_is_the_nearest_or_a_dozen_of_all():
    assert suggestion("MI300", ["mi300x", "mi300a", "rx"]) == "did you mean mi300x, mi300a?"
    assert suggestion("qqqq", (f"n{number:02}" for number in range(20))) == "known names: " + ", ".join(
        f"n{number:02}" for number in range(12)
    )


def test_unknown_nvidia_card_is_refused_with_the_closest(overlay):
    overlay.card("zz-rival")
    with pytest.raises(UserError, match="unknown NVIDIA card 'zz-rivl'") as failure:
        overlay.load().nvidia_card("zz-rivl")
    assert "zz-rival" in failure.value.hint


def test_amd_card_is_refused_as_nvidia_card(overlay):
    overlay.target("gfx999", "zz900x").card("zz900x", amd=True)
    with pytest.raises(UserError, match="unknown NVIDIA card 'zz900x'"):
        overlay.load().nvidia_card("zz900x")


@pytest.mark.parametrize("name", ["zz-rival", "ZZ Rival", "The Zed", "the zed", "Z.Z."])
def test_nvidia_card_is_found_by_any_name(overlay, name):
    overlay.card("zz-rival", title="The Zed", names=["zz"])
    assert overlay.load().nvidia_card(name).id == "zz-rival"


def test_integrated_targets(knowledge):
    result = knowledge.integrated_targets
    assert "gfx1151" in result
    assert not result & {"gfx942", "gfx1100"}
