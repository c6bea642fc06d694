"""Drop-in for Deformable-DETR's extension; other repositories build it under the same name."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="MultiScaleDeformableAttention",
    modules={"MultiScaleDeformableAttention": "native"},
    probe_code="import torch, MultiScaleDeformableAttention as m; assert callable(m.ms_deform_attn_forward)",
    version="1.0",
)
