"""scripts/wheel_ranges.py, without network, and the table that it wrote."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocm3d.plan.version_ranges import is_satisfiable

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import wheel_ranges as script

LINUX = "manylinux_2_17_x86_64.manylinux2014_x86_64"


@pytest.mark.parametrize(
    "name",
    [
        "a-1.0-cp312-cp312-win_amd64.whl",
        "a-1.0-cp312-cp312-macosx_11_0_arm64.whl",
        "a-1.0-cp312-cp312-manylinux_2_17_aarch64.whl",
        "a-1.0-cp312-cp312-musllinux_1_1_x86_64.whl",
        f"a-1.0-cp313-cp313t-{LINUX}.whl",
        f"a-1.0-pp310-pypy310_pp73-{LINUX}.whl",
        "a-1.0.tar.gz",
        "a-1.0-py2-none-any.whl",
    ],
)
def test_files_without_a_wheel_for_linux(name):
    assert script.wheel_minors([name]) == {Version("1.0"): frozenset()}


@pytest.mark.parametrize("name", ["a.exe", "a-1.0.egg", "a-x-py3-none-any.whl", "a-1.0-cp312.whl"])
def test_other_files_are_left_out(name):
    assert script.wheel_minors([name]) == {}


@pytest.mark.parametrize(
    ("name", "minors"),
    [
        (f"a-1.0-cp312-cp312-{LINUX}.whl", {12}),
        (f"a-1.0-cp311-abi3-{LINUX}.whl", {11, 12, 13, 14}),
        ("a-1.0-py3-none-any.whl", {10, 11, 12, 13, 14}),
        (f"a-1.0-py3-none-{LINUX}.whl", {10, 11, 12, 13, 14}),
    ],
)
def test_versions_of_python_of_a_file(name, minors):
    assert script.wheel_minors([name]) == {Version("1.0"): minors}


def test_yanked_files_do_not_count():
    page = '<a href="x">a-1.0.tar.gz</a> <a href="y" data-yanked="bad">a-2.0.tar.gz</a>'
    assert script.file_names(page) == ["a-1.0.tar.gz"]


def test_neighbours_with_the_same_pythons_are_one_range():
    minors = {Version(text): frozenset(listed) for text, listed in (("1", {10, 11}), ("2", {10, 11}), ("3", {11, 12}))}
    assert [(item.versions, item.python) for item in script.wheel_ranges(minors)] == [
        ("<3", "<3.12"),
        (">=3", ">=3.11,<3.13"),
    ]


@given(st.sets(st.sampled_from(list(script.MINORS))))
def test_a_range_of_pythons_has_exactly_these(minors):
    specifier = SpecifierSet(script.python_range(minors))
    assert {minor for minor in script.MINORS if specifier.contains(f"3.{minor}.5")} == minors


@given(
    st.dictionaries(st.integers(0, 30).map(lambda n: Version(f"1.{n}")), st.frozensets(st.integers(10, 14)), min_size=1)
)
def test_every_release_is_in_one_range(minors):
    ranges = script.wheel_ranges(minors)
    for version, listed in minors.items():
        (fitting,) = [item for item in ranges if SpecifierSet(item.versions).contains(version)]
        assert {minor for minor in script.MINORS if SpecifierSet(fitting.python).contains(f"3.{minor}.0")} == listed


def test_the_table_leaves_no_gap(knowledge):
    """Each range begins where the one before ends, so a pin is in exactly one."""
    assert knowledge.wheels
    for record in knowledge.wheels.values():
        ends = [[item.version for item in SpecifierSet(row.versions) if item.operator == "<"] for row in record.ranges]
        starts = [
            [item.version for item in SpecifierSet(row.versions) if item.operator == ">="] for row in record.ranges
        ]
        assert [Version(end[0]) for end in ends[:-1]] == [Version(start[0]) for start in starts[1:]], record.id
        assert ends[-1] == []
        assert starts[0] in ([], ["0"])
        assert all(is_satisfiable((row.python,)) for row in record.ranges)


def test_an_index_of_the_table_is_public(knowledge):
    indexes = {row.index for record in knowledge.wheels.values() for row in record.ranges if row.index}
    assert indexes
    assert all(knowledge.is_public_index(index) for index in indexes)
