from __future__ import annotations

import pytest

from rocm3d.verify.backends.package_checks import planned_packages


@pytest.fixture
def packages_of_plan(case, knowledge, make_decision):
    def find(name, kind, route=None, **more):
        decision = make_decision(name, kind, package=name, **more).model_copy(update={"route": route})
        plan = case().plan.model_copy(update={"decisions": (decision, decision)})
        return list(planned_packages(plan, knowledge))

    return find


@pytest.mark.parametrize(
    ("decision", "exclusion"),
    [
        (("xformers", "drop"), ("skipped", "dropped by the plan")),
        (("kaolin", "blocked"), ("not_run", "blocked: the plan has no route")),
    ],
)
def test_dropped_and_blocked_packages_are_excluded(packages_of_plan, decision, exclusion):
    assert packages_of_plan(*decision)[1].exclusion == exclusion


def test_packages_with_another_import_name_are_excluded(packages_of_plan):
    (_, replaced), (_, stands_in) = (
        packages_of_plan("spconv", "replace", "spconv-triton", import_kept=False),
        packages_of_plan("torch-scatter", "substitute", "torch-shim", import_kept=False),
    )

    assert replaced.exclusion[0] == "not_run"
    assert stands_in.exclusion == ("skipped", "planned fallback under another import name")


def test_a_distribution_without_a_record_is_ignored(packages_of_plan):
    assert [subject.package for subject in packages_of_plan("numpy", "keep")] == ["torch"]


@pytest.mark.parametrize(
    ("name", "kind", "route", "planned"),
    [
        ("onnxruntime-gpu", "replace", "cpu", True),
        ("kaolin", "stub", "import-stub", True),
        ("gsplat", "replace", "amd-wheel-6.4.3", False),
    ],
)
def test_routes_with_a_planned_fallback(packages_of_plan, name, kind, route, planned):
    subject = packages_of_plan(name, kind, route)[1]

    assert bool(subject.fallback_reason) is planned
    assert subject.request.package == name


def test_the_base_comes_first_and_each_package_once_with_its_routes_variables(packages_of_plan):
    base, flash = packages_of_plan(
        "flash-attn", "build", "triton-backend", env={"FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}
    )

    assert (base.package, base.request.probe) == ("torch", "torch")
    assert flash.request.env == {"FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}
    assert (flash.request.modules, flash.request.probe) == (("flash_attn",), "flash_attn")
