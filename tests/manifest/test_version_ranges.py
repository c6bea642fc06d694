from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from rocm3d.manifest.version_ranges import pip_specifier


@pytest.mark.parametrize("text", ["", "latest", "3.8 || 3.9", "^", "~", ">=", "^1.x", "3.10a b"])
def test_a_text_without_an_equivalent_is_empty(text):
    assert pip_specifier(text) == ""


@pytest.mark.parametrize(
    ("text", "specifier"),
    [
        (">=3.8,<3.13", "<3.13,>=3.8"),
        ("==3.10.*", "==3.10.*"),
        ("3.10", "==3.10.*"),
        ("=3.10", "==3.10.*"),
        ("3.10.*", "==3.10.*"),
        ("1.26.4=py310h5f9d8c6_0", "==1.26.4.*"),
        ("^3.8", ">=3.8,<4"),
        ("^0.2.3", ">=0.2.3,<0.3"),
        ("^0.0", ">=0.0,<0.1"),
        ("~3.10", ">=3.10,<3.11"),
        ("~3.10.4", ">=3.10.4,<3.11"),
        ("~1", ">=1,<2"),
        ("~=3.7", "~=3.7"),
    ],
)
def test_ranges_of_other_tools(text, specifier):
    assert pip_specifier(text) == specifier


@given(st.text(alphabet="^~=<>!.,*0123456789 abc", max_size=20))
def test_the_result_is_always_a_range_of_pip(text):
    SpecifierSet(pip_specifier(text))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=4), st.sampled_from(["^", "~", "=", ""]))
def test_a_version_is_in_its_own_range(parts, operator):
    version = ".".join(map(str, parts))
    assert SpecifierSet(pip_specifier(f"{operator}{version}")).contains(version)
