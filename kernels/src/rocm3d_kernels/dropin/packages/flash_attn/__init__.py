"""Drop-in for flash-attn 2: attention functions and padding, without its layers, losses and fused operations."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="flash_attn",
    modules={
        "flash_attn": "interface",
        "flash_attn.flash_attn_interface": "interface",
        "flash_attn.bert_padding": "bert_padding",
    },
    # The extension may load without code for this GPU, so it is called once.
    probe_code=(
        "import torch\nfrom flash_attn.flash_attn_interface import flash_attn_func\n"
        "one = torch.ones(1, 16, 1, 64, dtype=torch.float16, device='cuda')\n"
        "assert float(flash_attn_func(one, one, one).float().mean()) == 1.0"
    ),
    distribution="flash-attn",
    version="2.8.3",
)
