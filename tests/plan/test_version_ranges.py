from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocm3d.plan.version_ranges import is_satisfiable


@pytest.mark.parametrize(
    "ranges",
    [
        ("<2", ">=2"),
        ("==1.26.4", "!=1.26.4"),
        ("==1.26.*", ">=1.27"),
        (">1,<2", "==2.0"),
        ("<0", ">=0"),
        ("~=1.4", ">=2,<3"),
        (">=2.0rc1", "<2.0"),  # a pre-release of 2.0 is not below 2.0 (PEP 440)
    ],
)
def test_ranges_without_a_common_version(ranges):
    assert not is_satisfiable(ranges)


@pytest.mark.parametrize(
    "ranges",
    [
        (),
        ("",),
        ("<2", "==1.26.4"),
        (">1.24", "<1.24.2"),
        (">1,<2", "!=1.5"),
        ("==1.*", ">1.9"),
        ("<2", "no range at all"),
        ("===odd", ""),
    ],
)
def test_ranges_with_a_common_version(ranges):
    assert is_satisfiable(ranges)


numbers = st.builds(lambda parts: ".".join(map(str, parts)), st.lists(st.integers(0, 4), min_size=1, max_size=3))
ranges = st.builds(lambda word, number: f"{word}{number}", st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers)


@given(st.lists(ranges, min_size=1, max_size=4), st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_satisfiable_if_a_version_is_in_all_ranges(texts, release):
    version = Version(".".join(map(str, release)))
    if all(SpecifierSet(text).contains(version) for text in texts):
        assert is_satisfiable(texts)
