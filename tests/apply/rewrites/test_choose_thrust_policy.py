from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_thrust_policy import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

THRUST = {
    "folder": "thrust/system/cuda/",
    "rocm_folder": "thrust/system/hip/",
    "namespace": "thrust::cuda",
    "rocm_namespace": "thrust::hip",
    "policies": ["par", "par_nosync"],
}


def test_unknown_names_of_the_backend_are_refused():
    with pytest.raises(RewriteRefusedError, match="thrust::cuda::pointer"):
        edit(b"thrust::cuda::pointer<int> p;\n", THRUST)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// thrust::cuda::par\n",
        "auto p = thrust::device;\n",
        "auto p = my::thrust::cuda::par;\n",
        "auto p = thrust::cuda_cub::par;\n",
        "#ifndef USE_ROCM\n#include <thrust/system/cuda/vector.h>\nauto p = thrust::cuda::par;\n#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), THRUST) == text.encode()


@pytest.mark.parametrize("policy", ["thrust::cuda::par.on(s)", "::thrust::cuda::par_nosync", "thrust :: cuda :: par"])
def test_policy_and_header_are_chosen_by_backend(policy):
    before = f"#include <thrust/system/cuda/execution_policy.h>\nvoid f() {{\n  go({policy});\n}}\n".encode()

    after = proven_edit(edit, before, THRUST)

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"<thrust/system/hip/execution_policy.h>" in on_rocm
    assert b"thrust::hip" in on_rocm
    assert b"cuda" not in on_rocm


def test_uses_an_alias_in_a_macro():
    before = b"#define ON(s) thrust::cuda::par.on(s)\nvoid f() { go(ON(0)); }\n"

    after = edit(before, THRUST)

    assert b"#define ON(s) ROCM3D_THRUST::par.on(s)" in after
    assert prove_isolation("x.cu", before, after).kind == "cpp-tokens-equal"
    assert edit(after, THRUST) == after
