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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", CALL) == []


@pytest.mark.parametrize("name", ["__match_any_sync", "__match_all_sync", "__reduce_add_sync", "__reduce_xor_sync"])
def test_every_builtin(findings, name):
    (found,) = findings(RULE, "a.cu", CALL.replace("__match_any_sync", name))

    assert (found.line, found.column, found.code) == (2, 10, "CU107")
    assert found.message.startswith(f"{name} works on the whole wave")


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (CALL.replace("\n", "\r\n"), [(2, 10)]),
        (CALL.replace("  return", "/* é */ return"), [(2, 16)]),
        ("#define PEERS(m, g) \\\n    __match_any_sync((m), (g))\n", [(2, 5)]),
        (CALL + CALL, [(2, 10), (5, 10)]),
        (b"// \xff\n" + CALL.encode(), [(3, 10)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "a.cu", text) == where


def test_a_header_of_the_repository_may_answer(scanned):
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
