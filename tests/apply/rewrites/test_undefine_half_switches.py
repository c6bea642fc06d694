from __future__ import annotations

import pytest
from rewriting import proven_edit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites import split_compile_flags
from rocm3d.apply.rewrites.undefine_half_switches import edit
from rocm3d.syntax.isolation import prove_isolation

HALF = {
    "switches": ["NO_HALF_OPERATORS__", "NO_HALF_CONVERSIONS__"],
    "cuda_prefix": "__CUDA_",
    "rocm_prefix": "__HIP_",
}
HEAD = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n\n"


def test_a_file_without_extensions_is_refused():
    with pytest.raises(RewriteRefusedError, match="does not build"):
        edit(b"__device__ __half2 f(__half2 a) { return __hmin2(a, a); }\n", HALF)


@pytest.mark.parametrize(
    "text",
    [
        'flags = ["-O3"]\n',
        'note = "-U__CUDA_NO_HALF_OPERATORS__"\n',
        'flags = ["-U__CUDA_NO_HALF_OPERATORS__", "-U__HIP_NO_HALF_OPERATORS__"]\n',
        'flags = ["-D__CUDA_NO_HALF_OPERATORS__"]\n',
    ],
)
def test_stays_untouched(text):
    assert edit((HEAD + text).encode(), HALF) == (HEAD + text).encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'flags = ["-U__CUDA_NO_HALF_OPERATORS__"]',
            '["-U__CUDA_NO_HALF_OPERATORS__", "-U__HIP_NO_HALF_OPERATORS__"] if is_rocm else ["-U__CUDA_NO',
        ),
        (
            "flags = ['-O3', '-U', '__CUDA_NO_HALF_CONVERSIONS__']",
            "['-O3', '-U', '__CUDA_NO_HALF_CONVERSIONS__', \"-U__HIP_NO_HALF_CONVERSIONS__\"] if is_rocm else",
        ),
    ],
)
def test_undefines_hips_switches_on_rocm(text, expected):
    before = f"{HEAD}{text}\n".encode()

    after = proven_edit(edit, before, HALF, "setup.py")

    assert expected in after.decode()


def test_extends_a_list_that_only_rocm_reads():
    before = (
        f'{HEAD}is_rocm = torch.version.hip is not None\nflags = ["-U__CUDA_NO_HALF_OPERATORS__"] if is_rocm else []\n'
    )

    after = edit(before.encode(), HALF)

    assert b'["-U__CUDA_NO_HALF_OPERATORS__", "-U__HIP_NO_HALF_OPERATORS__"] if is_rocm else []' in after


def test_nvcc_only_flags_can_be_removed_afterwards():
    """Both recipes edit the same list, in the order of their names."""
    before = f'{HEAD}flags = ["-U__CUDA_NO_HALF_OPERATORS__", "--expt-relaxed-constexpr"]\n'.encode()
    nvcc = {"nvcc_only": ["--expt", "-U__CUDA_NO_HALF"], "takes_value": []}

    after = split_compile_flags.edit(edit(before, HALF), nvcc)

    assert b'flags = ["-U__HIP_NO_HALF_OPERATORS__"] if is_rocm else ["-U__CUDA_NO_HALF_OPERATORS__", "--expt' in after
    assert prove_isolation("setup.py", before, after).holds
    assert split_compile_flags.edit(after, nvcc) == after
