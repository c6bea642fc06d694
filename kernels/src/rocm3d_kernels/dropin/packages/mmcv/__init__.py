"""mmcv's extension alone, of which deformable attention is covered; its Python stays its own."""

from __future__ import annotations

from rocm3d_kernels.dropin.stand_in import StandIn

STAND_IN = StandIn(
    name="mmcv",
    modules={"mmcv._ext": "native"},
    proof="import torch; from mmcv import _ext; assert callable(_ext.ms_deform_attn_forward)",
)
