"""Each kind of problem of an outdated or broken skill is reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.cli.help import help_texts
from rocm3d.cli.main import build
from rocm3d.skill.check import commands_of_call, find_calls, skill_problems
from rocm3d.skill.stage import skill_files

COMMANDS = {
    "rocm3d": "--version",
    "rocm3d scan": "Usage: rocm3d scan [OPTIONS] {PATH}\n  --format  -o, --output",
    "rocm3d kb": "",
    "rocm3d kb check": "",
    "rocm3d kb query": "",
    "rocm3d run": "--limit",
}


@pytest.fixture(scope="module")
def commands():
    return help_texts(build())


@pytest.fixture(scope="module")
def files(commands):
    from rocm3d.knowledge.load import load

    return skill_files(load(), commands)


def test_a_renamed_command_is_found_wherever_it_is_named(files, commands):
    without = {name: text for name, text in commands.items() if name != "rocm3d plan"}
    result = skill_problems(files, {**without, "rocm3d decide": commands["rocm3d plan"]})

    assert "SKILL.md: unknown command: rocm3d plan PATH --gpu GPU" in result
    assert any(item.startswith("references/cleanup.md: unknown command: rocm3d plan") for item in result)
    assert "references/commands.md: unknown command: rocm3d plan" in result


def test_a_renamed_option_is_found(files, commands):
    result = skill_problems(
        files, {**commands, "rocm3d apply": commands["rocm3d apply"].replace("--dry-run", "--pretend")}
    )

    assert "SKILL.md: rocm3d apply has no option --dry-run: rocm3d apply PATH --dry-run" in result


def test_a_missing_reference_is_found(files, commands):
    without = {name: text for name, text in files.items() if name != "references/attention.md"}

    assert ["SKILL.md: link to missing file references/attention.md"] == skill_problems(without, commands)


def test_a_reference_that_nobody_links_is_found(files, commands):
    assert ["SKILL.md: no link to references/own.md"] == skill_problems(
        {**files, "references/own.md": "# Own"}, commands
    )


def test_a_page_of_more_than_500_lines_is_found(files, commands):
    lines = len(files["SKILL.md"].splitlines())
    whole = {**files, "SKILL.md": files["SKILL.md"] + "x\n" * (500 - lines)}

    assert [] == skill_problems(whole, commands)
    assert ["SKILL.md has 501 lines; agents load at most 500"] == skill_problems(
        {**whole, "SKILL.md": whole["SKILL.md"] + "x\n"}, commands
    )


def test_page_without_the_server_is_found(files, commands):
    silent = {**files, "SKILL.md": files["SKILL.md"].replace("rocm3d mcp", "rocm3d scan")}

    assert "rocm3d mcp" in commands
    assert ["SKILL.md: does not mention `rocm3d mcp`"] == skill_problems(silent, commands)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda page: page.replace("name: rocm3d-port", "name: Rocm3D Port"), "is not a valid skill name"),
        (lambda page: page.replace('description: "', f'description: "{"x" * 1000}'), "allowed are 1 to 1024"),
        (lambda page: page.partition("\n---\n")[2], "is not a valid skill name"),
        (lambda page: page + "\nNow run rocm3d scan somewhere.\n", "command without code formatting: rocm3d scan"),
    ],
)
def test_what_is_wrong_with_the_page_is_found(files, commands, change, problem):
    result = skill_problems({**files, "SKILL.md": change(files["SKILL.md"])}, commands)

    assert any(problem in item for item in result), result


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"evals": [1]}', '{"evals": []}'])
def test_evals_that_say_nothing_are_found(files, commands, text):
    assert any("evals" in item for item in skill_problems({**files, "evals/evals.json": text}, commands))


def test_empty_folder_is_reported():
    assert "SKILL.md is missing" in skill_problems({}, COMMANDS)


@given(st.dictionaries(st.sampled_from(["SKILL.md", "references/a.md", "evals/evals.json"]), st.text(max_size=200)))
def test_any_content_is_checked_without_a_crash(files):
    assert skill_problems(files, COMMANDS)


def test_calls_are_found_in_blocks_inline_code_and_headings():
    text = (
        "# rocm3d scan\n\nrocm3d does it, see `rocm3d kb query TEXT` and `pip`.\n\n"
        "```sh\n$ rocm3d run --limit 2m -- python x\nUsage: rocm3d scan [OPTIONS]\n"
        "what rocm3d keeps\n  rocm3d scan PATH   # all\n```\n"
    )

    assert find_calls(text) == [
        "rocm3d run --limit 2m -- python x",
        "rocm3d scan [OPTIONS]",
        "rocm3d scan PATH",
        "rocm3d kb query TEXT",
        "rocm3d scan",
    ]


def test_a_call_names_its_command_and_several_with_a_bar():
    assert commands_of_call("rocm3d kb check|query", COMMANDS) == ["rocm3d kb check", "rocm3d kb query"]
    assert commands_of_call("rocm3d kb stats", COMMANDS) == []
    assert commands_of_call("rocm3d scan here", COMMANDS) == ["rocm3d scan"]
    assert commands_of_call("rocm3d --version", COMMANDS) == ["rocm3d"]


def test_the_skill_that_is_written_has_no_problem(files, commands):
    assert [] == skill_problems(files, commands)
