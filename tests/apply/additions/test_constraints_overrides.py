from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from rocm3d.apply.additions.constraints import render
from rocm3d.workspace.tree import Tree

UV = Path(sys.executable).parent / "uv"


def lines(tmp_path, plan) -> list[str]:
    text = render(plan, Tree.open(tmp_path), "rocm-port")["overrides.txt"].decode()
    return [line.partition("  #")[0] for line in text.splitlines() if not line.startswith("#")]


def test_without_a_base_torch_is_never_installed(tmp_path, make_plan):
    never = " ; sys_platform == 'never'"
    assert lines(tmp_path, make_plan()) == [
        f"{name}{never}" for name in ("torch", "torchvision", "torchaudio", "triton")
    ]


def test_unchanged_packages_have_no_override(tmp_path, make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("a", "keep"), make_decision("b", "keep", package=None)))
    assert not [line for line in lines(tmp_path, plan) if line.startswith(("a", "b"))]


def test_decisions_apply_to_dependencies_of_packages(tmp_path, make_plan, make_decision):
    decisions = (
        make_decision("dropped"),
        make_decision("renamed", "replace", requirement="amd-renamed>=1"),
        make_decision("pinned", "replace", requirement="Pinned>=0.50"),
        make_decision("built", "build", commands=(("pip", "install", "built"),)),
        make_decision("forked", "build", commands=(("pip", "install", "git+https://host/x.git"),)),
    )
    assert lines(tmp_path, make_plan(decisions=decisions))[4:] == [
        "dropped ; sys_platform == 'never'",
        "renamed ; sys_platform == 'never'",
        "Pinned>=0.50",
        "built",
        "forked ; sys_platform == 'never'",
    ]


def test_the_base_is_pinned(tmp_path, make_plan, make_stack):
    result = lines(tmp_path, make_plan(base=make_stack(provides={"triton": "3.2.0"})))
    assert result[:2] == ["torch==2.6.0", "triton==3.2.0"]


def test_uv_resolves_a_poisoned_package_to_the_base(
    tmp_path, make_plan, make_stack, make_wheel, make_torch, make_decision
):
    """It asks for another torch and for what the plan drops; with the overrides it gets neither."""
    make_torch(tmp_path / "wheels", "2.6.0+rocm6.4")
    make_torch(tmp_path / "wheels", "9.9", None)
    make_wheel(tmp_path / "wheels", "dropped", "1.0")
    make_wheel(tmp_path / "wheels", "poisoned", "1.0", "torch==9.9", "dropped", "triton")
    stack = make_stack(form="pip", index="https://host/", requirements=["torch==2.6.0+rocm6.4"])
    plan = make_plan(base=stack, decisions=(make_decision("dropped"),))
    (tmp_path / "overrides.txt").write_bytes(render(plan, Tree.open(tmp_path), "rocm-port")["overrides.txt"])
    command = [UV, "pip", "compile", "--no-index", "--find-links", tmp_path / "wheels", "--no-header", "--no-annotate"]
    command += ["--overrides", tmp_path / "overrides.txt", "--cache-dir", tmp_path / "cache", "-"]
    ended = subprocess.run(command, input="poisoned\n", capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.split() == ["poisoned==1.0", "torch==2.6.0+rocm6.4"]
