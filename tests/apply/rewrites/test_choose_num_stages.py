from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_num_stages import edit

PARAMETERS = {"stages": 1}

TOP = "import torch\nimport triton\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "kernel[grid](x, num_stages=1)",
        "build(num_stages=3)",
        "kernel[grid](x, num_stages=1 if torch.version.hip is not None else 3)",
        "kernel[grid](x, num_warps=8)",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "kernel[grid](x, num_stages=stages)",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kernel[grid](x, num_stages=3)", "num_stages=1 if is_rocm else 3"),
        ("c = triton.Config({}, num_stages=4, num_warps=4)", "num_stages=1 if is_rocm else 4, num_warps=4"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"import triton\nkernel[grid](x, num_stages=3)\n", PARAMETERS)
