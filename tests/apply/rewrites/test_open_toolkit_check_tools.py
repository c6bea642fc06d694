from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.open_toolkit_check import edit

TOOLS = {"tools": ["nvcc", "ptxas"]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, TOOLS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        'x = shutil.which("ninja") is None',
        "x = shutil.which(name) is None",
        'x = shutil.which("nvcc")',
        'x = shutil.which("nvcc") is None and torch.version.hip is None',
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('if shutil.which("nvcc") is None:\n    pass', 'if shutil.which("nvcc") is None and not is_rocm:'),
        ('x = which("ptxas") is not None', 'x = which("ptxas") is not None or is_rocm'),
        ('x = y and shutil.which("nvcc") is None', 'x = y and (shutil.which("nvcc") is None and not is_rocm)'),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b'# cpp_extension\nimport shutil\ndef f():\n    import torch\nx = shutil.which("nvcc") is None\n', TOOLS)
