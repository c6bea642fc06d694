from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_ptx import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp


def device(statement: str, more: str = "") -> bytes:
    head = "__device__ unsigned f(unsigned a, unsigned b, unsigned c) {\n  unsigned r;\n"
    return f"{head}  {statement}\n  return r{more};\n}}\n".encode()


@pytest.mark.parametrize(
    "statement",
    [
        'asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));',
        'asm("mov.u32 %0, %%smid;" : "=r"(r));',
        'asm("{ bfind.u32 %0, %1; }" : "=r"(r) : "r"(a));',
        'asm("bfind.u32 %0, %1; add.u32 %0, %0, 1;" : "=r"(r) : "r"(a));',
        'asm("bfind.u32 %0, %1;" : "+r"(r) : "r"(a));',
        'asm("bfind.u64 %0, %1;" : "=r"(r) : "l"(a));',
        'asm("bfe.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));',
        'asm("bfind.u32 %0, %4;" : "=r"(r) : "r"(a));',
    ],
)
def test_unknown_instructions_are_refused(statement):
    with pytest.raises(RewriteRefusedError, match="no counterpart"):
        edit(device(statement), {})


def test_a_32_bit_mask_of_the_whole_wave_is_refused():
    with pytest.raises(RewriteRefusedError, match="32 bits"):
        edit(device('asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));', " + a % warpSize"), {})


@pytest.mark.parametrize("statement", ["r = a;", '// asm("mov.u32 %0, %%laneid;" : "=r"(r));', "r = asmb(a);"])
def test_stays_untouched(statement):
    assert edit(device(statement), {}) == device(statement)


def test_a_cuda_branch_stays():
    data = b"#ifndef USE_ROCM\n" + device('asm("mov.u32 %0, %%laneid;" : "=r"(r));') + b"#endif\n"

    assert edit(data, {}) == data


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ('asm("mov.u32 %0, %%laneid;" : "=r"(r));', "r = __lane_id() & 31u;"),
        ('asm volatile ("mov.u32 %0, %laneid;" : "=r"(r));', "r = __lane_id() & 31u;"),
        ('asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));', "r = (1u << (__lane_id() & 31u)) - 1u;"),
        ('asm("mov.u32 %0, %%lanemask_ge;" : "=r"(r));', "r = ~((1u << (__lane_id() & 31u)) - 1u);"),
        ('asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a + 1));', "r = 31 - __clz(a + 1);"),
        ('asm("clz.b32 %0, %1;" : "=r"(r) : "r"(a));', "r = __clz(a);"),
        ('asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));', "r = rocm3d_bfe_u32(a, b, c);"),
        ('asm("bfe.s32 %0, %1, 4, 0x8;" : "=r"(r) : "r"(a));', "r = rocm3d_bfe_s32(a, 4, 0x8);"),
        ('__asm__("prmt.b32 %0, " "%1, %2, 0x5410;" : "=r"(r) : "r"(a), "r"(b));', "r = rocm3d_prmt(a, b, 0x5410);"),
    ],
)
def test_replaces_known_instructions(statement, expected):
    before = device(statement)

    after = proven_edit(edit, before, {})

    on_rocm = fold_cpp(after, assume_rocm)
    assert f"  {expected}\n".encode() in on_rocm
    assert b"asm" not in on_rocm
    assert (b"rocm3d_" in on_rocm) == ("rocm3d_" in expected)


def test_the_lane_id_of_the_whole_wave():
    after = edit(device('asm("mov.u32 %0, %%laneid;" : "=r"(r));', " + a % warpSize"), {})

    assert b"  r = __lane_id();\n" in after


def test_unknown_instructions_stay_if_others_can_be_edited():
    statement = 'asm("clz.b32 %0, %1;" : "=r"(r) : "r"(a));\n  asm("mov.u32 %0, %%smid;" : "=r"(b));'

    after = edit(device(statement), {})

    assert b"r = __clz(a);" in after
    assert edit(after, {}) == after
    assert fold_cpp(after, assume_rocm).count(b"asm") == 1
