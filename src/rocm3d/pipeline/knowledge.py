"""Checks the knowledge base against the program: rules, rewrites, recipe examples and expectations."""

from __future__ import annotations

from rocm3d.apply.rewrite import RewriteRefusedError, rewrites
from rocm3d.host.predicates import predicates
from rocm3d.knowledge.base import Knowledge
from rocm3d.knowledge.check import RecordProblem, check_records
from rocm3d.model.failure import UserError
from rocm3d.record.expectation import parse_expectation
from rocm3d.scan.detector import all_detectors


def check_knowledge(knowledge: Knowledge) -> list[RecordProblem]:
    """All problems of the data, of the examples of active recipes, and of the expectations of ports."""
    rules = {detector.rule for detector in all_detectors()}
    found = check_records(knowledge, rules, set(rewrites()), set(predicates()))
    return [*found, *_broken_examples(knowledge), *_unreadable(knowledge)]


def _broken_examples(knowledge: Knowledge) -> list[RecordProblem]:
    found = []
    for recipe in knowledge.recipes.values():
        example, rewrite = knowledge.examples.get(recipe.id), rewrites().get(recipe.rewrite)
        if recipe.status != "active" or example is None or rewrite is None:
            continue
        for name, given, wanted in (
            ("before", example.before, example.after),
            ("after", example.after, example.after),
            ("untouched", example.untouched, example.untouched),
        ):
            try:
                got = rewrite.edit(given, recipe.parameters)
            except RewriteRefusedError:
                got = given
            if got != wanted:
                message = f"the output of {recipe.rewrite} differs from the example"
                found.append(RecordProblem(knowledge.places["recipes", recipe.id], name, message))
    return found


def _unreadable(knowledge: Knowledge) -> list[RecordProblem]:
    """Expectations that `rocm3d run` refuses, or that are newer than their record."""
    found = []
    for port in knowledge.ports.values():
        for item in port.workload.expect if port.workload else ():
            file, key = knowledge.places["ports", port.id], f"workload.expect.{item.expect}"
            try:
                parse_expectation(item.expect, knowledge.backends.values())
            except UserError as error:
                found.append(RecordProblem(file, key, error.message))
            if item.known > port.checked:
                found.append(RecordProblem(file, key, f"{item.known} is later than the record's checked, {port.checked}"))
    return found
