from __future__ import annotations

from rocm3d.render.grouping import group_by_family, severity_counts


def test_nothing_is_no_group():
    assert group_by_family(()) == ()
    assert severity_counts(()) == ""


def test_most_errors_first_then_warnings_then_notes_then_name(make):
    findings = [
        make.finding(severity=severity, family=family)
        for family, severities in {
            "z-notes": ["note"] * 9,
            "b-warns": ["warning"],
            "a-warns": ["warning"],
            "one": ["error"],
            "two": ["note", "error", "error"],
        }.items()
        for severity in severities
    ]

    assert [group.family for group in group_by_family(findings)] == ["two", "one", "a-warns", "b-warns", "z-notes"]


def test_errors_before_warnings_before_notes_else_as_they_lie(make):
    words = ["note", "warning", "error", "warning", "error"]
    (group,) = group_by_family(make.finding(severity=name, line=line) for line, name in enumerate(words, 1))

    assert [entry.line for entry in group.findings] == [3, 5, 2, 4, 1]
    assert group.counts == "2 errors, 2 warnings, 1 note"


def test_findings_of_no_family_are_other(make):
    assert [group.family for group in group_by_family([make.finding()])] == ["other"]
