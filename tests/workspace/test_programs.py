"""A repository, or the working folder, cannot bring a program that rocm3d then runs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocm3d.model.errors import MachineError
from rocm3d.workspace import programs
from rocm3d.workspace.process import run
from rocm3d.workspace.programs import (
    exclude_repository,
    find_program,
    passes_through,
    search_path,
    with_absolute_path,
)


@pytest.fixture(autouse=True)
def _no_repositories(monkeypatch):
    monkeypatch.setattr(programs, "_repositories", [])


@pytest.fixture
def repository(tmp_path):
    root = tmp_path / "repository"
    root.mkdir()
    return root


def make_program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho ran\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("entry", ["", ".", "bin", "../repository/bin", ":"])
def test_relative_entry_of_the_path_finds_nothing(repository, monkeypatch, entry):
    make_program(repository / "nobody")
    make_program(repository / "bin" / "nobody")
    monkeypatch.chdir(repository)
    monkeypatch.setenv("PATH", f"{entry}{os.pathsep}/usr/bin")

    assert find_program("nobody") is None
    with pytest.raises(MachineError, match="nobody is not installed"):
        run(["nobody"], cwd=repository)


def test_child_finds_no_program_in_its_working_folder(repository, monkeypatch):
    make_program(repository / "nobody")
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")

    assert run(["sh", "-c", "nobody"], cwd=repository).code == 127
    assert with_absolute_path({"PATH": "/bin:/usr/bin"}) == {"PATH": "/bin:/usr/bin"}
    assert with_absolute_path({"A": "b", "PATH": ".:/bin:"}) == {"A": "b", "PATH": "/bin"}


@pytest.mark.parametrize("form", ["plain", "linked folder", "linked program"])
def test_program_of_a_repository_is_not_found(repository, tmp_path, form):
    program = make_program(repository / ".venv" / "bin" / "nobody")
    folder = program.parent
    if form == "linked folder":
        folder = tmp_path / "bin"
        folder.symlink_to(program.parent)
    elif form == "linked program":
        folder = tmp_path / "bin"
        folder.mkdir()
        (folder / "nobody").symlink_to(program)
    environment = {"PATH": str(folder)}

    assert find_program("nobody", environment) is not None
    exclude_repository(repository)
    assert find_program("nobody", environment) is None


def test_same_program_elsewhere_is_found(repository, tmp_path):
    make_program(repository / "bin" / "nobody")
    own = make_program(tmp_path / "own" / "nobody")
    exclude_repository(repository)
    environment = {"PATH": f"{repository}/bin{os.pathsep}{own.parent}"}

    assert find_program("nobody", environment) == str(own)
    assert search_path(environment) == str(own.parent)
    assert run(["nobody"], env=environment).stdout == b"ran\n"


def test_path_through_a_link_of_the_repository_passes_through_it(repository, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (repository / "out").symlink_to(outside)
    (tmp_path / "in").symlink_to("repository/out")

    assert passes_through(tmp_path / "in", repository)
    assert passes_through(repository / "missing" / "x", repository)
    assert not passes_through(outside, repository)
    assert not passes_through(tmp_path / "repository2", repository)
    assert not passes_through(outside, tmp_path / "missing")


def test_loop_of_links_ends(repository, tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    assert not passes_through(tmp_path / "a", repository)
