"""`import rocm3d_kernels.dropin.auto` at the top of a program replaces CUDA-only packages that do not work.

ROCM3D_DROPIN limits the drop-ins to some packages (names) or replaces working packages too (force); 0 disables them.
"""

from __future__ import annotations

import os

from rocm3d_kernels.dropin.finder import SWITCH, install_from_environment

install_from_environment(os.environ.get(SWITCH) or "1")
