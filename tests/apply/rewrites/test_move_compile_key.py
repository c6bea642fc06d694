from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.move_compile_key import edit

PARAMETERS = {"ignored": ["hipcc", "hip"], "read": "nvcc"}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "tools = {'nvcc': ['nvcc'], 'hipcc': ['hipcc']}",
        "extra_compile_args = {'nvcc': ['-O3']}",
        "extra_compile_args = {'cxx': [], 'nvcc': ['-a'] if torch.version.hip is not None else [], 'hipcc': ['-a']}",
        "if torch.version.hip is not None:\n    extra_compile_args = {'nvcc': [], 'hipcc': ['-a']}",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "extra_compile_args = {'cxx': [], 'hipcc': ['-a']}",
        "extra_compile_args = {'nvcc': [], 'hipcc': ['-a'], 'hip': ['-b']}",
        "extra_compile_args = {'nvcc': [], 'hipcc': flags()}",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "extra_compile_args = {'nvcc': ['-a'], 'hipcc': ['-b']}",
            "{'nvcc': ['-b'] if is_rocm else ['-a'], 'hipcc': ['-b']}",
        ),
        (
            "x = f(extra_compile_args={'hip': flags, 'nvcc': ['-a']})",
            "{'hip': flags, 'nvcc': flags if is_rocm else ['-a']}",
        ),
        ("args = {'cxx': [], 'nvcc': f(), 'hipcc': []}", "'nvcc': [] if is_rocm else f()"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"# cpp_extension\nargs = {'cxx': [], 'nvcc': [], 'hipcc': []}\n", PARAMETERS)
