"""install.sh of a port installs what is locked, by hash and commit, and the rest only with --unlocked."""

from __future__ import annotations

import hashlib
import shutil

import pytest

pytestmark = pytest.mark.engines


def release(path, name: str = "numpy") -> dict[str, object]:
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    files = [{"name": path.name, "sha256": digest}]
    return {"name": name, "version": path.name.split("-")[1], "index": "https://pypi.org/simple", "files": files}


def test_what_is_not_locked_is_refused_before_anything_is_installed(machine, make_plan, make_stack):
    (machine.root / "requirements.txt").write_text("numpy\n")
    machine.render(make_plan(base=make_stack()))
    ended = machine.install(ROCM3D_ALLOW_UNLOCKED="")
    assert ended.returncode == 1
    assert "1 not locked: numpy" in ended.stderr
    assert "rocm3d plan . --gpu mi300x --lock" in ended.stderr
    assert "numpy" not in machine.versions()
    assert machine.install("--dry-run", ROCM3D_ALLOW_UNLOCKED="").returncode == 0
    allowed = machine.install("--unlocked", ROCM3D_ALLOW_UNLOCKED="")
    assert allowed.returncode == 0, allowed.stderr
    assert "not locked: numpy" in allowed.stdout


def test_locked_requirements_are_installed_without_asking(machine, make_plan, make_stack, make_wheel):
    """A newer release, and another file of the same version, do not come in."""
    (machine.root / "requirements.txt").write_text("numpy\n")
    resolved = {"packages": [release(machine.wheels / "numpy-1.0-py3-none-any.whl")]}
    make_wheel(machine.wheels, "numpy", "2.0")
    machine.render(make_plan(base=make_stack(), resolved=resolved))
    ended = machine.install(ROCM3D_ALLOW_UNLOCKED="")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert machine.versions()["numpy"] == "1.0"
    machine.pip("uninstall", "-y", "numpy")
    make_wheel(machine.wheels, "numpy", "1.0", files={"numpy/__init__.py": "# of a stranger"})
    ended = machine.install(ROCM3D_ALLOW_UNLOCKED="")
    assert ended.returncode == 1
    assert "numpy" not in machine.versions()


def test_a_recorded_release_of_a_route_is_checked(machine, make_plan, make_stack, make_decision, make_wheel):
    locked = release(make_wheel(machine.wheels, "b-rocm", "1.0"), "b-rocm")
    make_wheel(machine.wheels, "b-rocm", "9.9")
    command = ("pip", "install", "--no-deps", "b-rocm")
    decisions = (make_decision("b", "replace", commands=(command,), locked=(locked,)),)
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    ended = machine.install(ROCM3D_ALLOW_UNLOCKED="")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert machine.versions()["b-rocm"] == "1.0"


def test_a_checkout_has_its_commit_and_its_build_fetches_nothing(
    machine, make_plan, make_stack, make_decision, make_project, make_clone, tmp_path
):
    source = make_project(tmp_path / "away" / "dep", "dep", requires="numpy")
    address, commit = make_clone(source)
    (source / "later.txt").write_text("later")
    make_clone(source)
    pin = {"commit": commit, "of": "the head of main", "checked": "2026-11-18"}
    command = ("pip", "install", "--no-build-isolation", f"git+{address}")
    tools = [
        release(next(machine.wheels.glob(f"{name}-*")), name) for name in ("setuptools", "wheel", "ninja", "packaging")
    ]
    machine.render(
        make_plan(
            base=make_stack(), tools=tools, decisions=(make_decision("dep", "build", commands=(command,), pin=pin),)
        )
    )
    ended = machine.install(ROCM3D_ALLOW_UNLOCKED="")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"dep {address} {commit}" in (machine.root / ".rocm3d" / "install" / "commits.txt").read_text()
    assert "dep" in machine.versions()
    assert "numpy" not in machine.versions(), "a dependency without a hash"
    clone = machine.root / ".rocm3d" / "install" / "build" / f"dep-{commit}"
    shutil.rmtree(clone)
    shutil.copytree(source, clone)  # of the same address, at another commit
    (clone / ".git" / "config").write_text(f'[core]\nbare = false\n[remote "origin"]\nurl = {address}\n')
    moved = machine.install(ROCM3D_ALLOW_UNLOCKED="")
    assert moved.returncode == 1
    assert f"is not at commit {commit}" in moved.stderr


def test_a_build_requirement_without_a_hash_is_refused(machine, make_plan, make_stack, make_project, make_wheel):
    make_wheel(machine.wheels, "odd-backend", "1.0")
    make_project(machine.root, "outer", build='"odd-backend"')
    tools = [
        release(next(machine.wheels.glob(f"{name}-*")), name) for name in ("setuptools", "wheel", "ninja", "packaging")
    ]
    machine.render(make_plan(base=make_stack(), tools=tools))
    ended = machine.install(ROCM3D_ALLOW_UNLOCKED="")
    assert ended.returncode == 1
    assert "the build requires odd-backend, which is not locked" in ended.stderr


def test_a_build_requirement_of_another_index_is_refused(
    machine, make_plan, make_stack, make_project, make_wheel, make_decision
):
    make_wheel(machine.wheels, "private-backend", "9.9")
    make_project(machine.root, "outer", build='"Private_Backend>=1"')
    decisions = (make_decision("private-backend", "keep", package=None, task="its URL has a variable"),)
    machine.render(make_plan(base=make_stack(), decisions=decisions))
    ended = machine.install()
    assert ended.returncode == 1
    assert "the build requires Private_Backend>=1, which another index has" in ended.stderr
    assert "private-backend" not in machine.versions()
