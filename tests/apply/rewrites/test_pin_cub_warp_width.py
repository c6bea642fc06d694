from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.pin_cub_warp_width import edit
from rocm3d.syntax.guards import assume_rocm, fold_cpp
from rocm3d.syntax.isolation import prove_isolation

CUB = {"templates": ["cub::WarpReduce", "cub::WarpScan"], "width": 32, "refuse_if_only": ["cub::DeviceRadixSort"]}


def test_a_file_without_warp_collectives_is_refused():
    with pytest.raises(RewriteRefusedError, match="DeviceRadixSort"):
        edit(b"void f() { cub::DeviceRadixSort::SortKeys(a, b, c, d, n, 3); }\n", CUB)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "// cub::WarpReduce<float>\n",
        "using W = cub::WarpReduce<float, 16>;\n",
        "using W = cub::BlockReduce<float, 64>;\n",
        "using W = my::cub::WarpReduce<float>;\n",
        "#ifndef USE_ROCM\nusing W = cub::WarpReduce<float>;\n#endif\n",
        "bool b = cub::WarpReduce < a; c > d;\n",
    ],
)
def test_stays_untouched(text):
    assert edit(text.encode(), CUB) == text.encode()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("using W = cub::WarpReduce<float>;", "cub::WarpReduce<float, 32>;"),
        ("using W = ::cub::WarpScan<std::pair<int, int>>;", "cub::WarpScan<std::pair<int, int>, 32>;"),
        ("__shared__ cub::WarpReduce<T>::TempStorage s[4];", "cub::WarpReduce<T, 32>::TempStorage s[4];"),
        ("float v = cub::WarpReduce<decltype(f(1, 2))>(s).Sum(x);", "cub::WarpReduce<decltype(f(1, 2)), 32>(s)"),
    ],
)
def test_sets_the_width_of_the_cuda_code(line, expected):
    before = f"{line}\n".encode()

    after = proven_edit(edit, before, CUB)

    assert expected.encode() in fold_cpp(after, assume_rocm)


def test_unsupported_names_stay_if_others_can_be_edited():
    before = b"using W = cub::WarpReduce<int>;\nvoid f() { cub::DeviceRadixSort::SortKeys(a, b, c, d, n, 3); }\n"

    after = edit(before, CUB)

    assert b"cub::WarpReduce<int, 32>" in after
    assert edit(after, CUB) == after


def test_uses_an_alias_in_a_macro():
    before = b"#define WARP_SUM(T) cub::WarpReduce<T>\nusing W = WARP_SUM(float);\n"

    after = edit(before, CUB)

    assert b"cub::WarpReduce<TROCM3D" not in after
    assert prove_isolation("x.cu", before, after).kind == "cpp-tokens-equal"
    assert edit(after, CUB) == after
