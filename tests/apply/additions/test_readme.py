from __future__ import annotations

from rocm3d.apply.additions.readme import render
from rocm3d.workspace.tree import Tree


def rendered(tmp_path, plan, folder: str = "rocm-port") -> str:
    return render(plan, Tree.open(tmp_path), folder)["README.md"].decode()


def test_empty_sections_have_no_heading(tmp_path, make_plan):
    text = rendered(tmp_path, make_plan())
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Install", "## Files"]
    assert "docker" not in text
    assert "0 steps" in text


def test_commands_use_the_port_folder(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_text("torch\n")
    text = rendered(tmp_path, make_plan(), "else where")
    assert ". 'else where/environment.sh'" in text
    assert "bash 'else where/install.sh'" in text


def test_losses_and_stubs_come_first(tmp_path, make_plan, make_stack, make_decision):
    decisions = (
        make_decision("a", "stub"),
        make_decision("b", "substitute"),
        make_decision("c", loses="the view\nof depth"),
        make_decision("d"),
    )
    text = rendered(tmp_path, make_plan(base=make_stack(), decisions=decisions))
    assert "- a: stub, why\n- c: drop. Without it: the view of depth\n- b: substitute, why\n" in text
    assert "- d" not in text
    assert text.index("## Missing or replaced") < text.index("## Base") < text.index("## Install")


def test_steps_and_manual_work_are_listed(tmp_path, make_plan, make_stack, make_decision):
    (tmp_path / "requirements.txt").write_text("numpy\n")
    decisions = (make_decision("gone", "blocked", reason="no\nway"),)
    text = rendered(tmp_path, make_plan(base=make_stack(), decisions=decisions))
    assert "1 step:\n\n1. requirements of the repository\n" in text
    assert "## To do by hand\n\n- gone: blocked: no way\n" in text
    assert "docker compose -f rocm-port/compose.yaml run --rm port" in text


def test_a_base_of_wheels_names_its_index(tmp_path, make_plan, make_stack):
    text = rendered(tmp_path, make_plan(base=make_stack(form="pip", index="https://host/simple/")))
    assert "(wheels of `https://host/simple/`)." in text
