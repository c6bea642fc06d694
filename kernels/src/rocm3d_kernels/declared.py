"""What the AMD gate compiles: each operation's gate.py holds a list KERNELS of these, and is found by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rocm3d_kernels.tuning import for_target

# Every kernel's name begins with it, so that a profile tells whose it is.
MARK = "rocm3d_"
# What goes to Triton's compiler and not to the kernel.
OPTIONS = ("num_warps", "num_stages", "num_ctas", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "enable_fp_fusion")


@dataclass(frozen=True)
class Declared:
    """One kernel as it is launched for one dtype.

    `arguments` are Triton types by name ("*fp32", "i32"), `constants` the compile-time arguments that the tuning table
    does not hold, `quick` whether `make test` compiles it too, `spills` how many registers may go to memory.
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
        """In the tuning table: without what marks a kernel as ours in a profile."""
        return str(self.kernel.__name__).removeprefix(MARK)

    def launch(self, target: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Compile-time arguments and compiler options on a target."""
        tuned = for_target(self.op, self.name, target)
        options = {name: tuned.pop(name) for name in OPTIONS if name in tuned}
        return {**tuned, **self.constants}, options
