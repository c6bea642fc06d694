from __future__ import annotations

import pytest

RULE = "half_atomic"
TEXT = "__global__ void k(float* g, __half2 v) {\n  atomicAdd((__half2*)&g[2], v);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("(__half2*)", ""),
        TEXT.replace("(__half2*)", "(unsigned*)"),
        TEXT.replace("(__half2*)&g[2]", "(float*)h"),
        TEXT.replace("atomicAdd", "unsafeAtomicAdd"),
        TEXT.replace("atomicAdd", "my::atomicAdd"),
        TEXT.replace("atomicAdd", "obj.atomicAdd"),
        TEXT.replace("&g[2], v", "&g[2]"),
        "__device__ __half2 atomicAdd(__half2* a, __half2 b);\n" + TEXT,
        "#ifdef USE_ROCM\n__device__ __half2 atomicAdd(__half2* a, __half2 b) { return b; }\n#endif\n" + TEXT,
        "__device__ void f(at::Half* a, at::Half b) { atomicAdd(a, b); }\n",  # torch defines this overload for ROCm too
        "// atomicAdd((__half2*)p, v)\n",
        'const char* s = "atomicAdd((__half2*)p, v)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "atomicAdd(",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 3)]),
        (TEXT.replace("(__half2*)&g[2]", "reinterpret_cast<__half2 *>(g + 2)"), [(2, 3)]),
        (TEXT.replace("(__half2*)&g[2]", "reinterpret_cast<__nv_bfloat162*>(&g[2])"), [(2, 3)]),
        (TEXT.replace("float* g", "half* __restrict__ g").replace("(__half2*)", ""), [(2, 3)]),
        (TEXT.replace("float* g", "half2 *g").replace("(__half2*)&g[2]", "g + 2"), [(2, 3)]),
        (TEXT.replace("atomicAdd", "::atomicAdd").replace("\n", "\r\n"), [(2, 3)]),
        (TEXT + TEXT, [(2, 3)]),
        (TEXT + TEXT.replace("(__half2*)", "(__half*)"), [(2, 3), (5, 3)]),
        (b"// \xff\n" + TEXT.encode(), [(3, 3)]),
        ("class { = ;\n" + TEXT, [(3, 3)]),
    ],
)
def test_positions(positions, text, expected):
    """Only the first call of each type is reported."""
    assert positions(RULE, "a.cuh", text) == expected


def test_message_names_the_type(findings):
    (finding,) = findings(RULE, "a.cu", TEXT)

    assert (finding.code, finding.severity) == ("CU313", "error")
    assert finding.message.startswith("atomicAdd on __half2: HIP has it only for integers, float and double")


def test_rocm_definition_in_any_header_fixes_all_files(scanned):
    shim = "__device__ __half2 atomicAdd(__half2* a, __half2 b) { return b; }\n"

    assert scanned({"a.cu": TEXT, "compat.h": f"#ifdef USE_ROCM\n{shim}#endif\n"}, RULE).findings == ()
    assert scanned({"a.cu": TEXT, "compat.h": f"#ifndef USE_ROCM\n{shim}#endif\n"}, RULE).findings != ()
