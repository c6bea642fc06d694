"""Records that the planner uses: lost features, versions, licences, marks and routes of ports, stacks, effort."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

import pytest
from packaging.specifiers import SpecifierSet


def package_routes(knowledge):
    return [(package, route) for package in knowledge.packages.values() for route in package.routes]


def test_every_stub_lists_lost_features(knowledge):
    stubs = [(package.id, route) for package, route in package_routes(knowledge) if route.decision == "stub"]

    assert stubs
    assert [] == [(name, route.id) for name, route in stubs if not route.loses]


def test_lost_features_are_noun_phrases(knowledge):
    losses = [(package.id, route.id, route.loses) for package, route in package_routes(knowledge) if route.loses]

    assert len(losses) >= 25
    assert [] == [item for item in losses if item[2].endswith(".") or item[2].startswith(("No ", "no ", "without"))]


@pytest.mark.parametrize(
    ("package", "route"),
    [
        ("torch", "from-stack"), ("xformers", "drop-to-sdpa"), ("flash-attn", "drop-to-sdpa"), ("curope", "torch-rope"),
        ("nvidia-cuda-libraries", "strip"), ("gpustat", "amd-smi"), ("pynvml", "torch-api"),
    ],
)  # fmt: skip
def test_equivalent_replacement_loses_nothing(knowledge, package, route):
    selected = next(item for item in knowledge.packages[package].routes if item.id == route)

    assert (selected.decision, selected.loses) == ("drop", "")


def test_installing_torchvision_declares_that_torch_moves(knowledge):
    movers = [
        (package.id, route)
        for package, route in package_routes(knowledge)
        if any({"torch", "torchvision"} & set(command) and "install" in command[:2] for command in route.commands)
    ]

    assert movers
    assert [] == [(name, route.id) for name, route in movers if "torch" not in route.moves]


def licences(knowledge):
    """All licences with the ids of their records."""
    records = (*knowledge.packages.values(), *knowledge.ports.values())
    return [(record.id, record.licence) for record in records if record.licence is not None]


def test_restrictive_licences_say_what_they_forbid_and_how_to_speak_of_it(knowledge):
    restrictive = [(name, licence) for name, licence in licences(knowledge) if licence.restrictive]

    assert len(restrictive) >= 18
    assert [] == [name for name, licence in restrictive if not licence.note or not licence.wording]


def test_packages_whose_terms_forbid_something_are_marked(knowledge):
    forbids = re.compile(r"non-commercial|research use|redistribut|region", re.IGNORECASE)
    packages = [(package.id, package.licence) for package in knowledge.packages.values() if package.licence]

    assert [] == [name for name, terms in packages if forbids.search(terms.note) and not terms.restrictive]


def test_ports_run_with_routes_that_exist(knowledge):
    known = {(package.id, route.id) for package, route in package_routes(knowledge)}
    named = [(port.id, item) for port in knowledge.ports.values() for item in port.routes.items()]

    assert len(named) >= 25
    assert [] == [(port, item) for port, item in named if item not in known]


def test_marks_are_two_to_four_relative_paths_of_code(knowledge):
    marked = {port.id: port.marks for port in knowledge.ports.values() if port.marks}

    assert len(marked) >= 15
    assert [] == [name for name, marks in marked.items() if not 2 <= len(marks) <= 4 or len(set(marks)) < len(marks)]
    paths = [PurePosixPath(mark) for marks in marked.values() for mark in marks]
    assert [] == [path for path in paths if path.is_absolute() or ".." in path.parts]
    assert [] == [path for path in paths if "readme" in path.name.lower() or not path.suffix]


def test_what_has_no_checkout_of_its_own_has_no_marks(knowledge):
    """A service; Stable Zero123, a checkout of threestudio. Hunyuan3D-2GP differs from its origin by a text alone."""
    assert [] == [port.id for port in knowledge.ports.values() if not port.repository and port.marks]
    assert not knowledge.ports["stable-zero123"].marks
    assert knowledge.ports["hunyuan3d-2gp"].mark_texts


def test_stacks_with_torch_alone_reported_say_so(knowledge):
    untried = [stack for stack in knowledge.stacks.values() if not stack.tried]

    assert {stack.rocm for stack in knowledge.stacks.values() if stack.rocm.startswith("10.")} <= {
        s.rocm for s in untried
    }
    assert [] == [s.id for s in untried if not re.search(r"packages have been tried|torch alone", " ".join(s.traps))]


def test_bitsandbytes_has_a_binary_for_6_4_to_7_14_and_none_for_10(knowledge):
    routes = [route for route in knowledge.packages["bitsandbytes"].routes if route.decision == "replace"]

    def served(rocm: str, gfx: str) -> bool:
        return any(SpecifierSet(route.rocm).contains(rocm) and gfx in route.gfx for route in routes)

    assert all(served(rocm, "gfx942") for rocm in ("6.4.3", "7.0.0", "7.1.0", "7.2.4", "7.14.0"))
    assert served("7.14.0", "gfx1030")
    assert not served("7.2.4", "gfx1030")
    assert not served("10.0.0", "gfx942")
    assert not served("6.3", "gfx942")


def test_ck_attention_requires_rocm_7(knowledge):
    ranges = {route.id: SpecifierSet(route.rocm) for route in knowledge.packages["flash-attn"].routes}

    for name in ("ck-backend", "aiter-ck"):
        assert [rocm for rocm in ("6.4.3", "7.0.0", "7.2.4", "10.0.0") if rocm in ranges[name]] == ["7.0.0", "7.2.4"]


def test_cupy_for_rocm_is_built_against_numpy_2(knowledge):
    wheel = next(route for route in knowledge.packages["cupy"].routes if route.decision == "replace")

    assert "1.26.4" not in SpecifierSet(wheel.needs["numpy"])
    assert "2.2.6" in SpecifierSet(wheel.needs["numpy"])


def test_strix_halo_warns_of_batch_norm_and_names_nightlies(knowledge):
    hazards = " ".join(knowledge.targets["gfx1151"].hazards)

    assert "BatchNorm2d" in hazards
    assert "nightlies" in hazards


def test_notes_cost_nothing_and_what_has_no_counterpart_is_a_rewrite(knowledge):
    codes = knowledge.codes.values()

    assert [] == [code.code for code in codes if (code.severity == "note") != (code.effort == "none")]
    assert {"cutlass", "wmma", "dynamic_parallelism"} <= {code.rule for code in codes if code.effort == "rewrite"}
    assert {"divergent_barrier", "grid_sync", "labeled_partition", "cmake_cuda", "inline_ptx"} <= {
        code.rule for code in codes if code.effort == "hours"
    }
