from __future__ import annotations

RULE = "wmma"
SAMPLE = "#include <mma.h>\n"


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")
