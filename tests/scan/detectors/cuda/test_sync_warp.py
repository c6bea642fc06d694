from __future__ import annotations

import pytest

RULE = "sync_warp"
CALL = "__device__ void f() {\n  __syncwarp();\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("__syncwarp", "__syncthreads"),
        CALL.replace("__syncwarp", "my__syncwarp"),
        CALL.replace("__syncwarp()", "tile.sync()"),
        "// __syncwarp();\n",
        "/* __syncwarp(); */\n",
        'const char* s = "__syncwarp()";\n',
        f"#if 0\n{CALL}#endif\n",
        f"#ifndef USE_ROCM\n{CALL}#endif\n",
        f"#ifdef __HIP_PLATFORM_AMD__\n{CALL}#endif\n",
        f"#ifdef USE_ROCM\n#define __syncwarp(...) wave_sync()\n#endif\n{CALL}",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", CALL) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL, [(2, 3)]),
        (CALL.replace("()", "(mask)").replace("\n", "\r\n"), [(2, 3)]),
        (CALL.replace("  __", "/* é */ __"), [(2, 9)]),
        (CALL + CALL, [(2, 3)]),
        ("#define SYNC() \\\n  __syncwarp()\n", [(2, 3)]),
        (f"#ifndef USE_ROCM\n{CALL}#endif\n{CALL}", [(7, 3)]),
        (b"// \xff\n" + CALL.encode(), [(3, 3)]),
    ],
)
def test_position_is_the_first_call_of_the_file(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_message_counts_the_calls(findings):
    (once,) = findings(RULE, "a.cu", CALL)
    (twice,) = findings(RULE, "a.cu", CALL + CALL)

    assert once.code == "CU103"
    assert once.message.startswith("__syncwarp (once in this file) is missing from older HIP")
    assert twice.message.startswith("__syncwarp (2 times in this file)")


def test_rocm_definition_in_any_header_fixes_all_files(scanned):
    shim = "#define __syncwarp(...) __builtin_amdgcn_wave_barrier()\n"

    assert (
        scanned({"a.cu": "void f() { __syncwarp(); }\n", "compat.h": f"#ifdef USE_ROCM\n{shim}#endif\n"}, RULE).findings
        == ()
    )
    assert (
        scanned(
            {"a.cu": "void f() { __syncwarp(); }\n", "compat.h": f"#ifndef USE_ROCM\n{shim}#endif\n"}, RULE
        ).findings
        != ()
    )
