"""Drop-in for mmcv's extension, deformable attention only; mmcv's Python modules stay the original ones."""

from __future__ import annotations

from rocm3d_kernels.dropin.declaration import DropIn

DROP_IN = DropIn(
    name="mmcv",
    modules={"mmcv._ext": "native"},
    probe_code="import torch; from mmcv import _ext; assert callable(_ext.ms_deform_attn_forward)",
)
