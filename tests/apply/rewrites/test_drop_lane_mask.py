from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.drop_lane_mask import edit
from rocm3d.syntax.isolation import prove_isolation

MASK = {"calls": ["__shfl_sync", "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"], "width": 32}


def kernel(line: str) -> bytes:
    return f"__device__ float f(float v, unsigned m, int w) {{\n  {line}\n}}\n".encode()


@pytest.mark.parametrize(
    "line",
    [
        "v += __shfl_sync(0xffffffff, v);",
        "v += __shfl_sync(0xffffffff, v, 0, w);",
        "v += __shfl_sync(0xffffffff, v, 0, 64);",
        "v += __shfl_sync(0xffffffff, __shfl_sync(0xffffffff, v, 1), 0);",
        "v += __shfl_sync(0xffffffff, v, w % warpSize) + w / 32;",
    ],
)
def test_unsupported_code_is_refused(line):
    with pytest.raises(RewriteRefusedError):
        edit(kernel(line), MASK)


def test_a_call_in_a_macro_stays():
    data = b"#define SUM(v) \\\n  __shfl_xor_sync(0xffffffff, v, 1)\nint a;\n"

    assert edit(data, MASK) == data


@pytest.mark.parametrize(
    "line",
    [
        "v += __shfl_sync(m, v, 0);",
        "v += __shfl_sync(0xffffffffffffffffull, v, 0);",
        "v += __shfl_sync(0x0000ffff, v, 0);",
        "// __shfl_sync(0xffffffff, v, 0)",
        "v += own::__shfl_sync(0xffffffff, v, 0);",
        "v += __any_sync(0xffffffff, v > 0);",
    ],
)
def test_stays_untouched(line):
    assert edit(kernel(line), MASK) == kernel(line)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("__shfl_down_sync(0xffffffff, v, 16)", "__shfl_down(v, 16, 32)"),
        ("__shfl_xor_sync(0xFFFFFFFFu, v, i, 8)", "__shfl_xor(v, i, 8)"),
        ("__shfl_sync(FULL_MASK, v + 1, 0, warpSize)", "__shfl(v + 1, 0, 32)"),
        ("__shfl_up_sync(~0u, v, 1)", "__shfl_up(v, 1, 32)"),
        ("__shfl_down_sync(0xffffffff, v, warpSize / 2)", "__shfl_down(v, warpSize / 2)"),
        ("__shfl_xor_sync(0xffffffff, v, warpSize / 2, 16)", "__shfl_xor(v, warpSize / 2, 16)"),
    ],
)
def test_drops_the_mask_and_sets_the_width(call, expected):
    before = kernel(f"v += {call};")

    after = proven_edit(edit, before, MASK)

    assert expected.encode() in after


VOTES = {**MASK, "votes": ["__any_sync", "__all_sync"]}


def test_a_whole_wave_vote_with_a_partial_mask_is_refused():
    with pytest.raises(RewriteRefusedError, match="mask"):
        edit(kernel("if (__any_sync(m, v > 0)) v += w % warpSize;"), VOTES)


def test_a_whole_wave_vote_loses_its_mask():
    before = kernel("if (__all_sync(0xffffffff, v > 0)) v += w % warpSize;")

    after = proven_edit(edit, before, VOTES)

    assert b"  if (__all(v > 0)) v += w % warpSize;\n#else\n" in after


def test_a_vote_of_32_lanes_becomes_an_alias():
    before = kernel("if (__any_sync(m, v > 0) || __all_sync(0xffffffff, v)) v += __shfl_up_sync(~0u, v, 1) + (w & 31);")

    after = proven_edit(edit, before, VOTES)

    assert b"if (ROCM3D_ANY(m, v > 0) || ROCM3D_ALL(0xffffffff, v)) v += __shfl_up(v, 1, 32) + (w & 31);" in after


def test_edits_several_calls_over_several_lines():
    before = kernel("v += f(__shfl_down_sync(0xffffffff, v, 16),\n    __shfl_down_sync(0xffffffff, v, 8));")

    after = edit(before, MASK)

    assert after.count(b"#if") == 1
    assert prove_isolation("x.cu", before, after).holds
