from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_triton_tf32 import edit

KEYWORDS = {"keywords": ["ALLOW_TF32", "allow_tf32"]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, KEYWORDS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "kernel[grid](a, ALLOW_TF32=False)",
        "kernel(a, ALLOW_TF32=True)",
        "kernel[grid](a, OTHER=True)",
        "kernel[grid](a, ALLOW_TF32=torch.version.hip is None)",
        "torch.backends.cuda.matmul.allow_tf32 = True",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernel[grid](a, ALLOW_TF32=True)", "kernel[grid](a, ALLOW_TF32=not is_rocm)"),
        ("kernel[(1, 2)](a, allow_tf32 = True, b=1)", "allow_tf32 = not is_rocm"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(
            b"# cpp_extension\nimport shutil\ndef f():\n    import torch\nkernel[grid](a, ALLOW_TF32=True)\n", KEYWORDS
        )
