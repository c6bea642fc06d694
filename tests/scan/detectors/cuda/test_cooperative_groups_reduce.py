from __future__ import annotations

import pytest

RULE = "cooperative_groups_reduce"
INCLUDE = "#include <cooperative_groups/reduce.h>\n"


@pytest.mark.parametrize(
    "text",
    [
        "#include <cooperative_groups.h>\n",
        "#include <my/cooperative_groups/reduce.h>\n",
        "namespace cg = cooperative_groups;\nint f() { return cg::reduce(tile, v, op); }\n",
        f"// {INCLUDE}",
        f"/* {INCLUDE} */\n",
        'const char* s = "#include <cooperative_groups/reduce.h>";\n',
        f"#if 0\n{INCLUDE}#endif\n",
        f"#if !defined(USE_ROCM)\n{INCLUDE}#endif\n",
        f"#ifndef __HIP_PLATFORM_AMD__\n{INCLUDE}#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", INCLUDE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (INCLUDE, [(1, 1)]),
        ('\r\n\t#include "cooperative_groups/reduce.h"\r\n', [(2, 2)]),
        (f"/* é */ {INCLUDE}", [(1, 9)]),
        (b"// \xff\n" + INCLUDE.encode(), [(2, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected


def test_message_for_an_unused_header(findings):
    (finding,) = findings(RULE, "a.cu", INCLUDE + "int f() { return reduce_mine(1) + other::reduced(2); }\n")

    assert finding.code == "CU202"
    assert finding.message.endswith("this file uses nothing from it")


@pytest.mark.parametrize(
    "call",
    [
        "namespace cg = cooperative_groups;\nint f() { return cg::reduce(t, v, cg::plus<int>()); }\n",
        "int f() { return cooperative_groups::reduce(t, v, op); }\n",
        "namespace coop = cooperative_groups;\nint f() { return coop::reduce(t, v, op); }\n",
        "using namespace cooperative_groups;\nint f() { return reduce(t, v, op); }\n",
    ],
)
def test_message_for_a_used_header(findings, call):
    (finding,) = findings(RULE, "a.cu", INCLUDE + call)

    assert finding.message.endswith("this file calls its reduce")
