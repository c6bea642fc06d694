from __future__ import annotations

from dataclasses import replace

from rocm3d.verify.probes.find_leftovers import probe


def test_skipped_without_a_planned_edit(case, make_finding):
    (verdict,) = probe.attempt(case(findings=[make_finding("a.cu")]))

    assert (verdict.outcome, verdict.reason) == ("skipped", "the plan has no edits")


def test_skipped_when_every_edit_was_refused(case, make_finding):
    (verdict,) = probe.attempt(case(planned=["a.cu"], refused=["a.cu"], findings=[make_finding("a.cu")]))

    assert (verdict.outcome, verdict.reason) == ("skipped", "every planned edit was refused")


def test_failed_when_it_is_still_found(case, make_finding):
    (verdict,) = probe.attempt(case(planned=["a.cu", "b.cu"], findings=[make_finding("a.cu")]))

    assert (verdict.outcome, verdict.reason) == ("failed", "still found: a.cu:1:1 CU201")
    assert verdict.looked_at == ("a.cu: CU201", "b.cu: CU201")


def test_a_refused_edit_excuses_only_its_own_file(case, make_finding):
    findings = [make_finding("a.cu"), make_finding("b.cu")]

    (verdict,) = probe.attempt(case(planned=["a.cu", "b.cu"], refused=["a.cu"], findings=findings))

    assert verdict.reason == "still found: b.cu:1:1 CU201"


def test_what_was_never_planned_is_no_leftover(case, make_finding):
    findings = [make_finding("a.cu", "CU301"), make_finding("c.cu")]

    assert probe.attempt(case(planned=["a.cu"], findings=findings))[0].outcome == "passed"


def test_a_finding_of_the_same_code_about_another_package_is_no_leftover(case, make_finding):
    findings = make_finding("a.cu").model_copy(update={"package": "other"})

    assert probe.attempt(case(planned=["a.cu"], findings=[findings]))[0].outcome == "passed"


def test_a_note_is_no_leftover(case, make_finding):
    with_note = case(planned=["a.cu"], findings=[make_finding("a.cu")])
    note = with_note.plan.edits[0].findings[0].model_copy(update={"severity": "note"})
    plan = with_note.plan.model_copy(
        update={"edits": (with_note.plan.edits[0].model_copy(update={"findings": (note,)}),)}
    )

    assert probe.attempt(replace(with_note, plan=plan))[0].outcome == "skipped"


def test_passed(case):
    (verdict,) = probe.attempt(case(planned=["b.cu", "a.cu"]))

    assert (verdict.outcome, verdict.looked_at) == ("passed", ("a.cu: CU201", "b.cu: CU201"))
