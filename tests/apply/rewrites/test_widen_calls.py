from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.widen_calls import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

BALLOT = {"calls": ["__ballot_sync"], "wave": "__ballot"}


def kernel(body: str, head: str = "") -> bytes:
    return f"{head}__device__ int f(bool p, int t, unsigned m) {{\n  {body}\n}}\n".encode()


@pytest.mark.parametrize(
    "body",
    [
        "unsigned v = __ballot_sync(0xffffffff, p); return __popc(v) + t % warpSize + t / 32;",
        "unsigned v = __ballot_sync(0xffffffff, p); return __popc(v) + t % WARP_SIZE;",
        "unsigned v = __ballot_sync(m, p); return __popc(v) + t % warpSize;",
        "unsigned v = __ballot_sync(0xffffffff, p); return v + t % warpSize;",
        "unsigned v = __ballot_sync(0xffffffff, p); return g(v) + t % warpSize;",
        "unsigned v = __ballot_sync(0xffffffff, p); return __clz(v) + t % warpSize;",
        "unsigned v = __ballot_sync(0xffffffff, p); return v == 0xffffffff ? t % warpSize : 0;",
        "unsigned v = __ballot_sync(0xffffffff, p); return __popc(v & m) + t % warpSize;",
        "unsigned v = __ballot_sync(0xffffffff, p), w = 1; return __popc(v) + t % warpSize;",
        "short v = __ballot_sync(0xffffffff, p); return __popc(v) + t % warpSize;",
        "unsigned v; v = __ballot_sync(0xffffffff, p); return __popc(v) + t % warpSize;",
    ],
)
def test_unsupported_code_is_refused(body):
    with pytest.raises(RewriteRefusedError):
        edit(kernel(body), BALLOT)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        kernel("// __ballot_sync(m, p)"),
        kernel("return __popc(m);"),
        kernel("return own::__ballot_sync(m, p);"),
        b"#ifndef USE_ROCM\n" + kernel("return __popc(__ballot_sync(m, p));") + b"#endif\n",
        kernel("return __ballot_sync(m, p);", "#ifdef USE_ROCM\n#define __ballot_sync(m, p) __ballot(p)\n#endif\n"),
    ],
)
def test_stays_untouched(data):
    assert edit(data, BALLOT) == data


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return __popc(__ballot_sync(~0u, p)) + t % warpSize;", "return __popcll(__ballot(p)) + t % warpSize;"),
        (
            "uint32_t v = __ballot_sync(0xffffffffu, p);\n  return __ffs(v) - 1 + t % warpSize;",
            "unsigned long long v = __ballot(p);\n  return __ffsll(v) - 1 + t % warpSize;",
        ),
        (
            "auto v = __ballot_sync(FULL, p);\n  return __popc(v & ((1u << t) - 1)) + t % warpSize;",
            "auto v = __ballot(p);\n  return __popcll(v & ((1ull << t) - 1ull)) + t % warpSize;",
        ),
        (
            "const unsigned v = __ballot_sync(-1, p);\n  if (v == 0) return warpSize;\n  return (v >> t) & 1;",
            "const unsigned long long v = __ballot(p);",
        ),
        (
            "unsigned v = __ballot_sync(-1, p);\n  for (; v; v &= v - 1) t += __ffs(v);\n  return warpSize;",
            "  for (; v; v &= v - 1ull) t += __ffsll(v);\n",
        ),
    ],
)
def test_widens_ballots_if_lanes_of_the_wave_are_counted(body, expected):
    before = kernel(body)

    after = edit(before, BALLOT)

    on_rocm = fold_cpp(after, assume_rocm).decode()
    assert expected in on_rocm
    assert "_sync" not in on_rocm
    assert prove_isolation("x.cu", before, after).kind == "cpp-directives-evaluated"
    assert edit(after, BALLOT) == after


@pytest.mark.parametrize(
    "before",
    [
        kernel("unsigned v = __ballot_sync(0xffffffff, p);\n  return v >> (t & 31) & 1;"),
        kernel("return __popc(__ballot_sync(m, p)) + t / 32;"),
        kernel("if (__ballot_sync(0xffffffff, p) == 0xffffffff) return t / WARP_SIZE;", "#define WARP_SIZE 32\n"),
        kernel("return VOTES(p);", "#define VOTES(p) __popc(__ballot_sync(0xffffffff, p))\n"),
        kernel("return __ballot_sync(__activemask(), p);"),
        kernel("g([&] {\n    return __ballot_sync(0xffffffff, p);\n  });"),
        kernel("return __ballot_sync(0xffffffff, f<int, 2>(p));"),
    ],
)
def test_other_ballots_cover_groups_of_32(before):
    after = edit(before, BALLOT)

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"#define ROCM3D_BALLOT rocm3d_ballot\n" in on_rocm
    assert b"__ballot_sync" not in on_rocm
    assert b"__activemask" not in on_rocm
    proof = prove_isolation("x.cu", before, after)
    assert (proof.holds, proof.kind) == (True, "cpp-tokens-equal"), proof.detail
    assert edit(after, BALLOT) == after


def test_edits_both_kinds_in_one_file():
    before = kernel("return __popc(__ballot_sync(-1, p)) + t % warpSize;") + kernel(
        "return __ballot_sync(-1, p) >> t % 32;"
    )

    after = proven_edit(edit, before, BALLOT)

    assert b"__popcll(__ballot(p))" in after
    assert b"return ROCM3D_BALLOT(-1, p) >> t % 32;" in after
