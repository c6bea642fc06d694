"""Drop-in for GroundingDINO's extension; its Python modules stay the original ones."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="groundingdino",
    modules={"groundingdino._C": "native"},
    probe_code="import torch; from groundingdino import _C; assert callable(_C.ms_deform_attn_forward)",
)
