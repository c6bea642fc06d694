from __future__ import annotations

import pytest

RULE = "match_any"
CALL = "__device__ unsigned f(int key) {\n  return __match_any_sync(mask, key);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("__match_any_sync", "__ballot_sync"),
        CALL.replace("__match_any_sync", "my__match_any_sync"),
        CALL.replace("__match_any_sync(mask, key)", "tile.match_any(key)"),
        CALL.replace("__match_any_sync(mask, key)", "__match_any_sync"),
        "// __match_any_sync(mask, key)\n",
        "/* __match_any_sync(mask, key) */\n",
        'const char* s = "__match_any_sync(mask, key)";\n',
        f"#if 0\n{CALL}#endif\n",
        f"#ifndef USE_ROCM\n{CALL}#endif\n",
        f"#ifdef USE_ROCM\n{CALL}#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", CALL) == []


@pytest.mark.parametrize("name", ["__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_xor_sync"])
def test_every_builtin(findings, name):
    (finding,) = findings(RULE, "a.cu", CALL.replace("__match_any_sync", name))

    assert (finding.line, finding.column, finding.code) == (2, 10, "CU107")
    assert finding.message.startswith(f"{name} works on the whole wave")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL.replace("\n", "\r\n"), [(2, 10)]),
        (CALL.replace("  return", "/* é */ return"), [(2, 16)]),
        ("#define PEERS(m, g) \\\n    __match_any_sync((m), (g))\n", [(2, 5)]),
        (CALL + CALL, [(2, 10), (5, 10)]),
        (b"// \xff\n" + CALL.encode(), [(3, 10)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


def test_rocm_definition_in_any_header_fixes_all_files(scanned):
    shim = "#define __match_any_sync(m, v) mine(v)\n"

    assert (
        scanned(
            {"a.cu": "void f() { __match_any_sync(m, v); }\n", "compat.h": f"#ifdef USE_ROCM\n{shim}#endif\n"}, RULE
        ).findings
        == ()
    )
    assert (
        scanned(
            {"a.cu": "void f() { __match_any_sync(m, v); }\n", "compat.h": f"#ifndef USE_ROCM\n{shim}#endif\n"}, RULE
        ).findings
        != ()
    )
