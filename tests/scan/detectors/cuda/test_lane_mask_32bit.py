from __future__ import annotations

import pytest

RULE = "lane_mask_32bit"
CALL = "__device__ float f(float v) {\n  return __shfl_down_sync(0xffffffff, v, 16);\n}\n"
WRAPPER = "#ifdef USE_ROCM\n#define SHFL(m, v) __shfl(v, 0)\n#else\n#define SHFL(m, v) __shfl_sync(m, v, 0)\n#endif\n"


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("0xffffffff", "0xffffffffffffffffull"),
        CALL.replace("0xffffffff", "mask"),
        CALL.replace("0xffffffff", "0xffffffffl"),
        CALL.replace("0xffffffff", "1ull << 4"),
        CALL.replace("0xffffffff", "(unsigned long long)0xffffffff"),
        CALL.replace("0xffffffff", "other()"),
        CALL.replace("  return", "  auto m = __activemask(); return").replace("0xffffffff", "m"),
        CALL.replace("float v", "float v, uint64_t mask").replace("0xffffffff", "mask"),
        "template <typename M>\n" + CALL.replace("float v", "float v, M mask").replace("0xffffffff", "mask"),
        "void g(unsigned mask);\n" + CALL.replace("0xffffffff", "mask"),
        "void g() { unsigned mask = 1; }\n" + CALL.replace("0xffffffff", "mask"),
        "unsigned mask;\n" + CALL.replace("float v", "float v, uint64_t mask").replace("0xffffffff", "mask"),
        "#ifdef USE_ROCM\nusing M = unsigned long long;\n#else\nusing M = unsigned;\n#endif\n"
        + CALL.replace("float v", "float v, M mask").replace("0xffffffff", "mask"),
        "#ifdef USE_ROCM\n#define __shfl_down_sync(m, v, d) __shfl_down(v, d)\n#endif\n" + CALL,
        WRAPPER + "int f(int v) { return SHFL(0xffffffff, v); }\n",
        "#define SHFL(m, v) __shfl_sync(m, v, 0)\n",
        "#define FULL_MASK 0xffffffffffffffffull\n",
        "#define COLOR_MASK 0xffffffff\n",
        "#ifndef USE_ROCM\n#define FULL_MASK 0xffffffff\n#endif\n",
        "#define LOOP LOOP\n" + CALL.replace("0xffffffff", "LOOP"),
        CALL.replace("0xffffffff", "9" * 5000),
        CALL.replace("0xffffffff", "__activemask()"),
        CALL.replace("__shfl_down_sync", "my_sync"),
        CALL.replace("__shfl_down_sync(0xffffffff, v, 16)", "__shfl_down(v, 16)"),
        "uint32_t hash(uint64_t v) { return (v >> 32) & 0xffffffff; }\n",
        "void f() { __syncwarp(); __shfl_sync(); }\n",
        "// __shfl_sync(0xffffffff, v, 0)\n",
        "/* __shfl_sync(0xffffffff, v, 0) */\n",
        'const char* s = "__shfl_sync(0xffffffff, v, 0)";\n',
        f"#if 0\n{CALL}#endif\n",
        f"#ifdef USE_ROCM\n{CALL}#endif\n",
        f"#if !defined(__HIP_PLATFORM_AMD__)\n{CALL}#endif\n",
        "#if defined(USE_ROCM)\n#define FULL 0xffffffffffffffffull\n#else\n#define FULL 0xffffffff\n#endif\n"
        + CALL.replace("0xffffffff", "FULL"),
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", CALL) == []


@pytest.mark.parametrize(
    "intrinsic",
    [
        "__shfl_sync",
        "__shfl_xor_sync",
        "__shfl_up_sync",
        "__ballot_sync",
        "__any_sync",
        "__all_sync",
        "__match_any_sync",
        "__reduce_add_sync",
    ],
)
def test_every_intrinsic(positions, intrinsic):
    assert positions(RULE, "a.cu", f"int f(int v) {{ return {intrinsic}(0xffffffff, v); }}\n") == [
        (1, len("int f(int v) { return (") + len(intrinsic) + 1)
    ]


@pytest.mark.parametrize("mask", ["0xffffffff", "0xFFFFFFFF", "0xffffffffu", "0xFFFFFFFFU", "(0xffffffff)"])
def test_every_spelling_of_the_mask(positions, mask):
    assert positions(RULE, "a.cu", CALL.replace("0xffffffff", mask)) == [(2, 27)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CALL.replace("\n", "\r\n"), [(2, 27)]),
        (CALL.replace("  return", "\treturn"), [(2, 26)]),
        (CALL.replace("  return", "/* größe 日本 */ return"), [(2, 40)]),
        ("#define FULL 0xffffffff\n" + CALL.replace("0xffffffff", "FULL"), [(3, 27)]),
        ("#define FULL (0xffffffffu)\r\n" + CALL.replace("0xffffffff", "FULL"), [(3, 27)]),
        ("#define FULL 0xffffffff /* all */\n" + CALL.replace("0xffffffff", "FULL"), [(3, 27)]),
        (CALL + CALL, [(2, 27), (5, 27)]),
        ("#ifdef FAST\n" + CALL + "#endif\n", [(3, 27)]),
    ],
)
def test_positions(positions, text, expected):
    """The position is that of the mask. Columns count characters, not bytes."""
    assert positions(RULE, "a.cu", text) == expected


