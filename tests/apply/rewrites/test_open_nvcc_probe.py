from __future__ import annotations

import pytest

from rocm3d.apply.rewrite import Refuse
from rocm3d.apply.rewrites.open_nvcc_probe import edit
from rocm3d.syntax.isolation import prove

TOOLS = {"tools": ["nvcc", "ptxas"]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"


def edited(text: str) -> str:
    before = f"{TOP}{text}\n".encode()
    after = edit(before, TOOLS)
    assert prove("setup.py", before, after).holds
    assert edit(after, TOOLS) == after
    return after.decode().removeprefix(TOP)


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
    ("text", "wanted"),
    [
        ('if shutil.which("nvcc") is None:\n    pass', 'if shutil.which("nvcc") is None and not is_rocm:'),
        ('x = which("ptxas") is not None', 'x = which("ptxas") is not None or is_rocm'),
        ('x = y and shutil.which("nvcc") is None', 'x = y and (shutil.which("nvcc") is None and not is_rocm)'),
    ],
)
def test_is_chosen_by_backend(text, wanted):
    assert wanted in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(Refuse):
        edit(b'# cpp_extension\nimport shutil\ndef f():\n    import torch\nx = shutil.which("nvcc") is None\n', TOOLS)
