from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from rocm3d.cli.help import help_texts
from rocm3d.cli.main import build
from rocm3d.model.failure import UserError
from rocm3d.skill.stage import skill


@pytest.fixture(scope="module")
def files():
    from rocm3d.knowledge.load import load

    return skill(load(), help_texts(build()))


def test_knowledge_without_a_method_is_refused(knowledge):
    with pytest.raises(UserError, match=r"method\.toml"):
        skill(replace(knowledge, methods={}), {})


def test_the_front_matter_is_that_of_the_format(files):
    front = files["SKILL.md"].split("---\n")[1]
    name = re.search(r"^name: (.+)$", front, re.MULTILINE).group(1)
    description = json.loads(re.search(r"^description: (.+)$", front, re.MULTILINE).group(1))

    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert len(name) <= 64
    assert 1 <= len(description) <= 1024


def test_it_is_short_enough_to_be_loaded_whole(files):
    assert len(files["SKILL.md"].splitlines()) < 500


def test_every_link_leads_to_a_file_of_the_skill_and_every_reference_is_linked(files):
    links = set(re.findall(r"\]\((references/[^)]+)\)", files["SKILL.md"]))

    assert links == {name for name in files if name.startswith("references/")}


def test_every_command_it_names_exists(files):
    known = set(help_texts(build()))
    named = set(re.findall(r"^rocm3d [a-z]+(?: (?:check|query|stats|path|clear)\b)?", files["SKILL.md"], re.MULTILINE))

    assert named
    assert named <= known


def test_it_has_rules_tree_phases_tables_verification_and_pitfalls(files):
    headings = re.findall(r"^##+ (.+)$", files["SKILL.md"], re.MULTILINE)

    for wanted in ("Five rules", "Decision tree", "Phases", "Replacement tables", "Verification"):
        assert wanted in headings
    assert [heading[:2] for heading in headings if re.match(r"\d\. ", heading)] == [f"{n}." for n in range(9)]
    assert any(heading.startswith("Pitfalls") for heading in headings)


def test_refuted_advice_is_told_with_what_to_do_instead(files, knowledge):
    refuted = [item for item in knowledge.advice.values() if item.verdict == "refuted"]

    assert refuted
    for item in refuted:
        assert item.instead in files["SKILL.md"]


def test_evals_have_the_form_of_public_catalogues(files):
    evals = json.loads(files["evals/evals.json"])
    cases = evals["evals"]

    assert evals["skill_name"] == "rocm3d-port"
    assert sum(case["should_trigger"] for case in cases) >= 3
    assert sum(not case["should_trigger"] for case in cases) >= 2
    assert sum(len(case["expected_behavior"]) for case in cases) >= 3
    assert len({case["id"] for case in cases}) == len(cases)
