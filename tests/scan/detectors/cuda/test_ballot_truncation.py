from __future__ import annotations

import pytest

RULE = "ballot_truncation"
CALL = "__device__ int f(bool p) {\n  unsigned m = __ballot_sync(full, p);\n  return 0;\n}\n"
USE = "unsigned m = __ballot_sync(full, p)"


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("unsigned m", "unsigned long long m"),
        CALL.replace("unsigned m", "uint64_t m"),
        CALL.replace("unsigned m", "auto m"),
        CALL.replace("unsigned m", "bool m"),
        CALL.replace(USE, "unsigned m = __any_sync(full, p)"),
        CALL.replace(USE, "unsigned m = my__ballot_sync(full, p)"),
        CALL.replace(USE, "int n = __popcll(__ballot_sync(full, p))"),
        CALL.replace(USE, "bool any = __ballot_sync(full, p) != 0"),
        CALL.replace(USE, "if (__ballot_sync(full, p)) g()"),
        CALL.replace(USE, "g(__ballot_sync(full, p))"),
        CALL.replace(USE, "unsigned long long m; m = __ballot_sync(full, p)"),
        CALL.replace(USE, "mask[0] = __ballot_sync(full, p)"),
        "unsigned m = 0;\nvoid f() { unsigned long long m = 0; m = __ballot_sync(full, p); }\n",
        "unsigned long long votes(bool p) { return __ballot_sync(full, p); }\n",
        "// unsigned m = __ballot_sync(full, p);\n",
        "/* unsigned m = __ballot_sync(full, p); */\n",
        'const char* s = "unsigned m = __ballot_sync(full, p)";\n',
        f"#if 0\n{CALL}#endif\n",
        f"#ifdef USE_ROCM\n{CALL}#endif\n",
        f"#ifndef __HIP_PLATFORM_AMD__\n{CALL}#endif\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", CALL) == []


@pytest.mark.parametrize("kind", ["unsigned", "unsigned int", "int", "uint32_t", "std::uint32_t", "const U32", "uint"])
def test_every_32_bit_type(findings, kind):
    (finding,) = findings(RULE, "a.cu", CALL.replace("unsigned m", f"{kind} m"))

    assert finding.column == len(f"  {kind} m = ") + 1
    assert f"({kind.removeprefix('const ')} m)" in finding.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL, [(2, 16)]),
        (CALL.replace("\n", "\r\n"), [(2, 16)]),
        (CALL.replace("  unsigned", "/* größe */ unsigned"), [(2, 26)]),
        (CALL.replace("__ballot_sync(full, p)", "__ballot(p) & below"), [(2, 16)]),
        (CALL.replace(USE, "int n = __popc(__ballot_sync(full, p) & below)"), [(2, 18)]),
        (CALL.replace(USE, "int n = __ffs(__ballot_sync(full, p))"), [(2, 17)]),
        (CALL.replace(USE, "g((unsigned)__ballot_sync(full, p))"), [(2, 15)]),
        (CALL.replace(USE, "unsigned m; m = __ballot_sync(full, p)"), [(2, 19)]),
        ("unsigned votes(bool p) { return __ballot_sync(full, p); }\n", [(1, 33)]),
        ("void f(unsigned m) { m = __ballot_sync(full, p); }\n", [(1, 26)]),
        (b"// \xff\n" + CALL.encode(), [(3, 16)]),
        ("class { = ;\n" + CALL, [(3, 16)]),
    ],
)
def test_positions(positions, text, expected):
    """The position is that of the ballot. Columns count characters, not bytes."""
    assert positions(RULE, "a.cu", text) == expected


def test_message_names_the_ballot_and_its_use(findings):
    (finding,) = findings(RULE, "a.cu", CALL.replace(USE, "int n = __popc(__ballot_sync(full, p))"))

    assert finding.code == "CU102"
    assert finding.message.startswith("__ballot_sync is stored in 32 bits (__popc);")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("void f() { unsigned m = __ballot_sync(1, p)" + " | __ballot_sync(1, p)" * 900 + "; }\n", 901),
        ("void f() {" + "unsigned m = __ballot_sync(1, p);" * 5_000 + "}\n", 5_000),
        ("void f() { unsigned m = __ballot_sync" + "(1)" * 50_000 + "; }\n", 0),
        ("void f() { unsigned m = __ballot_sync(1, p)" + ".a()" * 50_000 + "; }\n", 0),
    ],
    ids=["one expression", "one line", "calls of calls", "chain of calls"],
)
def test_runtime_is_linear_in_the_calls(scanned, text, count):
    """With quadratic runtime this test would time out."""
    assert len(scanned({"a.cu": text}, RULE).findings) == count
