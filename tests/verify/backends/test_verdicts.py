from __future__ import annotations

import pytest

from rocm3d.model.look import NumericCheck, ImportedModule
from rocm3d.verify.backends.verdicts import accelerated, agreed, imported

HERE = ImportedModule(name="fancy", file="/env/fancy.py", version="1.0", origin="environment")
GOOD = NumericCheck(name="sum", tolerance="float32-segment", agrees=True, max_error=1e-6)
BAD = NumericCheck(name="sum", tolerance="float32-segment", agrees=False, reason="computes nothing", max_error=2.0)


@pytest.mark.parametrize("tell", [imported, accelerated, agreed])
@pytest.mark.parametrize(("outcome", "reason"), [("absent", "is not installed"), ("not_run", "torch sees no GPU")])
def test_absent_and_not_run_are_not_run(seen, tell, outcome, reason):
    verdict = tell(seen(outcome, reason=reason), "probe", "")

    assert (verdict.outcome, verdict.reason) == ("not_run", f"fancy: {reason}")


@pytest.mark.parametrize("tell", [imported, accelerated])
def test_an_unplanned_fallback_has_failed_and_a_planned_one_is_skipped(seen, tell):
    look = seen("fallback", reason="no library")

    assert (tell(look, "probe", "").outcome, tell(look, "probe", "").reason) == (
        "failed",
        "fancy: fallback: no library",
    )
    planned = tell(look, "probe", "the plan uses route cpu")
    assert planned.outcome == "skipped"
    assert planned.reason == "fancy: planned fallback: the plan uses route cpu: no library"


@pytest.mark.parametrize("planned", ["", "the plan's"])
@pytest.mark.parametrize("tell", [imported, accelerated])
def test_broken_has_failed_whatever_was_planned(seen, tell, planned):
    assert tell(seen("broken", reason="died"), "probe", planned).outcome == "failed"


def test_a_module_from_elsewhere_has_failed(seen):
    module = HERE.model_copy(update={"origin": "elsewhere"})

    verdict = imported(seen("imported", modules=(module,)), "probe", "")

    assert verdict.outcome == "failed"
    assert "comes from /env/fancy.py, outside the environment and the repository" in verdict.reason


def test_numbers_of_nothing_or_of_the_slow_path_are_not_run(seen):
    broken = agreed(seen("broken", reason="died"), "probe", "")
    slow = agreed(seen("fallback", reason="no library", checks=(GOOD,)), "probe", "")

    assert (broken.outcome, broken.reason) == ("not_run", "fancy: no result: died")
    assert (slow.outcome, slow.reason) == ("not_run", "fancy: only the fallback ran: no library")
    assert agreed(seen("fallback", reason="slow", checks=(GOOD,)), "probe", "the plan's").outcome == "skipped"


def test_wrong_numbers_have_failed_on_any_path(seen):
    for outcome in ("broken", "fallback"):
        verdict = agreed(seen(outcome, reason="r", checks=(GOOD, BAD)), "probe", "the plan's")

        assert (verdict.outcome, verdict.reason) == ("failed", "fancy: sum computes nothing")


def test_what_passed_says_at_what_was_looked(seen):
    look = seen(
        modules=(HERE,), libraries=("/env/_C.so",), backends=("gsplat",), checks=(GOOD, NumericCheck(name="x", agrees=True)),
        facts={"library": "lib.so", "gpu": True},
    )  # fmt: skip

    assert imported(look.model_copy(update={"outcome": "imported"}), "p", "").looked_at == (
        "fancy 1.0 from /env/fancy.py",
    )
    assert accelerated(look, "p", "").looked_at == (
        "fancy 1.0 from /env/fancy.py",
        "library /env/_C.so",
        "kernels of gsplat",
        "library lib.so",
        "sum within float32-segment, largest error 1e-06",
        "x as expected",
    )
    assert agreed(look, "p", "").looked_at[0] == "fancy: sum within float32-segment, largest error 1e-06"
