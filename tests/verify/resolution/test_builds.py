from __future__ import annotations

import pytest

from rocm3d.verify.resolution.builds import (
    build_of_distribution,
    build_of_git_line,
    builds_of_command,
    install_commands,
)
from rocm3d.verify.resolution.session import find_resolver, open_session
from rocm3d.verify.resolution.sets import RequirementLine


@pytest.fixture
def resolver_session(knowledge, stack, index):
    with open_session(find_resolver("uv"), stack, knowledge, "linux") as opened:
        yield opened


@pytest.fixture
def first_build(ported, make_decision, resolver_session):
    def make(*commands: tuple[str, ...], tree=None):
        plain_case = ported(tree, [make_decision("x", "build", commands=commands)])
        return builds_of_command(next(install_commands(plain_case.plan)), plain_case.tree, resolver_session)[0]

    return make


def test_an_unknown_distribution_has_a_reason(resolver_session):
    assert "not-there" in build_of_distribution("not-there", "not-there", resolver_session).unavailable_reason


def test_a_source_without_build_files_has_a_reason(resolver_session, index):
    index.sdist("a", "1.0")

    assert (
        build_of_distribution("a", "a", resolver_session).unavailable_reason
        == "its source has neither pyproject.toml nor setup.py"
    )


def test_a_requirement_without_a_git_url_is_none(resolver_session):
    assert build_of_git_line(RequirementLine("a", "a"), resolver_session) is None


def test_an_unreachable_repository_has_a_reason(resolver_session):
    line = RequirementLine("a", "a", "git+http://127.0.0.1:9/o/a")

    assert "does not respond" in build_of_git_line(line, resolver_session).unavailable_reason


def test_a_folder_that_an_earlier_command_clones_is_read_from_its_repository(first_build):
    result = first_build(
        ("git", "clone", "http://127.0.0.1:9/o/gsplat.git", "rocm-gsplat"),
        ("pip", "install", "--no-build-isolation", "./rocm-gsplat/inner"),
    )

    assert result.unavailable_reason.startswith("http://127.0.0.1:9/o/gsplat.git does not respond")
    assert result.open


def test_no_binary_ignores_wheels(first_build, index):
    index.wheel("a", "1.0", tag="cp312-cp312-manylinux_2_28_x86_64")

    assert first_build(("pip", "install", "a")).wheel
    assert not first_build(("pip", "install", "--no-binary", "a", "a")).wheel


def test_files_of_an_archive_url(first_build, index):
    url = f"{index.url.removesuffix('/simple')}/files/{index.sdist('a', '1.0', setup='import torch').name}"

    assert first_build(("pip", "install", url)).files.setup == b"import torch"


def test_files_of_the_tree(first_build):
    result = first_build(("pip", "install", "./ext"), tree={"ext/setup.py": "x"})

    assert (result.name, result.files.setup, result.open) == ("ext", b"x", False)
