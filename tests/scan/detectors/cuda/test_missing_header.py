from __future__ import annotations

RULE = "missing_header"
INCLUDE = "#include <device_launch_parameters.h>\n"


def test_message_names_header_and_reason(findings):
    (finding,) = findings(RULE, "a.cpp", INCLUDE)

    assert finding.code == "CU201"
    assert (
        finding.message == "device_launch_parameters.h is not part of HIP: threadIdx and related variables are built in"
    )
    assert finding.recipe == "toolkit-header-guarded"
