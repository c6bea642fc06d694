from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_compile_mode import edit

PARAMETERS = {"modes": ["reduce-overhead", "max-autotune"]}

TOP = "import torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "re.compile('max-autotune')",
        "torch.compile(m, mode='default')",
        "torch.compile(m, mode=mode)",
        "f(mode='max-autotune')",
        "torch.compile(m, mode='default' if torch.version.hip is not None else 'max-autotune')",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = torch.compile(m, mode='max-autotune')", "mode=\"default\" if is_rocm else 'max-autotune'"),
        (
            "@torch.compile(mode='reduce-overhead')\ndef f(x):\n    pass",
            "@torch.compile(mode=\"default\" if is_rocm else 'reduce-overhead')",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\nx = torch.compile(m, mode='max-autotune')\n", PARAMETERS)
