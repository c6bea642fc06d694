"""lock.json lists what a port fetches: locked with a hash or commit, else with the reason why not."""

from __future__ import annotations

import json

import pytest

from rocm3d.apply.additions.container import render as container
from rocm3d.apply.additions.install import render as install
from rocm3d.apply.additions.lock import render
from rocm3d.model.lock import Lock
from rocm3d.workspace.tree import Tree

COMMIT, SHA = "c" * 40, "0" * 64


def release(name: str, *files: str, version: str = "1.0") -> dict[str, object]:
    listed = [{"name": file, "sha256": SHA} for file in files]
    return {"name": name, "version": version, "index": "https://pypi.org/simple", "files": listed}


@pytest.fixture
def lock(tmp_path):
    def read(plan) -> Lock:
        return Lock.model_validate(json.loads(render(plan, Tree.open(tmp_path), "rocm-port")["lock.json"]))

    return read


def unlocked(lock: Lock) -> dict[str, str]:
    return {item.name: f"{item.kind}: {item.reason}" for item in lock.unlocked}


def test_what_has_no_hash_commit_or_digest_is_listed_with_its_reason(
    tmp_path, lock, make_plan, make_decision, make_stack
):
    (tmp_path / "requirements.txt").write_text("numpy\ngit+https://host/dep.git@v1\n")
    commands = (("pip", "install", "--no-build-isolation", "--no-deps", "git+https://host/a.git"),)
    decisions = (
        make_decision("numpy", "keep", package=None),
        make_decision("a", "build", commands=commands, unpinned="nobody could read it"),
        make_decision("b", "replace", commands=(("pip", "install", "--no-deps", "b-rocm"),)),
        make_decision("c", "keep", package=None, index="https://host/simple", requirement="c"),
    )
    (tmp_path / "setup.sh").write_text("pip install c\n")
    plan = make_plan(base=make_stack(unpinned="no registry"), decisions=decisions)
    assert unlocked(lock(plan)) == {
        "numpy": "package: requirements.txt:1: a name without a hash; `rocm3d plan --lock` resolves it",
        "https://host/dep.git": "checkout: v1 is no commit",
        "https://host/a.git": "checkout: nobody could read it",
        "b-rocm": "package: no release is recorded",
        "c": "package: its index was not read",
        "rocm/pytorch:tag": "image: no registry",
        **dict.fromkeys(("setuptools", "wheel", "ninja", "packaging"), "package: no release is recorded"),
    }
    script = install(plan, Tree.open(tmp_path), "rocm-port")["install.sh"].decode()
    assert "\nunlocked https://host/a.git\n" in script
    assert "\nunlocked numpy\n" in script


def test_a_commit_replaces_the_branch_of_a_route(tmp_path, lock, make_plan, make_decision):
    pin = {"commit": COMMIT, "of": "rocm of 2026-01-01", "checked": "2026-11-18"}
    commands = (
        ("git", "clone", "-b", "rocm", "https://host/a.git", "there"),
        ("pip", "install", "--no-deps", "./there"),
        ("pip", "install", "--no-deps", "git+https://host/a.git@refs/pull/1/head#subdirectory=x"),
    )
    plan = make_plan(decisions=(make_decision("a", "build", commands=commands, pin=pin),))
    document = lock(plan)
    assert [(item.url, item.commit, item.of) for item in document.checkouts] == [
        ("https://host/a.git", COMMIT, "rocm of 2026-01-01")
    ]
    assert all(item.kind != "checkout" for item in document.unlocked)
    script = install(plan, Tree.open(tmp_path), "rocm-port")["install.sh"].decode()
    assert script.count(f"fetch a-{COMMIT} a https://host/a.git {COMMIT}") == 2
    assert "refs/pull" not in script


def test_a_recorded_release_is_installed_by_its_hashes(tmp_path, make_plan, make_decision):
    wheel, source = release("b-rocm", "b_rocm-1.0-py3-none-any.whl"), release("s", "s-1.0.tar.gz")
    decisions = (
        make_decision("b", "replace", commands=(("pip", "install", "--no-deps", "b-rocm>=1"),), locked=(wheel,)),
        make_decision("s", "replace", commands=(("pip", "install", "--no-deps", "s"),), locked=(source,)),
        make_decision(
            "t", "build", commands=(("pip", "install", "--no-build-isolation", "--no-deps", "s"),), locked=(source,)
        ),
    )
    files = render(plan := make_plan(decisions=decisions), Tree.open(tmp_path), "rocm-port")
    assert files["locked.txt"].decode() == f"b-rocm==1.0 --hash=sha256:{SHA}\ns==1.0 --hash=sha256:{SHA}\n"
    lines = install(plan, Tree.open(tmp_path), "rocm-port")["install.sh"].decode().splitlines()
    assert "pip_locked --no-deps --only-binary=:all: b-rocm" in lines
    assert "pip_locked --no-build-isolation --no-deps s" in lines
    # Its isolated build fetches what no hash covers.
    assert lines[lines.index("pip_locked --no-deps s") - 1] == "unlocked s"


def test_resolved_requirements_replace_names(tmp_path, lock, make_plan):
    (tmp_path / "requirements.txt").write_text("numpy\nold\n")
    missing = {"kind": "package", "name": "old", "reason": "it has no wheel"}
    resolved = {"packages": [release("numpy", "numpy-1.0-py3-none-any.whl")], "unlocked": [missing]}
    plan = make_plan(resolved=resolved)
    assert unlocked(lock(plan)) == {"old": "package: it has no wheel"}
    script = install(plan, Tree.open(tmp_path), "rocm-port")["install.sh"].decode()
    locked = 'pip_install --require-hashes --no-deps --only-binary=:all: -r "$port"/requirements-locked.txt'
    assert (
        script.index(locked)
        < script.index("\nunlocked old\n")
        < script.index('pip_install -r "$port"/requirements.txt')
    )
    plan = make_plan(resolved={**resolved, "unlocked": []})
    assert (
        "not locked:"
        not in install(plan, Tree.open(tmp_path), "rocm-port")["install.sh"]
        .decode()
        .partition("== step")[0]
        .partition("dry_run$allowed")[2]
    )


def test_the_image_is_used_by_its_digest(tmp_path, lock, make_plan, make_stack):
    plan = make_plan(base=make_stack(digest=f"sha256:{SHA}"))
    assert [image.digest for image in lock(plan).images] == [f"sha256:{SHA}"]
    dockerfile = container(plan, Tree.open(tmp_path), "rocm-port")["Dockerfile"].decode()
    assert f"FROM rocm/pytorch:tag@sha256:{SHA}\n" in dockerfile
