from __future__ import annotations

import pytest

RULE = "ldg_half"
TEXT = "__global__ void k(const at::Half *src, int i) {\n  at::Half v = __ldg(src + i);\n}\n"
GENERIC = """template <typename scalar_t>
__global__ void k(const scalar_t *src, const int64_t *index, int i) {
  int64_t row = __ldg(index + i);
  scalar_t v = __ldg(src + row), w = __ldg(src);
}
void f() { AT_DISPATCH_ALL_TYPES_AND(at::ScalarType::Half, t.scalar_type(), "_", [&] {}); }
"""


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("at::Half", "float"),
        TEXT.replace("at::Half", "__half"),
        TEXT.replace("__ldg(src + i)", "src[i]"),
        TEXT.replace("__ldg", "my_ldg"),
        GENERIC.replace("_AND(at::ScalarType::Half, ", "("),
        GENERIC.replace("  scalar_t v = __ldg(src + row), w = __ldg(src);\n", ""),
        "__device__ at::Half __ldg(const at::Half* ptr) { return *ptr; }\n" + TEXT,
        "#ifdef USE_ROCM\n__device__ at::Half __ldg(const at::Half* ptr) { return *ptr; }\n#endif\n" + TEXT,
        "// __ldg((const at::Half*)p)\n",
        'const char* s = "__ldg((const at::Half*)p)";\n',
        f"#if 0\n{TEXT}#endif\n",
        f"#ifndef USE_ROCM\n{TEXT}#endif\n",
        "void f() { __ldg(); __ldg(",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", TEXT) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TEXT, [(2, 16)]),
        (TEXT.replace("at::Half", "c10::BFloat16"), [(2, 21)]),
        (TEXT.replace("*src", "* __restrict__ src").replace("\n", "\r\n"), [(2, 16)]),
        (TEXT.replace("__ldg(src + i)", "__ldg(&src[i])"), [(2, 16)]),
        ("void f(char* p) {\n  __ldg(reinterpret_cast<const at::Half*>(p));\n}\n", [(2, 3)]),
        ("void f(char* p) {\n\t__ldg((const at::Half *)p);\n}\n", [(2, 2)]),
        (GENERIC, [(4, 16)]),
        (TEXT + TEXT, [(2, 16)]),
    ],
)
def test_positions(positions, text, expected):
    """Only the first call of a file is reported."""
    assert positions(RULE, "a.cu", text) == expected


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\n" + TEXT.encode()) == [(3, 16)]


@pytest.mark.parametrize(
    ("text", "severity", "kind"), [(TEXT, "error", "at::Half"), (GENERIC, "warning", "scalar_t that may be a half")]
)
def test_message_names_the_type(findings, text, severity, kind):
    (finding,) = findings(RULE, "a.cu", text)

    assert (finding.code, finding.severity) == ("CU308", severity)
    assert finding.message == f"__ldg reads a {kind}; HIP's __ldg has no such overload"


def test_rocm_definition_in_any_header_fixes_all_files(scanned):
    shim = "__device__ at::Half __ldg(const at::Half* p) { return *p; }\n"

    assert (
        scanned(
            {
                "a.cu": "__global__ void k(const at::Half* p) { at::Half h = __ldg(p); }\n",
                "compat.h": f"#ifdef USE_ROCM\n{shim}#endif\n",
            },
            RULE,
        ).findings
        == ()
    )
    assert (
        scanned(
            {
                "a.cu": "__global__ void k(const at::Half* p) { at::Half h = __ldg(p); }\n",
                "compat.h": f"#ifndef USE_ROCM\n{shim}#endif\n",
            },
            RULE,
        ).findings
        != ()
    )
