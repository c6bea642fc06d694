from __future__ import annotations

import pytest

from rocm3d.verify.resolution.builds import of_git_line, of_install, of_name
from rocm3d.verify.resolution.commands import installs
from rocm3d.verify.resolution.remembered import Remembered
from rocm3d.verify.resolution.session import resolver_named, session
from rocm3d.verify.resolution.sets import Line


@pytest.fixture
def here(knowledge, stack, index):
    with session(Remembered(resolver_named("uv"), {}), stack, knowledge, "linux") as opened:
        yield opened


@pytest.fixture
def first_build(ported, make_decision, here):
    def make(*commands: tuple[str, ...], tree=None):
        made = ported(tree, [make_decision("x", "build", commands=commands)])
        return of_install(next(installs(made.plan)), made.tree, here)[0]

    return make


def test_a_name_that_the_index_does_not_have_is_a_reason(here):
    assert "not-there" in of_name("not-there", "not-there", here).why


def test_source_with_neither_file_is_a_reason(here, index):
    index.sdist("a", "1.0")

    assert of_name("a", "a", here).why == "its source has neither pyproject.toml nor setup.py"


def test_a_requirement_that_is_no_repository_is_none(here):
    assert of_git_line(Line("a", "a"), here) is None


def test_a_repository_that_does_not_answer_is_a_reason(here):
    line = Line("a", "a", "git+http://127.0.0.1:9/o/a")

    assert "does not respond" in of_git_line(line, here).why


def test_a_folder_that_an_earlier_command_clones_is_looked_for_there(first_build):
    found = first_build(
        ("git", "clone", "http://127.0.0.1:9/o/gsplat.git", "rocm-gsplat"),
        ("pip", "install", "--no-build-isolation", "./rocm-gsplat/inner"),
    )

    assert found.why.startswith("http://127.0.0.1:9/o/gsplat.git does not respond")
    assert found.open


def test_a_wheel_is_no_answer_where_the_command_forbids_it(first_build, index):
    index.wheel("a", "1.0", tag="cp312-cp312-manylinux_2_28_x86_64")

    assert first_build(("pip", "install", "a")).wheel
    assert not first_build(("pip", "install", "--no-binary", "a", "a")).wheel


def test_an_archive_by_its_address(first_build, index):
    url = f"{index.url.removesuffix('/simple')}/files/{index.sdist('a', '1.0', setup='import torch').name}"

    assert first_build(("pip", "install", url)).files.setup == b"import torch"


def test_files_of_the_tree(first_build):
    found = first_build(("pip", "install", "./ext"), tree={"ext/setup.py": "x"})

    assert (found.name, found.files.setup, found.open) == ("ext", b"x", False)
