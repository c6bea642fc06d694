from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rule_matches import rule_matches

from rocm3d.model.errors import UserError
from rocm3d.model.registry import module_names
from rocm3d.model.rule import RuleMatcher
from rocm3d.scan import detectors as package
from rocm3d.scan.detector import DETECTORS, MATCHERS, Detector, DetectorContext, active_rules, load_detectors
from rocm3d.syntax.cuda import CudaUnit
from rocm3d.syntax.python import PythonUnit


def test_rule_without_detector_and_matcher_is_refused(known):
    rule = known.codes["CU301"].model_copy(update={"rule": "nobody_looks", "matcher": None})

    with pytest.raises(UserError, match="rule nobody_looks has neither a detector nor a matcher"):
        load_detectors(rule)


def test_unknown_matcher_is_refused_with_the_known_ones(known):
    rule = known.codes["CU301"].model_copy(update={"matcher": RuleMatcher(kind="no_such")})

    with pytest.raises(UserError, match="rule spaced_launch: unknown matcher 'no_such'") as caught:
        load_detectors(rule)
    assert caught.value.hint == f"known matchers: {', '.join(sorted(module_names(MATCHERS)))}"


@pytest.mark.parametrize("parameters", [{"once": True}, {"of": "path"}, {"builds": "cuda"}])
def test_unknown_parameter_of_a_matcher_is_refused(known, parameters):
    rule = known.codes["CU201"].model_copy(update={"matcher": RuleMatcher(kind="cuda_syntax", parameters=parameters)})

    with pytest.raises(UserError, match="rule missing_header: matcher cuda_syntax has no "):
        load_detectors(rule)


def test_further_matchers_are_checked_too(known):
    for also, message in (
        (RuleMatcher(kind="no_such"), "unknown matcher 'no_such'"),
        (RuleMatcher(kind="cuda_syntax", parameters={"of": "path"}), "matcher cuda_syntax has no of"),
    ):
        first = RuleMatcher(kind="cuda_syntax", parameters={"query": "(identifier) @match"}, also=(also,))
        rule = known.codes["CU201"].model_copy(update={"matcher": first})
        with pytest.raises(UserError, match=message):
            load_detectors(rule)


def test_each_matcher_of_a_rule_reads_its_own_files_with_its_own_parameters(known):
    queries = [
        f'({node} @match (#eq? @f "f"))' for node in ("(call function: (_) @f)", "(list (call function: (_) @f))")
    ]
    parts = [RuleMatcher(kind="python_syntax", parameters={"query": q, "contains": ["f"]}) for q in queries]
    include = {"query": "(preproc_include path: (_) @header (#term? @header)) @match"}
    matcher = RuleMatcher(kind="cuda_syntax", parameters=include, also=tuple(parts))
    rule = known.codes["CU201"].model_copy(update={"matcher": matcher})

    assert [detector.unit_types for detector in load_detectors(rule)] == [CudaUnit, PythonUnit, PythonUnit]
    for unit, columns in (
        (PythonUnit("a.py", b"[f()]\n"), [2, 1]),
        (PythonUnit("a.py", b"[g()]\n"), []),
        (CudaUnit("a.cu", b"#include <device_functions.h>\n"), [1]),
    ):
        assert [match.column for match in rule_matches(rule, unit, known)] == columns


def test_active_rules_are_sorted_by_code_and_none_is_planned(known):
    codes = [rule.code for rule in active_rules(known)]

    assert codes == sorted(codes)
    assert {known.codes[code].status for code in codes} == {"active"}


def test_every_matcher_is_used_by_a_rule(known):
    matchers = [rule.matcher for rule in active_rules(known) if rule.matcher]

    assert {part.kind for matcher in matchers for part in matcher.parts} == set(module_names(MATCHERS))


def test_no_detector_is_ignored_by_git():
    """A rule matched by .gitignore would be missing from every clone and wheel."""
    folder = Path(package.__file__).parent
    modules = sorted(str(path) for path in folder.rglob("*.py"))
    ignored = subprocess.run(
        ["git", "-C", str(folder), "check-ignore", *modules], capture_output=True, text=True, check=False
    )

    assert ignored.stdout.splitlines() == []


def test_rule_modules_without_import(known):
    rules = {rule.rule: rule for rule in active_rules(known)}

    assert {name: load_detectors(rules[name])[0].module for name in module_names(DETECTORS)} == module_names(DETECTORS)


def test_prefilter_is_bytes_or_predicate(known):
    context = DetectorContext(known.codes["CU301"], known)
    unit = CudaUnit("a.cu", b"abc")

    for prefilter, expected in (
        ((), True),
        ((b"x", b"b"), True),
        ((b"x",), False),
        (lambda held, calls: held is unit and calls is context, True),
        (lambda held, calls: False, False),
    ):
        assert (
            Detector("a.b", "CU301", CudaUnit, lambda held, calls: (), prefilter).can_match(unit, context) is expected
        )
