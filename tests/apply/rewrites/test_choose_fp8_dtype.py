from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_fp8_dtype import edit

PARAMETERS = {"fnuz_on": ["gfx940", "gfx942"], "types": ["float8_e4m3fn", "float8_e5m2"]}

DEVICE = "torch.cuda.get_device_properties(torch.cuda.current_device())"
TARGET_CHECK = f'{DEVICE}.gcnArchName.split(":")[0] in ("gfx940", "gfx942")'
TOP = "import torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x.dtype == torch.float8_e4m3fn",
        "def f(x):\n    return x.dtype in (torch.float8_e4m3fn, torch.float8_e5m2)",
        "SIZES = {torch.float8_e4m3fn: 1}",
        "def f(x):\n    return x.to(torch.float8_e4m3fnuz)",
        "def f(x):\n    return x if torch.version.hip is not None else x.to(torch.float8_e4m3fn)",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "DTYPE = torch.float8_e4m3fn",
        "def f(x, dtype=torch.float8_e4m3fn):\n    return x.to(dtype)",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "def f(x):\n    return x.to(torch.float8_e4m3fn)",
            f"x.to(torch.float8_e4m3fnuz if is_rocm and {TARGET_CHECK} else torch.float8_e4m3fn)",
        ),
        (
            "f = lambda x: torch.float8_e5m2.itemsize * x",
            f"(torch.float8_e5m2fnuz if is_rocm and {TARGET_CHECK} else torch.float8_e5m2).itemsize",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\ndef f(x):\n    return x.to(torch.float8_e4m3fn)\n", PARAMETERS)
