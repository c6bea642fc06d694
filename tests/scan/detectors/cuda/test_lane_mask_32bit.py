from __future__ import annotations

import pytest

RULE = "lane_mask_32bit"
CALL = "__device__ float f(float v) {\n  return __shfl_down_sync(0xffffffff, v, 16);\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        CALL.replace("0xffffffff", "0xffffffffffffffffull"),
        CALL.replace("0xffffffff", "mask"),
        CALL.replace("0xffffffff", "0x0000ffff"),
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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "a.cu", text) == []


def test_is_not_looked_for_in_python(places):
    assert places(RULE, "a.py", CALL) == []


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
def test_every_intrinsic(places, intrinsic):
    assert places(RULE, "a.cu", f"int f(int v) {{ return {intrinsic}(0xffffffff, v); }}\n") == [
        (1, len("int f(int v) { return (") + len(intrinsic) + 1)
    ]


@pytest.mark.parametrize("mask", ["0xffffffff", "0xFFFFFFFF", "0xffffffffu", "0xFFFFFFFFU", "(0xffffffff)"])
def test_every_spelling_of_the_mask(places, mask):
    assert places(RULE, "a.cu", CALL.replace("0xffffffff", mask)) == [(2, 27)]


@pytest.mark.parametrize(
    ("text", "where"),
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
def test_place(places, text, where):
    """The mask itself, columns counted in characters."""
    assert places(RULE, "a.cu", text) == where


def test_mask_macro_with_a_line_comment_is_still_a_mask(places):
    text = "#define FULL 0xffffffff  // all lanes\n" + CALL.replace("0xffffffff", "FULL")

    assert places(RULE, "a.cu", text) == [(3, 27)]


def test_comment_before_the_mask_does_not_hide_it(places):
    assert places(RULE, "a.cu", CALL.replace("0xffffffff", "/* all */ 0xffffffff")) == [(2, 37)]


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "a.cu", b"// \xff\xfe\n" + CALL.encode()) == [(3, 27)]


def test_message_names_call_and_mask(findings):
    (found,) = findings(RULE, "a.cu", CALL)

    assert found.code == "CU101"
    assert found.message.startswith("__shfl_down_sync gets the 32-bit lane mask 0xffffffff;")
