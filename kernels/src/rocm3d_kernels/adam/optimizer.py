"""Adam as an optimizer whose steps are told which rows were seen."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.adam import adam_step


class VisibleAdam(torch.optim.Adam):
    """One tensor in each group; its first dimension, or a multiple of it, is that of the rows that were seen or not.

    Unlike torch's own, moments are not corrected for their start at zero, and rows that were not seen do not move.
    """

    @torch.no_grad()
    def step_visible(self, visible: torch.Tensor) -> None:
        """A step of the rows that `visible` marks."""
        for group in self.param_groups:
            if len(group["params"]) != 1:
                raise ValueError(f"adam: {len(group['params'])} tensors in a group of parameters, one is taken")
            parameter = group["params"][0]
            if parameter.grad is None:
                continue
            state = self._started(parameter)
            adam_step(
                parameter, parameter.grad, state["exp_avg"], state["exp_avg_sq"], visible,
                lr=group["lr"], betas=group["betas"], eps=group["eps"],
            )  # fmt: skip

    def _started(self, parameter: torch.Tensor) -> dict[str, Any]:
        """Names as torch has them: programs that grow and cut parameters look for them."""
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
            state["exp_avg_sq"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        return state
