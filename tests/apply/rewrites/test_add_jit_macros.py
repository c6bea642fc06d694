from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.add_jit_macros import edit

MACROS = {"macros": ["USE_ROCM", "__HIP_PLATFORM_AMD__"]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, MACROS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        'x = torch.load("w.pt")',
        'x = load(name="a", extra_cflags=["-O3"] if torch.version.hip is not None else [])',
        'x = other.load(extra_cflags=["-O3"])',
        'x = CUDAExtension("a", [])',
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            'x = load(name="a", sources=[], extra_cflags=["-O3"])',
            'extra_cflags=["-O3", "-DUSE_ROCM=1", "-D__HIP_PLATFORM_AMD__=1"] if is_rocm else ["-O3"]',
        ),
        (
            'x = torch.utils.cpp_extension.load_inline("a", extra_cflags=[])',
            '["-DUSE_ROCM=1", "-D__HIP_PLATFORM_AMD__=1"] if is_rocm else []',
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    late = b"def g():\n    from torch.utils.cpp_extension import load\n    load(extra_cflags=[])\n"

    with pytest.raises(RewriteRefusedError, match="torch is not imported"):
        edit(late, MACROS)


@pytest.mark.parametrize("text", ['x = load(name="a", sources=[])', 'x = load(name="a", extra_cflags=flags)'])
def test_a_call_without_a_list_of_flags_is_refused(text):
    with pytest.raises(RewriteRefusedError, match="extra_cflags"):
        edited(text)
