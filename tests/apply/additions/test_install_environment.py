from __future__ import annotations

import subprocess

import pytest

from rocm3d.apply.additions.install import render
from rocm3d.workspace.tree import Tree

NASTY = ["a b", "$(touch pwned)", "`touch pwned`", "it's", '"', "a;b", "x\ny", "*", "", "\\", "$HOME", "a=b"]


def rendered(tmp_path, plan) -> str:
    return render(plan, Tree.open(tmp_path), "rocm-port")["environment.sh"].decode()


@pytest.mark.parametrize("value", NASTY)
def test_values_are_quoted(tmp_path, make_plan, make_decision, value):
    """The shell that sources the file sees the value as it was, and runs nothing."""
    script = rendered(tmp_path, make_plan(decisions=(make_decision("a", env={"NASTY_VALUE": value}),)))
    assert subprocess.run(["sh", "-n"], input=script.encode(), check=False).returncode == 0
    command = ["sh", "-c", script + '\nprintf %s "$NASTY_VALUE"']
    assert subprocess.run(command, capture_output=True, cwd=tmp_path, check=True).stdout.decode() == value
    assert not (tmp_path / "pwned").exists()


def test_routes_that_disagree_export_nothing(tmp_path, make_plan, make_decision):
    decisions = (make_decision("a", env={"X": "1"}), make_decision("b", env={"X": "2\nexport Y=3"}))
    script = rendered(tmp_path, make_plan(decisions=decisions))
    assert [line for line in script.splitlines() if not line.startswith("#")] == ["export PYTORCH_ROCM_ARCH=gfx942"]


def test_target_is_always_exported(tmp_path, make_plan):
    assert "export PYTORCH_ROCM_ARCH=gfx942\n" in rendered(tmp_path, make_plan())


def test_each_variable_names_the_packages_that_require_it(tmp_path, make_plan, make_decision):
    lines = rendered(tmp_path, make_plan(decisions=(make_decision("pkg", env={"B": "1", "A": "2"}),))).splitlines()
    assert lines[lines.index("export A=2") - 1] == "# required by pkg (r)"
    assert lines.index("export A=2") < lines.index("export B=1")


def test_same_plan_same_bytes(tmp_path, make_plan, make_decision):
    first, two = make_decision("a", env={"X": "1"}), make_decision("b", env={"Y": "1"})
    assert rendered(tmp_path, make_plan(decisions=(first, two))) == rendered(
        tmp_path, make_plan(decisions=(two, first))
    )
