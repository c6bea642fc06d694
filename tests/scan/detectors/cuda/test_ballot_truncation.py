from __future__ import annotations

import pytest

RULE = "ballot_truncation"
CALL = "__device__ int f(bool p) {\n  unsigned m = __ballot_sync(full, p);\n  return 0;\n}\n"
USE = "unsigned m = __ballot_sync(full, p)"


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
