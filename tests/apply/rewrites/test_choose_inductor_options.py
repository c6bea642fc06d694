from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.choose_inductor_options import edit

PARAMETERS = {"options": ["max_autotune", "triton.cudagraphs"]}

TOP = "import torch\n"
edited = PythonEdit(edit, PARAMETERS, TOP)


@pytest.mark.parametrize(
    "text",
    [
        "torch._inductor.config.max_autotune = False",
        "torch._inductor.config.epilogue_fusion = True",
        "config.max_autotune = True",
        "x = {'max_autotune': True}  # inductor",
        "f(options={'max_autotune': True})",
        "torch._inductor.config.max_autotune = torch.version.hip is None",
    ],
)
def test_stays_untouched(text):
    assert edited(text) == f"{text}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("torch._inductor.config.max_autotune = True", "torch._inductor.config.max_autotune = not is_rocm"),
        ("import torch._inductor.config as c\nc.triton.cudagraphs = True", "c.triton.cudagraphs = not is_rocm"),
        ("from torch._inductor import config\nconfig.max_autotune = True", "config.max_autotune = not is_rocm"),
        ("from torch import _inductor as i\ni.config.max_autotune = True", "i.config.max_autotune = not is_rocm"),
        (
            "m = torch.compile(m, options={'max_autotune': True, 'other': True})",
            "{'max_autotune': not is_rocm, 'other': True}",
        ),
    ],
)
def test_is_chosen_by_backend(text, expected):
    assert expected in edited(text)


def test_a_module_that_imports_torch_late_is_refused():
    with pytest.raises(RewriteRefusedError):
        edit(b"def f():\n    import torch\ntorch._inductor.config.max_autotune = True\n", PARAMETERS)
