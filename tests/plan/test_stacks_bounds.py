"""Bounds of the repository, and stacks on which its requirements do not resolve, in the choice of the stack."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from rocm3d.model.finding import Location
from rocm3d.model.inventory import PythonVersions
from rocm3d.plan.routes import RepositoryConstraints, package_by_distribution
from rocm3d.plan.stacks import PlanOptions, StackCriteria, choose_stack

from .test_bounds import WHEELS, RepositoryBounds, dependency

OLD, NEW = date(2026, 1, 1), date(2026, 11, 1)


@pytest.fixture
def chosen(make):
    """Chooses between a new stack with Python 3.12 and an old one with 3.10."""

    def run(*dependencies, pythons=(), packages=(), **options):
        stacks = [make.stack("new", NEW, python="3.12"), make.stack("old", OLD, python="3.10", rocm="6.4")]
        knowledge = replace(make.knowledge(packages, stacks), wheels=WHEELS)
        entries = [*dependencies, *(make.dependency(item.id) for item in packages)]
        inventory = make.scan(dependencies=entries).inventory.model_copy(update={"pythons": pythons})
        criteria = StackCriteria(
            package_by_distribution(entries, (), knowledge),
            knowledge,
            knowledge.gpu("mi300x"),
            RepositoryConstraints(),
            RepositoryBounds.of(inventory),
        )
        return choose_stack(criteria, PlanOptions(**options))

    return run


def python(specifier, **fields):
    return PythonVersions(specifier=specifier, location=Location(path="README.md", line=7, column=1), **fields)


def test_without_bounds_the_newer_stack(chosen):
    result, _, (rejected,) = chosen(dependency("a>=1"))

    assert (result.id, rejected.reason) == ("new", f"older, released {OLD}")
    assert "instead of" not in result.reason


def test_a_pin_without_a_wheel_decides_and_is_the_reason(chosen):
    result, _, (rejected,) = chosen(dependency("a==1.5"))

    reason = "does not fit the requirements: no wheel for Python 3.12: a==1.5"
    assert (result.id, rejected.reason) == ("old", reason)
    assert result.reason.endswith(f"released {OLD}; instead of new: {reason}")
    assert "\n" not in result.reason


def test_a_blocked_package_counts_before_a_pin(make, chosen):
    package = make.package("p", make.route("r", rocm=">=7"))

    result, evaluation, (rejected,) = chosen(dependency("a==1.5"), packages=(package,))

    assert (result.id, rejected.reason) == ("new", "blocked: p")
    assert evaluation.unmet == ("no wheel for Python 3.12: a==1.5",)
    assert result.reason.endswith("; does not fit the requirements: no wheel for Python 3.12: a==1.5")


def test_a_pin_counts_before_a_lost_feature(make, chosen):
    package = make.package("p", make.route("r", rocm=">=7"), make.route("s", rank=2, loses="x"))

    assert chosen(dependency("a==1.5"), packages=(package,))[0].id == "old"


def test_the_python_of_its_environment_decides_between_equals(chosen):
    result, _, (rejected,) = chosen(pythons=(python("==3.10.*"),))

    reason = "differs from the repository's environment: Python 3.10 (README.md:7)"
    assert (result.id, rejected.reason) == ("old", reason)


def test_a_build_counts_before_the_python_of_its_environment(make, chosen):
    package = make.package("p", make.route("wheel", rocm=">=7"), make.route("source", "build", rank=2))

    assert chosen(pythons=(python("==3.10.*"),), packages=(package,))[0].id == "new"


def test_a_stack_on_which_the_requirements_do_not_resolve_is_rejected(chosen):
    result, _, (rejected,) = chosen(unresolved={"new": "a conflicts with b"})

    assert result.id == "old"
    assert (rejected.id, rejected.reason) == ("new", "the requirements do not resolve: a conflicts with b")
    assert rejected.would_need == "--stack new to choose it anyway"


def test_without_a_stack_that_resolves_there_is_none(chosen):
    result, evaluation, rejected = chosen(unresolved={"new": "x", "old": "y"})

    assert (result, evaluation) == (None, None)
    assert [item.id for item in rejected] == ["new", "old"]
