from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.drop_fast_math import edit

PARAMETERS = {"flags": ["-ffast-math", "-Ofast"]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "x = f(extra_compile_args={'cxx': ['-ffast-math']})",
        "cflags = ['-ffast-math']",
        "e = CppExtension('a', extra_compile_args=['-Ofast'])",
        "note = '-ffast-math'",
        "x = f({'nvcc': ['-O3', '--use_fast_math']})",
        "if torch.version.hip is None:\n    x = f({'nvcc': ['-Ofast']})",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = f({'nvcc': ['-O3', '-ffast-math']})", "{'nvcc': ['-O3'] if is_rocm else ['-O3', '-ffast-math']}"),
        (
            "flags = ['-Ofast', '-g'] if torch.version.hip is not None else ['-O3']",
            "flags = ['-g'] if torch.version.hip is not None else ['-O3']",
        ),
        ("if torch.version.hip is not None:\n    flags = ['-O3', '-ffast-math']", "    flags = ['-O3']"),
        ("x = f(extra_cuda_cflags=['-ffast-math'])", "extra_cuda_cflags=[] if is_rocm else ['-ffast-math']"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"# cpp_extension\nx = f({'nvcc': ['-ffast-math']})\n", PARAMETERS)
