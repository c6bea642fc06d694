from __future__ import annotations

import pytest

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.rebuild_labeled_partition import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

LABELS = {"function": "labeled_partition", "members": ["thread_rank", "size"]}


def kernel(body: str) -> bytes:
    head = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    return f"{head}__device__ int f(int v, cg::thread_block_tile<32> tile) {{\n  {body}\n}}\n".encode()


@pytest.mark.parametrize(
    "body",
    [
        "auto g = cg::labeled_partition(tile, v); return cg::reduce(g, v, cg::plus<int>());",
        "auto g = cg::labeled_partition(tile, v); return sum(v, g);",
        "auto g = cg::labeled_partition(tile, v); return g.shfl(v, 0);",
        "cg::coalesced_group g = cg::labeled_partition(tile, v); return g.size();",
        "return cg::labeled_partition(tile, v).size();",
        "auto a = cg::coalesced_threads(); auto g = cg::labeled_partition(a, v); return g.size();",
        "auto g = cg::labeled_partition(tile, v); auto h = cooperative_groups::labeled_partition(tile, v); return 1;",
    ],
    ids=["reduce", "passed on", "shuffle", "type", "no variable", "coalesced", "two spellings"],
)
def test_unsupported_code_is_refused(body):
    with pytest.raises(RewriteRefusedError):
        edit(kernel(body), LABELS)


@pytest.mark.parametrize("body", ["return v;", "// cg::labeled_partition(tile, v)", "return my::labeled_partition(v);"])
def test_stays_untouched(body):
    assert edit(kernel(body), LABELS) == kernel(body)


def test_builds_the_group_from_ballots():
    before = kernel("auto g = cg::labeled_partition(tile, v);\n  return g.thread_rank() == 0 ? int(g.size()) : 0;")

    after = edit(before, LABELS)

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"auto g = ROCM3D_LABELED_PARTITION(tile, v);" in on_rocm
    assert b"#define ROCM3D_LABELED_PARTITION rocm3d_labeled_partition\n" in on_rocm
    assert on_rocm.index(b"rocm3d_wave_peers(T key)") < on_rocm.index(b"struct rocm3d_labeled_group")
    assert prove_isolation("x.cu", before, after).kind == "cpp-tokens-equal"
    assert edit(after, LABELS) == after
