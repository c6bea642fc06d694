"""Drop-in for xFormers: attention of xformers.ops with its biases, and the small operations that models use."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="xformers",
    modules={
        "xformers": "",
        "xformers.ops": "ops",
        "xformers.ops.fmha": "fmha",
        "xformers.ops.fmha.attn_bias": "attn_bias",
    },
    # xFormers imports without its extension and fails at the first call, so it is called once.
    probe_code=(
        "import torch, xformers.ops\n"
        "one = torch.ones(1, 16, 1, 64, dtype=torch.float16, device='cuda')\n"
        "assert float(xformers.ops.memory_efficient_attention(one, one, one).float().mean()) == 1.0"
    ),
    version="0.0.35",
)
