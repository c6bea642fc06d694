"""Kernels that the AMD gate compiles: it collects the list KERNELS of every operation's gate.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocm3d_kernels.tuning import for_target

# Every kernel name begins with it, so that our kernels are recognised in a profile.
KERNEL_PREFIX = "rocm3d_"
# Launch parameters for Triton's compiler; all others are constexpr arguments of the kernel.
COMPILER_OPTIONS = (
    "num_warps",
    "num_stages",
    "num_ctas",
    "waves_per_eu",
    "matrix_instr_nonkdim",
    "kpack",
    "enable_fp_fusion",
)


@dataclass(frozen=True)
class GateKernel:
    """One kernel with the argument types and constants of one launch.

    `arguments` are Triton types by name ("*fp32", "i32"). `constants` are the constexpr arguments that the tuning table
    does not hold. `quick`: `make test` compiles it, too. `spills` is the number of registers that may spill.
    """

    op: str
    kernel: Any
    arguments: Mapping[str, str]
    constants: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"
    quick: bool = True
    spills: int = 0

    @property
    def name(self) -> str:
        """Name in the tuning table: the kernel's name without the prefix."""
        return str(self.kernel.__name__).removeprefix(KERNEL_PREFIX)

    def compile_arguments(self, target: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Constexpr arguments and compiler options for a target."""
        tuned = for_target(self.op, self.name, target)
        options = {name: tuned.pop(name) for name in COMPILER_OPTIONS if name in tuned}
        return {**tuned, **self.constants}, options
