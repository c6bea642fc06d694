"""An interpreter that came with a repository runs only if the user names it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rocm3d.host.interpreter import find_interpreter
from rocm3d.model.errors import MachineError, UserError


@pytest.fixture
def repository(tmp_path, monkeypatch):
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    root = tmp_path / "repository"
    root.mkdir()
    return root


def make_environment(root: Path) -> Path:
    (root / "bin").mkdir(parents=True)
    (root / "lib" / "python3.12" / "site-packages").mkdir(parents=True)
    (root / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    (root / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).resolve().parent}\n")
    return root / "bin" / "python"


def test_no_interpreter(repository):
    with pytest.raises(MachineError, match="no Python environment found"):
        find_interpreter(repository, None)
    with pytest.raises(UserError, match="no such file"):
        find_interpreter(repository, repository / "nobody")


def test_interpreter_of_the_repository_is_refused_with_the_option_that_runs_it(repository):
    python = make_environment(repository / ".venv")

    with pytest.raises(MachineError, match="is part of the repository, so it runs only if you name it") as refused:
        find_interpreter(repository, None)
    assert refused.value.hint == f"pass --python {python}"
    assert find_interpreter(repository, python) == python


def test_option_can_be_pasted_into_a_shell(tmp_path, repository):
    root = tmp_path / "a b; rm"
    python = make_environment(root / ".venv")

    with pytest.raises(MachineError) as refused:
        find_interpreter(root, None)
    assert refused.value.hint == f"pass --python '{python}'"


def linked_environment(outside: Path, repository: Path) -> Path:
    make_environment(repository / "env")
    outside.symlink_to(repository / "env")
    return outside


def linked_interpreter(outside: Path, repository: Path) -> Path:
    make_environment(outside)
    (repository / "python").symlink_to(sys.executable)
    (outside / "bin" / "python").unlink()
    (outside / "bin" / "python").symlink_to(repository / "python")
    return outside


def linked_packages(outside: Path, repository: Path) -> Path:
    make_environment(outside)
    packages = outside / "lib" / "python3.12" / "site-packages"
    packages.rmdir()
    packages.symlink_to(repository)
    return outside


def linked_settings(outside: Path, repository: Path) -> Path:
    make_environment(outside)
    (repository / "pyvenv.cfg").write_text((outside / "pyvenv.cfg").read_text())
    (outside / "pyvenv.cfg").unlink()
    (outside / "pyvenv.cfg").symlink_to(repository / "pyvenv.cfg")
    return outside


def base_in_the_repository(outside: Path, repository: Path) -> Path:
    make_environment(outside)
    (outside / "pyvenv.cfg").write_text(f"include-system-site-packages = false\nhome = {repository}/bin\n")
    return outside


def link_that_leaves_again(outside: Path, repository: Path) -> Path:
    make_environment(outside)
    (repository / "env").symlink_to(outside)
    return repository / "env"


@pytest.mark.parametrize(
    "make",
    [
        linked_environment,
        linked_interpreter,
        linked_packages,
        linked_settings,
        base_in_the_repository,
        link_that_leaves_again,
        lambda _, repository: make_environment(repository / "env").parents[1],
    ],
)
def test_active_environment_that_leads_into_the_repository_is_refused(repository, tmp_path, monkeypatch, make):
    environment = make(tmp_path / "outside", repository)
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))

    with pytest.raises(MachineError, match="is part of the repository"):
        find_interpreter(repository, None)
    assert find_interpreter(repository, environment / "bin" / "python") == environment / "bin" / "python"


def test_environment_of_the_checkout_around_the_folder_is_refused(repository, monkeypatch):
    make_environment(repository / "env")
    (repository / ".git").mkdir()
    (repository / "part").mkdir()
    monkeypatch.setenv("VIRTUAL_ENV", str(repository / "env"))

    with pytest.raises(MachineError, match="is part of the repository"):
        find_interpreter(repository / "part", None)


def test_home_folder_under_git_is_no_repository(repository, monkeypatch):
    make_environment(repository / "env")
    (repository / ".git").mkdir()
    (repository / "part").mkdir()
    monkeypatch.setenv("HOME", str(repository))
    monkeypatch.setenv("VIRTUAL_ENV", str(repository / "env"))

    assert find_interpreter(repository / "part", None) == repository / "env" / "bin" / "python"


def test_active_environment_elsewhere_is_used_whatever_the_repository_has(repository, tmp_path, monkeypatch):
    make_environment(repository / ".venv")
    python = make_environment(tmp_path / "outside")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "outside"))

    assert find_interpreter(repository, None) == python


def test_own_environment_is_never_used(repository, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)

    with pytest.raises(MachineError, match="no Python environment found"):
        find_interpreter(repository, None)


def test_relative_path_becomes_absolute(repository, monkeypatch):
    """Checks run in another folder."""
    python = make_environment(repository / ".venv")
    monkeypatch.chdir(repository)

    assert find_interpreter(repository, Path(".venv/bin/python")) == python
