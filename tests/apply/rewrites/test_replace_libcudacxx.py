from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_libcudacxx import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

STD = {
    "namespace": "cuda::std",
    "tuple": "::rocprim::tuple",
    "headers": ["cuda/std/"],
    "tuple_header": "rocprim/types/tuple.hpp",
}


@pytest.mark.parametrize("name", ["cuda::std::optional<int> o;", "::cuda::std::numeric_limits<float>::max();"])
def test_other_names_of_the_library_are_refused(name):
    with pytest.raises(RewriteRefusedError, match="no counterpart"):
        edit(f"void f() {{ {name} }}\n".encode(), STD)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// cuda::std::tuple\n",
        "std::tuple<int> t;\n",
        "my::cuda::std::tuple<int> t;\n",
        "#ifndef USE_ROCM\n#include <cuda/std/tuple>\ncuda::std::tuple<int> t;\n#endif\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), STD) == text.encode()


def test_a_returned_tuple_names_its_type():
    before = (
        b"#include <cub/cub.cuh>\nstruct D {\n"
        b"  __device__ ::cuda::std::tuple<int&, int&> operator()(int2& k) const\n  {\n    return {k.x, k.y};\n  }\n};\n"
    )

    after = proven_edit(edit, before, STD)

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"#include <rocprim/types/tuple.hpp>" in on_rocm
    assert b"__device__ ::rocprim::tuple<int&, int&> operator()" in on_rocm
    assert b"return ::rocprim::tuple<int&, int&>(k.x, k.y);" in on_rocm
    assert b"cuda::std" not in on_rocm


@pytest.mark.parametrize("plus", ["::cuda::std::plus()", "cuda::std::plus<>{}", "cuda::std::plus<int>()"])
def test_plus_becomes_a_functor_of_the_port(plus):
    before = f"#include <cuda/std/functional>\nvoid f() {{\n  go({plus});\n}}\n".encode()

    after = proven_edit(edit, before, STD)

    on_rocm = fold_cpp(after, assume_rocm)
    assert b"struct rocm3d_plus {" in on_rocm
    assert b"cuda/std" not in on_rocm
    assert b"go(rocm3d_plus(" in on_rocm or b"go(rocm3d_plus{" in on_rocm


def test_replaces_the_tuple_header():
    before = b"#include <cuda/std/tuple>\r\nvoid f(cuda::std::tuple<int, int> t);\r\n"

    after = edit(before, STD)

    assert after.count(b"rocprim/types") == 1
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert prove_isolation("x.cu", before, after).holds
