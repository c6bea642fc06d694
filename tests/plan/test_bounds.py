from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.model.finding import Location
from rocm3d.model.inventory import Dependency, PythonVersions
from rocm3d.model.wheel import WheelRange, WheelRecord
from rocm3d.plan.bounds import RepositoryBounds

from .conftest import FACT

ELSEWHERE = "https://host.example/simple/"


def wheel(name: str, *ranges: tuple[str, str] | tuple[str, str, str]) -> dict[str, WheelRecord]:
    rows = tuple(WheelRange(versions=row[0], python=row[1], index="".join(row[2:])) for row in ranges)
    return {name: WheelRecord(id=name, name=name, ranges=rows, **FACT)}


WHEELS = {
    **wheel("a", ("<1.0", "<3.10"), (">=1.0,<2.0", "<3.12"), (">=2.0", ">=3.11")),
    **wheel("b", ("<3.0", ">=3.10,<3.11", ELSEWHERE), (">=3.0", ">=3.12")),
}


def dependency(text: str, path: str = "requirements.txt", line: int = 1, *, optional: bool = False) -> Dependency:
    name = re.split(r"[=<>~;@ ]", text)[0]
    return Dependency(name=name, requirement=text, location=Location(path=path, line=line, column=1), optional=optional)


def python(specifier: str, *, required: bool = False, path: str = "pyproject.toml") -> PythonVersions:
    return PythonVersions(specifier=specifier, location=Location(path=path, line=3, column=1), required=required)


@pytest.fixture
def bounds(make):
    def build(*dependencies: Dependency, pythons: tuple[PythonVersions, ...] = ()) -> RepositoryBounds:
        inventory = make.scan(dependencies=dependencies).inventory
        return RepositoryBounds.of(inventory.model_copy(update={"pythons": pythons}))

    return build


@pytest.fixture
def unmet(make, bounds):
    def check(*dependencies: Dependency, pythons=(), version: str = "3.12", torch: str = "2.9.0") -> tuple[str, ...]:
        stack = make.stack("s", python=version, torch=torch)
        return bounds(*dependencies, pythons=pythons).unmet(stack, ["a", "b", "torch"], WHEELS)

    return check


@pytest.mark.parametrize(
    "entry",
    [
        dependency("a"),
        dependency("a>=1.0"),
        dependency("a==2.1"),
        dependency("unknown==0.1"),
        dependency("a==1.0", "docs/requirements.txt"),
        dependency("a==1.0", "requirements-dev.txt"),
        dependency("a==1.0", "uv.lock"),
        dependency("a==1.0", optional=True),
        dependency("a==1.0 ; python_version < '3.11'"),
        dependency("a==1.0 ; sys_platform == 'win32'"),
        dependency("a @ https://host/a-1.0.whl"),
        dependency("a==="),
        dependency("torch==2.1.0"),
        dependency("torch"),
    ],
    ids=lambda entry: f"{entry.requirement} {entry.location.path}",
)
def test_requirements_that_a_stack_with_python_3_12_meets(unmet, entry):
    assert unmet(entry) == ()


def test_a_pin_without_a_wheel(unmet):
    assert unmet(dependency("a==1.5"), dependency("b==2.0")) == ("no wheel for Python 3.12: a==1.5, b==2.0",)
    assert unmet(dependency("a==1.5"), dependency("b==2.0"), version="3.10") == ()


def test_a_range_without_a_release_that_has_a_wheel(unmet):
    assert unmet(dependency("a>=1.2,<2")) == ("no wheel for Python 3.12: a<2,>=1.2",)


def test_a_pin_that_a_route_replaces_does_not_count(make, bounds):
    assert bounds(dependency("a==1.5")).unmet(make.stack("s"), ["b"], WHEELS) == ()


def test_the_first_file_decides_about_a_name(unmet):
    pinned = dependency("a==1.5", "setup.py")
    assert unmet(dependency("a>=1"), pinned) == ()
    assert unmet(dependency("a>=1", "install.sh"), pinned) != ()


