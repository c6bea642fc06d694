from __future__ import annotations

import pytest

from rocm3d.model.backend_check import ImportedModule, NumericCheck
from rocm3d.verify.backends.package_checks import backend_verdict, import_verdict, numerics_verdict
from rocm3d.verify.probe import Probe

PROBE = Probe("probe", "backend", lambda case: ())
HERE = ImportedModule(name="fancy", file="/env/fancy.py", version="1.0", origin="environment")
GOOD = NumericCheck(name="sum", tolerance="float32-segment", agrees=True, max_error=1e-6)
BAD = NumericCheck(name="sum", tolerance="float32-segment", agrees=False, reason="computes nothing", max_error=2.0)


@pytest.mark.parametrize("make_verdict", [import_verdict, backend_verdict, numerics_verdict])
@pytest.mark.parametrize(("outcome", "reason"), [("absent", "is not installed"), ("not_run", "torch sees no GPU")])
def test_absent_and_not_run_are_not_run(make_check, make_verdict, outcome, reason):
    verdict = make_verdict(make_check(outcome, reason=reason), PROBE, "")

    assert (verdict.outcome, verdict.reason) == ("not_run", f"fancy: {reason}")


@pytest.mark.parametrize("make_verdict", [import_verdict, backend_verdict])
def test_an_unplanned_fallback_fails_and_a_planned_one_is_skipped(make_check, make_verdict):
    backend_check = make_check("fallback", reason="no library")

    assert (make_verdict(backend_check, PROBE, "").outcome, make_verdict(backend_check, PROBE, "").reason) == (
        "failed",
        "fancy: fallback: no library",
    )
    planned = make_verdict(backend_check, PROBE, "the plan uses route cpu")
    assert planned.outcome == "skipped"
    assert planned.reason == "fancy: planned fallback: the plan uses route cpu: no library"


@pytest.mark.parametrize("planned", ["", "the plan's"])
@pytest.mark.parametrize("make_verdict", [import_verdict, backend_verdict])
def test_broken_fails_whatever_was_planned(make_check, make_verdict, planned):
    assert make_verdict(make_check("broken", reason="died"), PROBE, planned).outcome == "failed"


def test_a_module_from_an_unexpected_folder_fails(make_check):
    module = HERE.model_copy(update={"origin": "elsewhere"})

    verdict = import_verdict(make_check("imported", modules=(module,)), PROBE, "")

    assert verdict.outcome == "failed"
    assert "comes from /env/fancy.py, outside the environment and the repository" in verdict.reason


def test_missing_results_and_results_of_a_fallback_are_not_run(make_check):
    broken = numerics_verdict(make_check("broken", reason="died"), PROBE, "")
    slow = numerics_verdict(make_check("fallback", reason="no library", checks=(GOOD,)), PROBE, "")

    assert (broken.outcome, broken.reason) == ("not_run", "fancy: no result: died")
    assert (slow.outcome, slow.reason) == ("not_run", "fancy: only the fallback ran: no library")
    assert (
        numerics_verdict(make_check("fallback", reason="slow", checks=(GOOD,)), PROBE, "the plan's").outcome
        == "skipped"
    )


def test_wrong_results_fail_for_every_outcome(make_check):
    for outcome in ("broken", "fallback"):
        verdict = numerics_verdict(make_check(outcome, reason="r", checks=(GOOD, BAD)), PROBE, "the plan's")

        assert (verdict.outcome, verdict.reason) == ("failed", "fancy: sum computes nothing")


def test_a_passed_verdict_lists_its_evidence(make_check):
    backend_check = make_check(
        modules=(HERE,), libraries=("/env/_C.so",), backends=("gsplat",),
        checks=(GOOD, NumericCheck(name="x", agrees=True)),
        facts={"library": "lib.so", "gpu": True},
    )  # fmt: skip

    assert import_verdict(backend_check.model_copy(update={"outcome": "imported"}), PROBE, "").looked_at == (
        "fancy 1.0 from /env/fancy.py",
    )
    assert backend_verdict(backend_check, PROBE, "").looked_at == (
        "fancy 1.0 from /env/fancy.py",
        "library /env/_C.so",
        "kernels of gsplat",
        "library lib.so",
        "sum within float32-segment, largest error 1e-06",
        "x as expected",
    )
    assert (
        numerics_verdict(backend_check, PROBE, "").looked_at[0]
        == "fancy: sum within float32-segment, largest error 1e-06"
    )
