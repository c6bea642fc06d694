"""A repository may hide findings, but each one is counted, and none makes the repository look better."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rocm3d.scan.detector import active_rules
from rocm3d.scan.hidden_findings import count_hidden, hidden_findings
from rocm3d.scan.selection import RuleSettings, Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree

FILES = {
    "requirements.txt": "torch==2.1.0+cu121\ngsplat\n",
    "a.cu": "#include <device_functions.h>\nvoid f() { k<< <1, 1>> >(); }\n",
    "ignored.cu": "void f() { k<< <1, 1>> >(); }  // rocm3d: ignore[spaced_launch]\n",
}
EVERYTHING = RuleSettings("rocm3d.toml", skip=("CU", "BLD", "DEP", "PY"))


@pytest.fixture
def scan_with(tmp_path, known):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def run(settings: RuleSettings | None = None, *, isolated: bool = False):
        selection = Selection(settings=settings, isolated=isolated)
        return scan(Tree.open(tmp_path), known, selection, lambda _: None)

    return run


def test_settings_that_hide_everything_do_not_make_a_repository_ready(scan_with):
    hidden, isolated = scan_with(EVERYTHING), scan_with(isolated=True)

    assert hidden.findings == ()
    assert isolated.inventory.readiness == "needs-edits"
    assert (hidden.inventory.readiness, hidden.inventory.reasons) == (
        isolated.inventory.readiness,
        isolated.inventory.reasons,
    )
    assert [item.finding for item in hidden.hidden] == list(isolated.findings)


def test_hidden_findings_are_counted_by_source(scan_with):
    document = scan_with(RuleSettings("rocm3d.toml", skip=("CU201", "DEP")))

    by_settings, by_comments = document.inventory.hidden
    assert (by_settings.source, by_settings.setting) == ("rocm3d.toml", "skip = CU201, DEP")
    assert (by_comments.source, by_comments.setting) == ("comments", "")
    assert by_settings.count == sum(item.source == "rocm3d.toml" for item in document.hidden) == 3
    assert by_settings.text.startswith("3 findings hidden by settings in rocm3d.toml (skip = CU201, DEP): 3 errors")
    assert by_settings.text.endswith("; show them: --isolated")
    assert {item.finding.path for item in document.hidden if item.source == "comments"} == {"ignored.cu"}


def test_comment_hides_a_finding_and_is_counted_as_before(scan_with):
    document, isolated = scan_with(), scan_with(isolated=True)

    assert document.inventory.ignored == 1
    assert isolated.inventory.ignored == 0
    assert "ignored.cu" not in {finding.path for finding in document.findings}
    assert "ignored.cu" in {finding.path for finding in isolated.findings}
    assert isolated.hidden == isolated.inventory.hidden == ()


def test_rules_of_the_command_line_are_named_and_hide_nothing(tmp_path, known):
    (tmp_path / "a.cu").write_text(FILES["a.cu"])
    document = scan(Tree.open(tmp_path), known, Selection(only=("CU",), skip=("CU201", "CU3")), lambda _: None)

    assert document.inventory.rules == "--only CU --skip CU201,CU3"
    assert document.hidden == ()


def test_equal_findings_are_hidden_one_by_one(scan_with):
    findings = scan_with().findings
    twice = [*findings, findings[0]]

    (hidden,) = hidden_findings(twice, findings, None)

    assert (hidden.finding, hidden.source) == (findings[0], "comments")
    assert hidden_findings(findings, findings, EVERYTHING) == ()
    assert count_hidden((), EVERYTHING) == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_settings_leave_the_readiness_and_lose_no_finding(scan_with, known, data):
    selectors = st.lists(st.sampled_from(sorted({rule.code[:n] for rule in active_rules(known) for n in (2, 5)})))
    rules = RuleSettings("rocm3d.toml", tuple(data.draw(selectors)), tuple(data.draw(selectors)))
    document, isolated = scan_with(rules), scan_with(isolated=True)

    assert document.inventory.readiness == isolated.inventory.readiness
    assert document.inventory.reasons == isolated.inventory.reasons

    def places(findings):
        return sorted((finding.path, finding.line, finding.column, finding.code) for finding in findings)

    assert places(document.all_findings) == places(isolated.findings)
    assert sum(item.count for item in document.inventory.hidden) == len(document.hidden)
    assert not [finding for finding in document.findings if rules.hides(finding.code, finding.rule)]
