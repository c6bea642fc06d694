from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.rename_hip_device import edit

PARAMETERS = {"strings": ["hip", "rocm"]}

TOP = "import torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "backend = 'hip'",
        "if device == 'hip':\n    pass",
        "x.to('cuda')",
        "torch.device('cuda' if torch.version.hip is not None else 'hip')",
        "f('a', 'hip')",
        "x.to(dtype, 'hip')",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d = torch.device('hip')", "torch.device('cuda' if is_rocm else 'hip')"),
        (
            "d = torch.device('hip' if torch.version.hip is not None else 'cuda')",
            "torch.device('cuda' if torch.version.hip is not None else 'cuda')",
        ),
        (
            "if torch.version.hip is not None:\n    device = 'rocm'\nelse:\n    device = 'cuda'",
            "    device = 'cuda'\nelse:",
        ),
        (
            "self.device = 'hip' if torch.version.hip else 'cuda'",
            "self.device = ('cuda' if is_rocm else 'hip') if torch.version.hip else 'cuda'",
        ),
        ('f(device_type="rocm")', 'device_type="cuda" if is_rocm else "rocm"'),
        ("def f(device='hip'):\n    pass", "def f(device=('cuda' if is_rocm else 'hip')):"),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\nd = torch.device('hip')\n", PARAMETERS)
