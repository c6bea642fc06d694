"""Checks the knowledge base against the program: rules, rewrites, recipe examples and expectations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rocm3d.apply.rewrite import RewriteRefusedError, load_rewrite, rewrite_names
from rocm3d.host.predicates import predicates
from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.check import ImplementedNames, RecordProblem, check_records
from rocm3d.knowledge.record_files import record_paths
from rocm3d.model.errors import UserError
from rocm3d.model.registry import module_names
from rocm3d.record.expectation import parse_expectation
from rocm3d.scan.cases import rule_cases
from rocm3d.scan.detector import DETECTORS, MATCHERS, active_rules, load_detectors


def check_knowledge(knowledge: Knowledge, overlay: Path | None = None) -> list[RecordProblem]:
    """All problems of the data, of the examples of active recipes, of expectations, and of the overlay's cases."""
    implemented = ImplementedNames(
        module_names(DETECTORS).keys(), rewrite_names(), predicates().keys(), module_names(MATCHERS).keys()
    )
    problems = check_records(knowledge, implemented)
    problems += [*_broken_examples(knowledge), *_invalid_expectations(knowledge)]
    return problems if overlay is None or problems else list(_failing_cases(knowledge, overlay))


def _failing_cases(knowledge: Knowledge, overlay: Path) -> Iterator[RecordProblem]:
    """Cases of the overlay's rules that fail. The tests of the project run those of the shipped rules."""
    folders = {path.parent.name: path.parent / "cases" for path in record_paths(overlay, "rules")}
    for rule in (rule for rule in active_rules(knowledge) if rule.rule in folders):
        load_detectors(rule)
        problems = (case.problem(rule, knowledge) for case in rule_cases(folders[rule.rule], rule))
        yield from (RecordProblem(knowledge.places["codes", rule.code], "cases", text) for text in problems if text)


def _broken_examples(knowledge: Knowledge) -> list[RecordProblem]:
    problems = []
    for recipe in knowledge.recipes.values():
        example = knowledge.examples.get(recipe.id)
        if recipe.status != "active" or example is None or recipe.rewrite not in rewrite_names():
            continue
        for name, source, expected in (
            ("before", example.before, example.after),
            ("after", example.after, example.after),
            ("untouched", example.untouched, example.untouched),
        ):
            try:
                actual = load_rewrite(recipe.rewrite)(source, recipe.parameters)
            except RewriteRefusedError:
                actual = source
            if actual != expected:
                message = f"the output of {recipe.rewrite} differs from the example"
                problems.append(RecordProblem(knowledge.places["recipes", recipe.id], name, message))
    return problems


def _invalid_expectations(knowledge: Knowledge) -> list[RecordProblem]:
    """Expectations that `rocm3d run` refuses, or that are newer than their record."""
    problems = []
    for port in knowledge.ports.values():
        for expectation in port.workload.expect if port.workload else ():
            file, key = knowledge.places["ports", port.id], f"workload.expect.{expectation.expect}"
            try:
                parse_expectation(expectation.expect, knowledge.backends.values())
            except UserError as error:
                problems.append(RecordProblem(file, key, error.message))
            if expectation.known > port.checked:
                problems.append(
                    RecordProblem(file, key, f"{expectation.known} is later than the record's checked, {port.checked}")
                )
    return problems
