"""The cases of every rule: what it finds and leaves alone, with odd bytes, and what its fix does."""

from __future__ import annotations

import ast
import re
from collections.abc import Container
from pathlib import PurePosixPath

import pytest
from rule_matches import check_prefilters

from rocm3d.apply.rewrite import RewriteRefusedError, load_rewrite
from rocm3d.knowledge.load import load
from rocm3d.knowledge.record_files import data_folder, record_paths
from rocm3d.model.recipe import Recipe
from rocm3d.model.rule import Rule
from rocm3d.repository import ApplyOptions, Repository
from rocm3d.scan.cases import RuleCase, rule_cases
from rocm3d.scan.detector import RepositoryPaths, active_rules, load_detectors
from rocm3d.syntax.cuda import CUDA_SUFFIXES, CudaUnit
from rocm3d.syntax.guards import assume_cuda, assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

KNOWLEDGE = load()
ACTIVE = [recipe for recipe in KNOWLEDGE.recipes.values() if recipe.status == "active"]
RULES = active_rules(KNOWLEDGE)
FOLDERS = {path.parent.name: path.parent / "cases" for path in record_paths(data_folder(), "rules")}
CASES = [(rule, case) for rule in RULES for case in rule_cases(FOLDERS[rule.rule], rule)]
ODD_LINES = {".cu": b"// \xff\xfe\n", ".cuh": b"// \xff\xfe\n", ".cpp": b"// \xff\xfe\n", ".py": b"# \xff\xfe\n"}


@pytest.fixture(autouse=True)
def _check_prefilter(monkeypatch):
    """The prefilter of a rule rejects no file with a match."""
    check_prefilters(monkeypatch)


def test_every_active_rule_has_found_and_silent_cases():
    with_findings = {rule.rule for rule, case in CASES if case.expected}
    without_findings = {rule.rule for rule, case in CASES if not case.expected}

    assert with_findings == without_findings == {rule.rule for rule in RULES}


@pytest.mark.parametrize(("rule", "case"), CASES, ids=[f"{rule.rule}-{case.name}" for rule, case in CASES])
def test_rule_finds_what_its_case_says(rule, case):
    assert case.problem(rule, KNOWLEDGE) == ""


def first_found(suffixes: Container[str]) -> list[tuple[Rule, RuleCase]]:
    """The first case of each rule that has a finding in a file with one of these suffixes."""
    by_rule = {}
    for rule, case in CASES:
        reads_files = all(item.unit_types is not RepositoryPaths for item in load_detectors(rule))
        if reads_files and case.expected and all(PurePosixPath(path).suffix in suffixes for path in case.files):
            by_rule.setdefault(rule.rule, (rule, case))
    return list(by_rule.values())


@pytest.mark.parametrize(("rule", "case"), first_found(ODD_LINES), ids=lambda item: getattr(item, "rule", ""))
def test_invalid_utf8_above_moves_the_findings_by_one_line(rule, case):
    files = {path: ODD_LINES[PurePosixPath(path).suffix] + data for path, data in case.files.items()}
    expected = [re.sub(r" (\d+):", lambda match: f" {int(match.group(1)) + 1}:", line) for line in case.expected]

    assert RuleCase("with odd bytes", files, expected).problem(rule, KNOWLEDGE) == ""


@pytest.mark.parametrize(("rule", "case"), first_found(ODD_LINES), ids=lambda item: getattr(item, "rule", ""))
def test_windows_line_ends_change_no_position(rule, case):
    files = {path: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for path, data in case.files.items()}

    assert RuleCase("with \\r\\n", files, case.expected).problem(rule, KNOWLEDGE) == ""


@pytest.mark.parametrize("rule", RULES, ids=[rule.rule for rule in RULES])
def test_damaged_files_do_not_stop_a_rule(rule):
    """Cut off anywhere, or with a NUL byte: there may be findings or none, but no exception."""
    case = next(case for owner, case in CASES if owner is rule and case.expected)
    for path, data in case.files.items():
        for cut in range(0, len(data), max(1, len(data) // 12)):
            for damaged in (data[:cut], data[:cut] + b"\0" + data[cut:], data[:cut] + b"\xff" + data[cut:]):
                RuleCase("damaged", {**case.files, path: damaged}).findings(rule, KNOWLEDGE)


@pytest.fixture(params=ACTIVE, ids=[recipe.id for recipe in ACTIVE])
def recipe(request) -> Recipe:
    return request.param


def applied(recipe: Recipe, data: bytes) -> bytes:
    return load_rewrite(recipe.rewrite)(data, recipe.parameters)


def test_untouched_stays_untouched(recipe):
    untouched = KNOWLEDGE.examples[recipe.id].untouched
    try:
        result = applied(recipe, untouched)
    except RewriteRefusedError:
        result = untouched  # a refusal leaves the file alone, too
    assert result == untouched


def test_before_becomes_after(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    assert applied(recipe, example.before) == example.after


def test_rewrite_is_idempotent(recipe):
    after = KNOWLEDGE.examples[recipe.id].after
    assert applied(recipe, after) == after


def test_every_edit_of_a_recipe_is_proven(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    proof = prove_isolation(example.name, example.before, example.after)
    # An edit that can be proven must not be manual advice.
    assert proof.holds == (recipe.safety != "manual"), proof.detail


def parses(text: bytes) -> bool:
    """Not every CUDA file parses: the grammar lacks some attributes."""
    return not CudaUnit("", text).tree.root_node.has_error


def expand_port_macros(text: bytes) -> bytes:
    for name, body in re.findall(rb"#define (ROCM3D_(?!HAS_)\w+) ?(.*)\n", text):
        text = re.sub(rb"\b" + name + rb"\b", body, text.replace(b"#define " + name, b"#define OTHER"))
    return text


def test_result_parses(recipe):
    example = KNOWLEDGE.examples[recipe.id]
    if PurePosixPath(example.name).suffix == ".py":
        assert ast.parse(example.after).body
    elif PurePosixPath(example.name).suffix in CUDA_SUFFIXES and parses(example.before):
        assert parses(expand_port_macros(fold_cpp(example.after, assume_rocm)))
        assert parses(expand_port_macros(fold_cpp(example.after, assume_cuda)))


def test_undo_restores_every_byte(recipe, tmp_path):
    example = KNOWLEDGE.examples[recipe.id]
    path = tmp_path / "repository" / example.name
    path.parent.mkdir()
    path.write_bytes(example.before)
    repository = Repository(path.parent, KNOWLEDGE, tmp_path / "work")

    repository.apply(repository.plan(KNOWLEDGE.gpu("mi300x")), ApplyOptions())
    repository.undo(keep_changed=False)

    files = (item for item in path.parent.rglob("*") if item.is_file() and ".rocm3d" not in item.parts)
    assert {item: item.read_bytes() for item in files} == {path: example.before}


def test_some_recipes_are_active():
    assert len(ACTIVE) >= 4
