from __future__ import annotations

import pytest

RULE = "missing_intrinsic"
TEXT = "__device__ float f(float c) {\n  return __frcp_rz(c);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("_rz", "_rn"),  # HIP has round-to-nearest
        TEXT.replace("__frcp_rz", "__fsqrt_rn"),
        TEXT.replace("__frcp_rz", "__float2int_rz"),  # conversions have every rounding mode
        TEXT.replace("__frcp_rz", "my::__frcp_rz"),
        TEXT.replace("__frcp_rz", "p->__frcp_rz"),
        TEXT.replace("__frcp_rz", "m__frcp_rz"),
        TEXT.replace("__frcp_rz(c)", "__frcp_rz"),
        TEXT.replace("__frcp_rz", "__vector4"),
        TEXT.replace("__frcp_rz", "atomicAdd"),
        TEXT.replace("__frcp_rz", "atomicAdd_system"),
        TEXT.replace("__frcp_rz", "__isnan"),
        "__device__ float __frcp_rz(float);\n" + TEXT,
        "#ifdef USE_ROCM\n#define __frcp_rz(x) (1.0f / (x))\n#endif\n" + TEXT,
        "// __frcp_rz(c)\n",
        'const char* s = "__frcp_rz(c)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    "name",
    ["__fadd_rd", "__fsub_ru", "__fmul_rz", "__fdiv_rz", "__fmaf_rd", "__fsqrt_ru", "__dadd_rz", "__fma_rz",
     "__vadd4", "__vcmpgtu2", "__vabsdiffu4", "__vsetne2", "__dp4a", "__dp2a_lo", "__nanosleep", "__ldcg", "__ldlu",
     "__stcs", "__stwt", "__cvta_generic_to_shared", "__isShared", "__brkpt", "__prof_trigger", "atomicAdd_block"],
)  # fmt: skip
def test_wildcard_terms(positions, name):
    assert positions(RULE, "a.cu", TEXT.replace("__frcp_rz", name)) == [(2, 10)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT.replace("__frcp_rz(c)", "__frcp_rz (__frcp_rz(c))"), [(2, 10), (2, 21)]),
        (TEXT.replace("__frcp_rz", "::__frcp_rz"), [(2, 12)]),
        ("#define HALF(x) \\\n  (__frcp_rz(x) * .5f)\n", [(2, 4)]),
        (TEXT.replace("\n", "\r\n"), [(2, 10)]),
        (b"// \xff\n" + TEXT.encode(), [(3, 10)]),
        ("class { = ;\n" + TEXT, [(3, 10)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "a.cuh", text) == expected


def test_message_says_what_to_do_instead(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU312", "error")
    assert finding.message.startswith("HIP has no __frcp_rz: only rounding to nearest is available")


def test_rocm_definition_in_any_header_fixes_all_files(scanned):
    shim = "#define __frcp_rz(x) (1.0f / (x))\n"

    assert scanned({"a.cu": TEXT, "compat.h": f"#ifdef USE_ROCM\n{shim}#endif\n"}, RULE).findings == ()
    assert scanned({"a.cu": TEXT, "compat.h": f"#ifndef USE_ROCM\n{shim}#endif\n"}, RULE).findings != ()
