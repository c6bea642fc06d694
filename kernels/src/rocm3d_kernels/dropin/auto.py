"""`import rocm3d_kernels.dropin.auto` at the top of a program: CUDA-only packages that do not work here are ours then.

ROCM3D_DROPIN may still ask for less (names) or more (force); 0 switches it off.
"""

from __future__ import annotations

import os

from rocm3d_kernels.dropin.finder import SWITCH, switched

switched(os.environ.get(SWITCH) or "1")
