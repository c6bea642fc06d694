"""The short version of `make skill-evals`: routing compared with other skills, and the script itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("skill_evals", ROOT / "scripts" / "skill_evals.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def others(script):
    return script.tomllib.loads(script.OTHERS.read_text(encoding="utf-8"))["skills"]


def test_vague_description_loses_its_prompts(script, others, knowledge):
    method = knowledge.method
    problems = list(script.routing_problems(method.evals, method.name, "Helps with code on graphics cards.", others))

    assert sum("should go to ours" in item for item in problems) == sum(case.should_trigger for case in method.evals)


def test_description_that_matches_everything_is_reported(script, others, knowledge):
    method = knowledge.method
    greedy = f"{method.description.partition('Not for')[0]} {' '.join(others.values())}"
    problems = list(script.routing_problems(method.evals, method.name, greedy, others))

    assert any("should not go to ours" in item for item in problems)


def test_too_few_others_are_no_comparison(script, knowledge):
    method = knowledge.method

    assert "0 other skills are too few" in next(
        script.routing_problems(method.evals, method.name, method.description, {})
    )


def test_failing_command_is_reported(script):
    page = {"SKILL.md": "`rocm3d nothing`"}

    (problem,) = script.help_problems(page, {"rocm3d": "", "rocm3d nothing": ""})

    assert problem.startswith("rocm3d nothing --help exits with 2")


def test_wrong_order_of_commands_is_reported(script):
    (problem,) = script.walkthrough_problems("```sh\nrocm3d report COPY   # before there is one\n```\n")

    assert problem.startswith("rocm3d report COPY exits with 2")


def _renamed(files, commands):
    commands = {name.replace("rocm3d verify", "rocm3d examine"): text for name, text in commands.items()}
    return files, commands


def _without_reference(files, commands):
    return {name: text for name, text in files.items() if name != "references/gaussian.md"}, commands


def _long(files, commands):
    return {**files, "SKILL.md": files["SKILL.md"] + "\n" * 300}, commands


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_renamed, "SKILL.md: unknown command: rocm3d verify COPY --level compile"),
        (_without_reference, "SKILL.md: link to missing file references/gaussian.md"),
        (_long, "agents load at most 500"),
    ],
    ids=["a command is renamed", "a reference is missing", "SKILL.md passes 500 lines"],
)
def test_problem_exits_1(script, monkeypatch, capsys, change, message):
    whole, real = script.skill_files, script.help_texts
    monkeypatch.setattr("sys.argv", ["skill_evals.py", "--quick"])
    monkeypatch.setattr(script, "help_texts", lambda app: change({"SKILL.md": ""}, real(app))[1])
    monkeypatch.setattr(
        script, "skill_files", lambda knowledge, commands: change(whole(knowledge, commands), commands)[0]
    )

    assert script.main() == 1
    assert message in capsys.readouterr().out


def test_every_prompt_goes_where_it_should(script, others, knowledge, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["skill_evals.py", "--quick"])

    assert script.main() == 0, capsys.readouterr().out
    assert len(others) >= 10
    assert not {knowledge.method.name} & set(others)


def test_the_server_and_the_skill_refer_to_each_other(knowledge):
    pytest.importorskip("mcp", reason="not run: the extra mcp is not installed")
    from rocm3d.cli.help import help_texts
    from rocm3d.cli.main import build
    from rocm3d.mcp.server import INSTRUCTIONS
    from rocm3d.skill.stage import skill_files

    page = skill_files(knowledge, help_texts(build()))["SKILL.md"]

    assert "`rocm3d mcp`" in page
    assert "rocm3d://skill/SKILL.md" in page
    assert "rocm3d://skill/SKILL.md" in INSTRUCTIONS
