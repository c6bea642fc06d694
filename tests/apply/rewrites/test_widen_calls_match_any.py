from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.widen_calls import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

MATCH = {
    "calls": ["__match_any_sync"],
    "wave": "rocm3d_wave_peers",
    "helper": "wave_peers",
    "masks": ["__activemask()"],
    "others": ["__match_all_sync", "__reduce_add_sync"],
}


def kernel(body: str) -> bytes:
    return f"__device__ int f(int key, int t, unsigned m) {{\n  {body}\n}}\n".encode()


@pytest.mark.parametrize(
    "body",
    [
        "return __reduce_add_sync(m, key);",
        "unsigned p = __match_any_sync(m, key); return __popc(p) + t % warpSize;",
        "return __match_any_sync(-1, key) + t % warpSize;",
        "return __popc(__match_any_sync(-1, key)) + t % warpSize + t % 32;",
    ],
)
def test_unsupported_code_is_refused(body):
    with pytest.raises(RewriteRefusedError):
        edit(kernel(body), MATCH)


@pytest.mark.parametrize("data", [b"", kernel("// __match_any_sync(m, key)"), kernel("return match_any(key);")])
def test_stays_untouched(data):
    assert edit(data, MATCH) == data


@pytest.mark.parametrize("mask", ["0xffffffff", "__activemask()", "FULL_MASK"])
def test_matches_over_the_whole_wave(mask):
    before = kernel(f"unsigned p = __match_any_sync({mask}, key);\n  return __popc(p) + t % warpSize;")

    after = proven_edit(edit, before, MATCH)

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"unsigned long long p = rocm3d_wave_peers(key);\n  return __popcll(p)" in on_rocm
    assert on_rocm.index(b"inline unsigned long long rocm3d_wave_peers") < on_rocm.index(b"int f(")


@pytest.mark.parametrize(
    "before",
    [
        kernel("unsigned p = __match_any_sync(m, key);\n  return __ffs(p) - 1 == (t & 31);"),
        kernel("return __match_any_sync(__activemask(), key);"),
        b"#define PEERS(m, k) \\\n  __match_any_sync(m, k)\n" + kernel("return PEERS(m, key);"),
    ],
)
def test_matches_in_groups_of_32(before):
    after = edit(before, MATCH)

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"#define ROCM3D_MATCH_ANY rocm3d_match_any\n" in on_rocm
    assert b"__match_any_sync" not in on_rocm
    assert b"__activemask" not in on_rocm
    assert prove_isolation("x.cu", before, after).kind == "cpp-tokens-equal"
    assert edit(after, MATCH) == after
