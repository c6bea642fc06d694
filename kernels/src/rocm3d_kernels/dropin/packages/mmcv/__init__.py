"""Drop-in for mmcv's extension, deformable attention only; mmcv's Python modules stay the original ones."""

from __future__ import annotations

from rocm3d_kernels.dropin.stand_in import StandIn

STAND_IN = StandIn(
    name="mmcv",
    modules={"mmcv._ext": "native"},
    proof="import torch; from mmcv import _ext; assert callable(_ext.ms_deform_attn_forward)",
)
