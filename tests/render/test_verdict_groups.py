from __future__ import annotations

from rocm3d.model.verdict import Verdict
from rocm3d.render.verdict_groups import verdict_groups


def verdict(
    target: str, outcome: str = "passed", reason: str = "", subject: str = "k.cu (p._C)", checked=()
) -> Verdict:
    return Verdict(
        level="compile", probe="compile_extensions", outcome=outcome, reason=reason,
        looked_at=tuple(checked), target=target, subject=subject,
    )  # fmt: skip


def test_verdicts_without_a_subject_stay_separate():
    groups = verdict_groups([verdict("", "failed", "x", subject=""), verdict("", "failed", "x", subject="")])

    assert [group.detail for group in groups] == ["x", "x"]


def test_targets_of_a_unit_that_passed_are_one_entry():
    headers = "headers: HIP 7.7.7 (mixed)"
    sides = [
        verdict("gfx942", checked=("gfx942: 1 kernel, wave 64", headers)),
        verdict("host", checked=("host: compiled", headers)),
    ]

    (group,) = verdict_groups(sides)

    assert group.detail == f"k.cu (p._C): gfx942: 1 kernel, wave 64, host: compiled, {headers}"
    assert group.covered == group.detail


def test_targets_that_failed_for_the_same_reason_are_named():
    sides = [verdict("gfx942", "failed", "k.cu:3: x"), verdict("gfx1100", "failed", "k.cu:3: x")]

    groups = verdict_groups([*sides, verdict("host", checked=("host: compiled",))])

    assert [(group.outcome, group.scope) for group in groups] == [
        ("failed", "k.cu (p._C), gfx942, gfx1100"),
        ("passed", "k.cu (p._C)"),
    ]
    assert groups[0].detail == "k.cu (p._C), gfx942, gfx1100: k.cu:3: x"


def test_other_reasons_and_other_units_stay_separate():
    sides = [
        verdict("gfx942", "failed", "x"),
        verdict("gfx1100", "failed", "y"),
        verdict("gfx942", "failed", "x", "other.cu (p._C)"),
    ]

    assert len(verdict_groups(sides)) == 3


def test_many_checks_without_a_subject_are_counted():
    (group,) = verdict_groups([verdict("", checked=tuple("abcdef"), subject="")])

    assert group.detail == "covered 6: a, b, c, d"
    assert group.covered == "a, b, c, d, e, f"