def test_mask_macro_with_a_line_comment_is_still_a_mask(positions):
    text = "#define FULL 0xffffffff  // all lanes\n" + CALL.replace("0xffffffff", "FULL")

    assert positions(RULE, "a.cu", text) == [(3, 27)]


@pytest.mark.parametrize(
    "mask",
    [
        "-1",
        "~0u",
        "~0",
        "0x0000ffff",
        "4294967295u",
        "(unsigned)-1",
        "static_cast<uint32_t>(x)",
        "unsigned(x)",
        "(1u << n) - 1",
    ],
)
def test_narrow_expressions(positions, mask):
    assert positions(RULE, "a.cu", CALL.replace("0xffffffff", mask)) == [(2, 27)]


@pytest.mark.parametrize(
    "declaration",
    [
        "const unsigned full = 0xffffffff;",
        "constexpr uint32_t full = ~0u;",
        "static const int full = -1;",
        "unsigned int full = __activemask();",
        "U32 full = __ballot_sync(other(), true);",
        "const auto full = 0xffffffffu;",
        "#define full ((unsigned)0xffffffff)",
        "#define ones 0xffffffffu\n#define full ones",
        "typedef unsigned lanes_t; lanes_t full = rest();",
    ],
)
def test_name_that_the_file_declares_narrow(positions, declaration):
    text = f"{declaration}\n" + CALL.replace("0xffffffff", "full")

    assert positions(RULE, "a.cu", text) == [(3 + declaration.count("\n"), 27)]


def test_parameter_of_a_wrapper(findings):
    text = "half __shfl_sync(const unsigned mask, const half v) {\n  return __shfl_sync(mask, v.x, 0);\n}\n"

    (finding,) = findings(RULE, "a.cuh", text)

    assert (finding.line, finding.column, finding.severity) == (2, 22, "error")
    assert finding.message.startswith("__shfl_sync gets the 32-bit lane mask mask;")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#define DOWN(v, d) \\\n  __shfl_down_sync(0xffffffff, v, d)\n", [(2, 20)]),
        ("#define DOWN(m, v) __shfl_down_sync(m, v, 1)\nint f(int v) { return DOWN(~0u, v); }\n", [(2, 28)]),
        (
            "#if A\n#define G(m) do { int t = __any_sync((m), 1); } while (0)\n#else\n#define G(m)\n#endif\nG(~0u);\n",
            [(6, 3)],
        ),
        ("#if A\n#define G(m) __any_sync(m, 1)\n#define H() \\\n  G(~0u)\n#else\n#define G(m)\n#endif\n", [(4, 5)]),
        ("int f(int v) { return ::__any_sync(~0u, v); }\n", [(1, 36)]),
    ],
)
def test_macro_and_global_namespace(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("#define FULL_MASK 0xffffffff\n", "error"),
        ("constexpr unsigned kFullMask = 0xffffffffu;\n", "error"),
        ("#define FULL_MASK 0xffffffff\nint f(int v) { return SHFL_SYNC(FULL_MASK, v); }\n", "note"),
    ],
)
def test_full_mask_for_other_files_is_reported_at_its_definition(findings, text, severity):
    (finding,) = findings(RULE, "a.h", text)

    assert (finding.line, finding.column, finding.severity) == (1, 1, severity)


def test_comment_before_the_mask_does_not_hide_it(positions):
    assert positions(RULE, "a.cu", CALL.replace("0xffffffff", "/* all */ 0xffffffff")) == [(2, 37)]


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + CALL.encode()) == [(3, 27)]


def test_message_names_call_and_mask(findings):
    (finding,) = findings(RULE, "a.cu", CALL)

    assert finding.code == "CU101"
    assert finding.message.startswith("__shfl_down_sync gets the 32-bit lane mask 0xffffffff;")


def test_rocm_definition_in_any_header_fixes_all_files(scanned):
    shim = "#define __shfl_down_sync(m, v, d) __shfl_down(v, d)\n"

    assert scanned({"a.cu": CALL, "compat.h": f"#ifdef USE_ROCM\n{shim}#endif\n"}, RULE).findings == ()
    assert scanned({"a.cu": CALL, "compat.h": f"#ifndef USE_ROCM\n{shim}#endif\n"}, RULE).findings != ()
