"""groundingdino._C: `ms_deform_attn_forward` and `ms_deform_attn_backward`."""

from __future__ import annotations

from rocm3d_kernels.deformable.native import ms_deform_attn_backward, ms_deform_attn_forward

__all__ = ["ms_deform_attn_backward", "ms_deform_attn_forward"]
