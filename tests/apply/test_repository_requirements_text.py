from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from rocm3d.apply.repository_requirements import pip_requirement
from rocm3d.manifest.manifest import Mention


def requirement_line(text: str, version: str = "", url: str = "", extras: tuple[str, ...] = ()) -> str:
    return pip_requirement(Mention("some", text, 1, 1, 1, version=version, url=url, extras=frozenset(extras)))


@pytest.mark.parametrize(
    ("text", "version", "line"),
    [
        ("some", "", "some"),
        ("some>=1,<2 ; python_version < '3.9'", "", 'some<2,>=1; python_version < "3.9"'),
        ("some[b,a]==1.*", "", "some[a,b]==1.*"),
        ("some ^1.2.3", "^1.2.3", "some>=1.2.3,<2"),
        ("some ^0.2.3", "^0.2.3", "some>=0.2.3,<0.3"),
        ("some ^0.0", "^0.0", "some>=0.0,<0.1"),
        ("some *", "*", "some"),
        ("some=1.2", "=1.2", "some==1.2.*"),
        ("some=1.2=py39_0", "=1.2=py39_0", "some==1.2.*"),
        ("some 1.2", "1.2", "some==1.2.*"),
        ("some ~1.2", "~1.2", "some>=1.2,<1.3"),
        ("some >1.x", ">1.x", "some"),
    ],
)
def test_versions_of_other_tools_become_pips_or_are_left_out(text, version, line):
    assert requirement_line(text, version) == line


def test_separate_extras_are_added():
    assert requirement_line("some ~=2.0", "~=2.0", extras=("b", "a")) == "some[a,b]~=2.0"


def test_an_address_keeps_its_name():
    assert requirement_line("https://host/some-1-py3-none-any.whl", url="https://host/some-1-py3-none-any.whl") == (
        "some @ https://host/some-1-py3-none-any.whl"
    )


@given(st.text(alphabet="^~=<>!*0123456789.ab-, ", max_size=12))
def test_pip_can_read_any_version(version):
    Requirement(requirement_line("(", version))