def test_conditions_are_evaluated_for_the_python_of_the_stack(unmet):
    entries = dependency("a==1.5 ; python_version < '3.12'"), dependency("a==2.5 ; python_version >= '3.12'")
    assert unmet(*entries) == unmet(*entries, version="3.10") == ()


@pytest.mark.parametrize("condition", ["os_name ~= 'x'", "python_version ~= 'new'", "platform_release >= '5'"])
def test_a_condition_that_compares_nonsense_is_no_error(unmet, condition):
    assert unmet(dependency(f"a==1.5 ; {condition}")) in ((), ("no wheel for Python 3.12: a==1.5",))


def test_many_pins_are_counted(make, bounds):
    names = [f"n{number}" for number in range(8)]
    wheels = {name: record for name in names for record in wheel(name, (">=0", "<3.11")).values()}
    (text,) = bounds(*(dependency(f"{name}==1") for name in names)).unmet(make.stack("s"), names, wheels)
    assert text == "no wheel for Python 3.12: n0==1, n1==1, n2==1, n3==1, n4==1 and 3 more"


@pytest.mark.parametrize(("specifier", "version"), [(">=3.8", "3.12"), (">=3.10.4", "3.10"), ("~=3.7", "3.12")])
def test_a_required_python_that_the_stack_has(unmet, specifier, version):
    assert unmet(pythons=(python(specifier, required=True),), version=version) == ()


def test_a_required_python_that_the_stack_does_not_have(unmet):
    pythons = python(">=3.8,<3.12", required=True), python("==3.9.*")
    assert unmet(pythons=pythons) == ("Python >=3.8,<3.12 is required (pyproject.toml:3)",)


def test_a_range_of_torch_counts(unmet):
    assert unmet(dependency("torch>=2.0,<2.9")) == ("torch<2.9,>=2.0 is required (requirements.txt:1)",)
    assert unmet(dependency("torch>=2.0,<2.9"), torch="2.8.0") == ()
    assert unmet(dependency("torch~=2.0")) == ()


def test_another_environment(make, bounds):
    stack = make.stack("s", python="3.12", torch="2.9.1")
    own = bounds(dependency("torch==2.6.0"), pythons=(python("==3.10.*", path="README.md"),))
    assert own.unlike(stack) == ("Python 3.10 (README.md:3)", "torch==2.6.0 (requirements.txt:1)")
    assert own.unlike(make.stack("s", python="3.10", torch="2.6.0")) == ()


def test_one_of_several_environments_is_enough(make, bounds):
    pythons = python("==3.8.*"), python("==3.12.*")
    assert bounds(pythons=pythons).unlike(make.stack("s", python="3.12")) == ()


@pytest.mark.parametrize(
    ("text", "version"),
    [("a==1.5", "3.12"), ("b>=2", "3.10"), ("b==3.1", "3.10"), ("b==2.0", "3.12"), ("c==1", "3.10")],
)
def test_releases_that_pypi_has_or_no_index(bounds, text, version):
    entry = dependency(text)
    assert bounds(entry).elsewhere(entry.name, version, WHEELS) is None


def test_releases_of_another_index(bounds):
    wheel_range = bounds(dependency("b==2.0")).elsewhere("b", "3.10", WHEELS)
    assert wheel_range is not None
    assert wheel_range.index == ELSEWHERE


@given(st.sampled_from(["3.10", "3.11", "3.12", "3.13"]), st.integers(0, 4), st.integers(0, 20))
def test_every_pin_has_a_wheel_or_is_named(version, major, minor):
    """The ranges of a record leave no gap, so each pin is in exactly one."""
    pin = dependency(f"a=={major}.{minor}")
    repository = RepositoryBounds(entries=RepositoryBounds.of(_inventory(pin)).entries)
    texts = repository.unmet(_stack(version), ["a"], WHEELS)
    has_wheel = (major == 1 and version in ("3.10", "3.11")) or (major >= 2 and version != "3.10")
    assert bool(texts) is not has_wheel


def _inventory(*dependencies):
    from .conftest import Make

    return Make.scan(dependencies=dependencies).inventory


def _stack(version):
    from .conftest import Make

    return Make.stack("s", python=version)
