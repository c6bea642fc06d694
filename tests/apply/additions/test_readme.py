from __future__ import annotations

from rocm3d.apply.additions.readme import render
from rocm3d.workspace.tree import Tree


def rendered(tmp_path, plan, folder: str = "rocm-port") -> str:
    return render(plan, Tree.open(tmp_path), folder)["README.md"].decode()


def test_nothing_to_install_where_there_are_no_requirements(tmp_path, make_plan):
    text = rendered(tmp_path, make_plan())
    assert "pip install" not in text
    assert "Stand-ins" not in text


def test_names_the_folder_it_lies_in(tmp_path, make_plan):
    (tmp_path / "requirements.txt").write_text("torch\n")
    text = rendered(tmp_path, make_plan(), "elsewhere")
    assert ". elsewhere/environment.sh" in text
    assert "pip install -r elsewhere/requirements.txt" in text


def test_commands_are_quoted_for_a_shell(tmp_path, make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("a", "build", commands=(("pip", "install", "a b; rm -rf x"),)),))
    assert "pip install 'a b; rm -rf x'" in rendered(tmp_path, plan)


def test_stand_ins_are_named(tmp_path, make_plan, make_decision):
    plan = make_plan(decisions=(make_decision("a", "stub"), make_decision("b", "substitute"), make_decision("c")))
    text = rendered(tmp_path, plan)
    assert "- a: stub, why" in text
    assert "- b: substitute, why" in text
    assert "- c" not in text
