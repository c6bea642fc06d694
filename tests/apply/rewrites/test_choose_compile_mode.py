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


configured = PythonEdit(edit, {"configured": ["torch.compile"]}, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "torch.compile(m, mode=mode)",
        "torch.compile(m, mode='max-autotune')",
        "torch.compile(m, backend=config.backend)",
        "compile(source, name, mode=config.mode)",
        "re.compile(p, mode=config.mode)",
        "torch.compile(m, mode='default' if torch.version.hip is not None else config.mode)",
        "if torch.version.hip is None:\n    torch.compile(m, mode=config.mode)",
    ],
)
def test_other_modes_and_calls_stay_untouched(text):
    assert configured(text) == f"{text}\n"


@pytest.mark.parametrize("value", ["config.mode", "self.config.mode", "config['mode']"])
def test_a_configured_mode_is_chosen_by_backend(value):
    assert f'mode="default" if is_rocm else {value})' in configured(f"x = torch.compile(m, mode={value})")
