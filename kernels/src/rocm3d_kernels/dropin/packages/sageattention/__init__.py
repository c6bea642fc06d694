"""Drop-in for SageAttention: `sageattn` only, without quantisation; its quantised variants are not covered."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="sageattention",
    modules={"sageattention": "package"},
    probe_code=(
        "import torch\nfrom sageattention import sageattn\n"
        "one = torch.ones(1, 1, 64, 64, dtype=torch.float16, device='cuda')\n"
        "assert abs(float(sageattn(one, one, one).float().mean()) - 1.0) < 0.1"
    ),
)
