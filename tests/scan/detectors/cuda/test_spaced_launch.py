from __future__ import annotations

RULE = "spaced_launch"
LAUNCH = "void f() {\n    kernel << <grid, block >> > (x);\n}\n"


def test_fields_of_the_finding(findings):
    (finding,) = findings(RULE, "csrc/a.cu", LAUNCH)

    assert (finding.code, finding.rule, finding.severity, finding.path) == ("CU301", RULE, "error", "csrc/a.cu")
    assert "chevrons" in finding.message
    assert "<<<grid, block>>>" in finding.hint
    assert finding.family == "native-op"
    assert finding.package is None
