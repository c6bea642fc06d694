"""Adam as an optimizer that updates only the visible rows."""

from __future__ import annotations

from typing import Any

import torch

from rocm3d_kernels.adam import adam_step


class VisibleAdam(torch.optim.Adam):
    """Each parameter group holds one tensor; its number of elements is a multiple of the number of rows.

    Unlike torch.optim.Adam, moments have no bias correction, and rows that are not visible do not change.
    """

    @torch.no_grad()
    def step_visible(self, visible: torch.Tensor) -> None:
        """One step for the rows where `visible` is not zero."""
        for group in self.param_groups:
            if len(group["params"]) != 1:
                raise ValueError(f"adam: a parameter group must hold one tensor, not {len(group['params'])}")
            parameter = group["params"][0]
            if parameter.grad is None:
                continue
            state = self._initialized_state(parameter)
            adam_step(
                parameter, parameter.grad, state["exp_avg"], state["exp_avg_sq"], visible,
                lr=group["lr"], betas=group["betas"], eps=group["eps"],
            )  # fmt: skip

    def _initialized_state(self, parameter: torch.Tensor) -> dict[str, Any]:
        """Keys are those of torch.optim.Adam, because densification code reads and resizes them."""
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["exp_avg"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
            state["exp_avg_sq"] = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        return state
