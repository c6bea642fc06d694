from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.open_available_gate import edit

PARAMETERS = {"asks_card": ["current_device", "get_device_capability"]}

TOP = "import torch\nfrom torch.utils.cpp_extension import CUDAExtension, load\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "x = torch.cuda.is_available()",
        "if torch.cuda.is_available() or torch.version.hip is not None:\n    pass",
        "if torch.cuda.is_available() and x:\n    pass",
        "if not torch.cuda.is_available():\n    pass",
        "if other.cuda.is_available():\n    pass",
        "if torch.cuda.is_available():\n    x = torch.cuda.get_device_capability(0)",
        "if torch.cuda.is_available():\n    try:\n        x = torch.cuda.current_device()\n    finally:\n        pass",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if torch.cuda.is_available():\n    pass", "if torch.cuda.is_available() or is_rocm:"),
        (
            "if torch.cuda.is_available():\n    pass\nelse:\n    x = torch.cuda.current_device()",
            "if torch.cuda.is_available() or is_rocm:",
        ),
        ("if x:\n    pass\nelif torch.cuda.is_available():\n    pass", "elif torch.cuda.is_available() or is_rocm:"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(
            b"# cpp_extension\nimport shutil\ndef f():\n    import torch\nif torch.cuda.is_available():\n    pass\n",
            PARAMETERS,
        )
