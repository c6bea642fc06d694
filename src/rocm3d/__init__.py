"""rocm3d ports CUDA-first 3D, VLA and world-model repositories to AMD GPUs, and proves the port."""

from __future__ import annotations

__version__ = "0.1.0"
