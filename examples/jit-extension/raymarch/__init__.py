"""Occupancy-grid ray marching; compiles its kernels at import."""
import os

from torch.utils.cpp_extension import load

_here = os.path.dirname(os.path.abspath(__file__))

_backend = load(
    name="raymarch_backend",
    sources=[
        os.path.join(_here, "csrc", "bindings.cpp"),
        os.path.join(_here, "csrc", "raymarch.cu"),
    ],
    extra_cflags=["-O3", "-std=c++17"],
    extra_cuda_cflags=["-O3", "--use_fast_math", "-lineinfo"],
    verbose=False,
)


def march(origins, directions, grid, near, far, step, max_samples, seed=0):
    """Sample depths and lengths (R, max_samples); unused slots have length zero.

    grid is a uint8 cube over [-1, 1]^3, nonzero where something may be.
    """
    return _backend.march(origins.contiguous(), directions.contiguous(), grid.contiguous(),
                          near, far, step, max_samples, seed)


def composite(sigma, color, dt):
    """Colour (R, 3) and opacity (R,) of densities (R, S) and colours (R, S, 3)."""
    return _backend.composite(sigma.contiguous(), color.contiguous(), dt.contiguous())
