"""Plans for known repositories with the real knowledge base, compared with published experience.

The repositories are represented by their requirements (with repository and commit); none of their code is here.
"""

from __future__ import annotations

from datetime import date

import pytest
from packaging.specifiers import SpecifierSet

from rocm3d.model.finding import Location
from rocm3d.model.inventory import Dependency, FileCounts, Inventory, Scan
from rocm3d.plan.stacks import PlanOptions
from rocm3d.plan.stage import plan

TODAY = date(2026, 11, 15)
# What the files of a repository name, and as which port the scan recognises it.
REPOSITORIES = {
    # ByteDance-Seed/Depth-Anything-3 pyproject.toml
    "Depth-Anything-3": ("depth-anything-3", ["torch>=2", "torchvision", "xformers", "gsplat", "numpy<2", "einops"]),
    # SkyworkAI/Matrix-Game@f1bf6e6b requirements.txt and DROID-SLAM/environment.yaml
    "Matrix-Game": (None, ["torch==2.5.1", "torchvision", "flash_attn", "torch-scatter", "numpy", "diffusers"]),
    # Pointcept/PointTransformerV3@3229e9b7: imports of model.py
    "PointTransformerV3": (
        "point-transformer-v3",
        ["torch", "spconv-cu120", "flash-attn", "torch-scatter", "timm", "addict"],
    ),
    # microsoft/TRELLIS setup.sh
    "TRELLIS": (
        "trellis",
        [
            "torch==2.4.0",
            "torchvision",
            "xformers",
            "flash-attn",
            "kaolin",
            "nvdiffrast",
            "diffoctreerast",
            "spconv-cu120",
            "vox2seq",
            "numpy",
        ],
    ),
    "three wheels": (None, ["torch", "xformers", "pytorch3d", "gsplat"]),
    # Tencent-Hunyuan/Hunyuan3D-2.1@5e3ec6de requirements.txt
    "Hunyuan3D-2.1": (
        "hunyuan3d-2.1",
        ["torch==2.5.1+cu124", "torchvision", "custom-rasterizer", "numpy", "onnxruntime"],
    ),
}
GPUS = ["gfx942", "gfx1100", "gfx1151", "gfx1201"]


@pytest.fixture(scope="module")
def planned(knowledge):
    def run(name: str, gpu: str, **plan_options):
        known, requirements = REPOSITORIES[name]
        location = Location(path="requirements.txt", line=1, column=1)
        items = []
        for text in requirements:
            pip = text.partition("=")[0].partition(">")[0].partition("<")[0]
            package = knowledge.package_by_pip(pip)
            items.append(Dependency(name=pip, requirement=text, location=location, package=package and package.id))
        inventory = Inventory(
            repository=name, known_as=known, counts=FileCounts(files=1, bytes=1, python=1, cuda=0, manifests=1),
            dependencies=tuple(items), extensions=(), families={}, skipped=(), readiness="ready-with-deps", reasons=(),
        )  # fmt: skip
        scan = Scan(inventory=inventory, findings=())
        return plan(scan, knowledge.gpu(gpu), knowledge, TODAY, PlanOptions(**plan_options))

    return run


def routes(document):
    return {item.name: item.route for item in document.decisions}


def decisions(document):
    return {item.name: item.decision for item in document.decisions}


def test_depth_anything_3_drops_xformers_and_torch_and_routes_gsplat(planned):
    document = planned("Depth-Anything-3", "mi300x")

    assert {decisions(document)[name] for name in ("torch", "torchvision", "xformers")} == {"drop"}
    assert routes(document)["gsplat"].startswith("amd-wheel")
    assert not document.losses


def test_matrix_game_prefers_a_stack_of_7_for_ck_attention(planned):
    document = planned("Matrix-Game", "mi300x")

    assert document.base.rocm.startswith("7.")
    attention = next(item for item in document.decisions if item.name == "flash-attn")
    fits = [attention.route, *(item.id for item in attention.alternatives if item.reason.startswith("fits too"))]
    assert any("ck" in route for route in fits)
    six = planned("Matrix-Game", "mi300x", rocm="6.4")
    old = next(item for item in six.decisions if item.name == "flash-attn")
    assert not any("ck" in item.id for item in old.alternatives if item.reason.startswith("fits too"))


def test_point_transformer_takes_what_its_port_ran_with(planned):
    document = planned("PointTransformerV3", "mi300x")

    assert routes(document)["spconv-cu120"] == "spconv-rocm"
    assert routes(document)["flash-attn"] == "triton-backend"
    assert decisions(document)["torch-scatter"] == "substitute"
    assert document.base.rocm.startswith("7.2")


def test_trellis_on_strix_halo_warns_of_nightlies_and_takes_sdpa(planned):
    document = planned("TRELLIS", "gfx1151")

    assert any("nightl" in warning for warning in document.warnings)
    assert {routes(document)["flash-attn"], routes(document)["xformers"]} == {"drop-to-sdpa"}


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("prefer", ["stable", "newest", "fewest-builds"])
def test_three_wheels_are_never_for_different_torch_versions(planned, knowledge, gpu, prefer):
    document = planned("three wheels", gpu, prefer=prefer)

    for item in document.decisions:
        if item.route is None:
            continue
        route = next(route for route in knowledge.packages[item.package].routes if route.id == item.route)
        assert SpecifierSet(route.torch).contains(document.base.torch)
        assert SpecifierSet(f"=={route.moves.get('torch', document.base.torch)}").contains(document.base.torch)


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("name", REPOSITORIES)
def test_every_plan_has_a_stack_or_a_reason(planned, name, gpu):
    document = planned(name, gpu)

    assert document.stack is not None or all(item.reason for item in document.rejected_stacks)
    assert all(item.reason and item.would_need for item in document.rejected_stacks)
    for item in document.decisions:
        assert item.reason
        assert all(other.reason and other.would_need for other in item.alternatives)
        assert item.package is None or item.sources


@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("name", REPOSITORIES)
def test_decisions_that_install_code_have_a_proof(planned, name, gpu):
    for item in planned(name, gpu).decisions:
        assert item.proof or item.decision not in ("replace", "build", "substitute")


def test_windows_supports_no_instinct_card(planned):
    document = planned("three wheels", "mi300x", platform="windows")

    assert (document.stack, document.readiness) == (None, "blocked")
    assert any(item.would_need for item in document.rejected_stacks)
