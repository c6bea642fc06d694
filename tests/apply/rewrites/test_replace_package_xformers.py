from __future__ import annotations

import pytest
from rewriting import PythonEdit

from rocm3d.apply.rewrite import RewriteRefusedError
from rocm3d.apply.rewrites.replace_package import edit

PARAMETERS = {
    "package": "xformers.ops",
    "calls": ["memory_efficient_attention"],
    "refuse_keywords": ["attn_bias"],
}
edited = PythonEdit(edit, PARAMETERS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("from xformers.ops import memory_efficient_attention\nimport torch\n", "torch"),
        ("import torch\nfrom xformers.ops import SwiGLU\n", "SwiGLU"),
        ("import torch\nfrom xformers.ops import *\n", "more of xformers"),
        ("import torch\nfrom xformers.components import attention\n", "more of xformers"),
        ("import torch\nimport xformers.ops as xops\nxops.fmha.BlockDiagonalMask(x)\n", "fmha"),
        ("import torch\nimport xformers\nxformers.info.print()\nimport_module(xformers)\n", "followed"),
        ("import torch\nimport xformers, os\n", "other packages"),
        ("import torch\nimport xformers\n", "nothing"),
        ("import torch\nimport xformers\nimport xformers.ops\n", "more than once"),
        (
            "import torch\nfrom xformers.ops import memory_efficient_attention\n"  # noqa: ISC004
            "memory_efficient_attention(q, k, v, attn_bias=LowerTriangularMask())\n",
            "attn_bias",
        ),
    ],
)
def test_unsupported_code_is_refused(text, reason):
    with pytest.raises(RewriteRefusedError, match=reason):
        edit(text.encode(), PARAMETERS)


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntry:\n    import xformers.ops\nexcept ImportError:\n    xformers = None\n",
        "import torch\ndef f():\n    from xformers.ops import memory_efficient_attention\n",
        "import torch\nif torch.version.hip is None:\n    from xformers.ops import memory_efficient_attention\n",
        "import torch\nfrom .xformers import memory_efficient_attention\n",
        "note = 'xformers'\n",
    ],
)
def test_optional_imports_stay(text):
    assert edited(text) == text


@pytest.mark.parametrize(
    ("line", "bound_name"),
    [
        (
            "from xformers.ops import memory_efficient_attention as attend\n",
            "    attend = memory_efficient_attention\n",
        ),
        (
            "import xformers.ops as xops\nxops.memory_efficient_attention(q, k, v, attn_bias=None)\n",
            "    xops = SimpleNamespace(memory_efficient_attention=memory_efficient_attention)\n",
        ),
        (
            "import xformers.ops\nxformers.ops.memory_efficient_attention(q, k, v, attn_bias=bias)\n",
            "SimpleNamespace(ops=SimpleNamespace(memory_efficient_attention=memory_efficient_attention))\n",
        ),
    ],
)
def test_the_import_is_chosen_by_backend(line, bound_name):
    after = edited(f"import torch\n# attention\n{line}")

    assert after.startswith("import torch\n# attention\nif torch.version.hip is not None:\n    def _sdpa(")
    assert f"{bound_name}else:\n    {line.splitlines()[0]}\n" in after
