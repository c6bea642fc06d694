from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocm3d.model.errors import UserError
from rocm3d.model.rule import RuleMatcher
from rocm3d.scan import detectors as package
from rocm3d.scan.detector import Detector, DetectorContext, active_rules, load_detector, matcher_modules, rule_modules
from rocm3d.syntax.cuda import CudaUnit


def test_rule_without_detector_and_matcher_is_refused(known):
    rule = known.codes["CU301"].model_copy(update={"rule": "nobody_looks", "matcher": None})

    with pytest.raises(UserError, match="rule nobody_looks has neither a detector nor a matcher"):
        load_detector(rule)


def test_unknown_matcher_is_refused_with_the_known_ones(known):
    rule = known.codes["CU301"].model_copy(update={"matcher": RuleMatcher(kind="no_such")})

    with pytest.raises(UserError, match="rule spaced_launch: unknown matcher 'no_such'") as caught:
        load_detector(rule)
    assert caught.value.hint == f"known matchers: {', '.join(sorted(matcher_modules()))}"


@pytest.mark.parametrize("parameters", [{"once": True}, {"of": "path"}, {"builds": "cuda"}])
def test_unknown_parameter_of_a_matcher_is_refused(known, parameters):
    rule = known.codes["CU201"].model_copy(update={"matcher": RuleMatcher(kind="cuda_syntax", parameters=parameters)})

    with pytest.raises(UserError, match="rule missing_header: matcher cuda_syntax has no "):
        load_detector(rule)


def test_active_rules_are_sorted_by_code_and_none_is_planned(known):
    codes = [rule.code for rule in active_rules(known)]

    assert codes == sorted(codes)
    assert {known.codes[code].status for code in codes} == {"active"}


def test_every_matcher_is_used_by_a_rule(known):
    assert {rule.matcher.kind for rule in active_rules(known) if rule.matcher} == set(matcher_modules())


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

    assert {name: load_detector(rules[name]).module for name in rule_modules()} == rule_modules()


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
