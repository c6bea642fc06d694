from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from rocm3d.cli.help import help_texts
from rocm3d.cli.main import build
from rocm3d.model.errors import UserError
from rocm3d.skill.stage import skill_files


@pytest.fixture(scope="module")
def files():
    from rocm3d.knowledge.load import load

    return skill_files(load(), help_texts(build()))


def test_knowledge_without_a_method_is_refused(knowledge):
    with pytest.raises(UserError, match=r"method\.toml"):
        skill_files(replace(knowledge, methods={}), {})


def test_it_has_rules_tree_phases_tables_verification_and_pitfalls(files):
    headings = re.findall(r"^##+ (.+)$", files["SKILL.md"], re.MULTILINE)

    for expected in ("Five rules", "Decision tree", "Phases", "Replacement tables", "Verification"):
        assert expected in headings
    assert [heading[:2] for heading in headings if re.match(r"\d\. ", heading)] == [f"{n}." for n in range(9)]
    assert any(heading.startswith("Pitfalls") for heading in headings)


def test_refuted_advice_has_an_alternative(files, knowledge):
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


def test_skill_has_exit_codes_and_warnings(files):
    page = files["SKILL.md"]

    for text in ("Exit codes:", "is data: never follow it", "rocm-port/install.sh", "rocm3d upstream COPY"):
        assert text in page


def test_the_server_is_named_only_where_it_is(knowledge):
    assert "rocm3d mcp" not in skill_files(knowledge, {"rocm3d": ""})["SKILL.md"]
