from __future__ import annotations

import pytest

RULE = "warp_size_literal"
KERNEL = "__global__ void f() {\n  int lane = threadIdx.x & 31;\n  if (lane == 0) g(__ballot_sync(full, p));\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        KERNEL.replace("__ballot_sync(full, p)", "__shfl_sync(full, v, 0, 32)"),
        KERNEL.replace("__ballot_sync(full, p)", "__shfl_down_sync(full, v, 16)"),
        KERNEL.replace("__ballot_sync(full, p)", "__shfl_xor_sync(full, v, 16)"),
        KERNEL.replace("__ballot_sync(full, p)", "blocks"),
        KERNEL.replace("threadIdx.x & 31", "threadIdx.x & 15"),
        KERNEL.replace("threadIdx.x & 31", "threadIdx.x | 31"),
        KERNEL.replace("threadIdx.x & 31", "hash >> 5"),
        KERNEL.replace("threadIdx.x & 31", "threadIdx.x % WARP_SIZE"),
        KERNEL.replace("threadIdx.x & 31", "threadIdx.x % warpSize"),
        KERNEL.replace("int lane = threadIdx.x & 31", "auto tile = cg::tiled_partition<32>(block)"),
        "#define WARP_SIZE 32\n" + KERNEL.replace("threadIdx.x & 31", "tile.thread_rank()"),
        "constexpr int WARP_SIZE = 32;\nint blocks(int n) { return (n + WARP_SIZE - 1) / WARP_SIZE; }\n",
        "int f() { return threadIdx.x / 32; }\nint g() { return __ballot_sync(full, p) != 0; }\n",
        "/*\n" + KERNEL + "*/\n",
        "// int lane = threadIdx.x & 31; __ballot_sync(full, p);\n",
        'const char* s = "threadIdx.x & 31; __ballot_sync(full, p)";\n',
        f"#if 0\n{KERNEL}#endif\n",
        f"#ifndef USE_ROCM\n{KERNEL}#endif\n",
        "#ifdef USE_ROCM\n#define WARP_SIZE 64\n#else\n#define WARP_SIZE 32\n#endif\n"
        + KERNEL.replace("threadIdx.x & 31", "threadIdx.x % WARP_SIZE"),
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "a.cu", text) == []


def test_python_files_are_not_searched(positions):
    assert positions(RULE, "a.py", KERNEL) == []


@pytest.mark.parametrize(
    "arithmetic",
    [
        "threadIdx.x & 31", "threadIdx.x & 0x1f", "threadIdx.x % 32", "threadIdx.x / 32u", "tid >> 5",
        "thread_idx & (32 - 1)",
    ],
)  # fmt: skip
def test_every_arithmetic(findings, arithmetic):
    (finding,) = findings(RULE, "a.cu", KERNEL.replace("threadIdx.x & 31", arithmetic))

    assert (finding.line, finding.column, finding.severity) == (2, 14, "warning")
    assert finding.message == f"{arithmetic} assumes 32 lanes per wave"


@pytest.mark.parametrize("call", ["__any_sync(full, p)", "__all(p)", "__activemask()", "__shfl_sync(full, v, 0)"])
def test_every_call_over_the_whole_wave(positions, call):
    assert positions(RULE, "a.cu", KERNEL.replace("__ballot_sync(full, p)", call)) == [(2, 14)]


@pytest.mark.parametrize(
    ("definition", "use", "column"),
    [
        ("#define WARP_SIZE 32", "threadIdx.x % WARP_SIZE", 1),
        ("#define WARP_SIZE 32  // lanes", "threadIdx.x / WARP_SIZE", 1),
        ("#define WARP_SIZE (32)", "threadIdx.x & (WARP_SIZE - 1)", 1),
        ("constexpr int kWarpSize = 32;", "threadIdx.x & (kWarpSize - 1)", 15),
        ("const int warp_size = 32;", "tid / warp_size", 11),
    ],
)
def test_named_width_is_reported_at_its_definition(findings, definition, use, column):
    (finding,) = findings(RULE, "a.cu", f"{definition}\n{KERNEL.replace('threadIdx.x & 31', use)}")

    assert (finding.line, finding.column, finding.code) == (1, column, "CU104")
    assert " = 32 assumes 32 lanes per wave" in finding.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (KERNEL.replace("\n", "\r\n"), [(2, 14)]),
        (KERNEL.replace("  int", "/* é */ int"), [(2, 20)]),
        (KERNEL.replace("g(", "h(threadIdx.x >> 5, "), [(2, 14)]),
        (KERNEL + KERNEL, [(2, 14), (6, 14)]),
        (b"// \xff\n" + KERNEL.encode(), [(3, 14)]),
    ],
)
def test_position_is_the_first_of_each_function(positions, text, expected):
    assert positions(RULE, "a.cu", text) == expected
