from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.ask_for_feature import edit

PARAMETERS = {"threshold": 8, "near": ["bfloat16", "bf16"], "ask": "torch.cuda.is_bf16_supported()"}

TOP = "import torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "print(torch.cuda.get_device_capability())",
        "x = torch.version.hip is None and torch.cuda.get_device_capability()[0] >= 8",
        "has_bf16 = n >= 8",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "fast = torch.cuda.get_device_capability()[0] >= 8",
        "bf16 = torch.cuda.get_device_capability()[0] >= 9",
        "bf16 = torch.cuda.get_device_capability() >= (8, 0)",
        "if torch.cuda.get_device_capability()[0] >= 8:\n    a = 1\n    b = 'bf16'",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "bf16 = torch.cuda.get_device_capability()[0] >= 8",
            "bf16 = torch.cuda.is_bf16_supported() if is_rocm else torch.cuda.get_device_capability()[0] >= 8",
        ),
        (
            "x = torch.bfloat16 if torch.cuda.get_device_properties(0).major >= 8 else torch.half",
            "(torch.cuda.is_bf16_supported() if is_rocm else torch.cuda.get_device_properties(0).major >= 8)",
        ),
        (
            "if torch.cuda.get_device_capability(d)[0] >= 8:\n    dtype = torch.bfloat16",
            "if (torch.cuda.is_bf16_supported() if is_rocm else torch.cuda.get_device_capability(d)[0] >= 8):",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\nbf16 = torch.cuda.get_device_capability()[0] >= 8\n", PARAMETERS)
