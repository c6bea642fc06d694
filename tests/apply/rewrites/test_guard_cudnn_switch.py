from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.guard_cudnn_switch import edit

PARAMETERS = {}

TOP = "import torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "torch.backends.cudnn.enabled = True",
        "torch.backends.cudnn.benchmark = False",
        "enabled = False  # cudnn",
        "if torch.version.hip is None:\n    torch.backends.cudnn.enabled = False",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch.backends.cudnn.enabled = False", "if not is_rocm:\n    torch.backends.cudnn.enabled = False\n"),
        (
            "def f():\n    # why\n    cudnn.enabled = False  # off",
            "    # why\n    if not is_rocm:\n        cudnn.enabled = False  # off\n",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\ntorch.backends.cudnn.enabled = False\n", PARAMETERS)
