from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_package import edit

PARAMETERS = {"package": "pynvml", "calls": ["nvmlInit", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetMemoryInfo"]}

TOP = "import torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import pynvml\nexcept ImportError:\n    pynvml = None",
        "def f():\n    import pynvml",
        "if torch.version.hip is None:\n    import pynvml",
        "x = 'pynvml'",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "import pynvml\npynvml.nvmlInit()\npynvml.nvmlDeviceGetPowerUsage(h)",
        "from pynvml import *",
        "from pynvml.smi import nvidia_smi",
        "import pynvml\nf(pynvml)",
        "import pynvml\npynvml.nvmlInit(1)",
    ],
)
def test_unsupported_code_is_refused(text):
    with pytest.raises(RewriteRefusedError):
        edit(f"{TOP}{text}\n".encode(), PARAMETERS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "import pynvml\npynvml.nvmlInit()\n",
            "    pynvml = SimpleNamespace(nvmlInit=nvmlInit)\nelse:\n    import pynvml\n",
        ),
        (
            "from pynvml import nvmlDeviceGetMemoryInfo as info\n",
            "    info = nvmlDeviceGetMemoryInfo\nelse:\n    from pynvml import",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"import pynvml\nimport torch\npynvml.nvmlInit()\n", PARAMETERS)
