"""flash_attn.bert_padding: removes the padding of a batch and adds it again."""

from __future__ import annotations

import torch

__all__ = [
    "index_first_axis",
    "index_put_first_axis",
    "pad_input",
    "unpad_input",
    "unpad_input_for_concatenated_sequences",
]


def index_first_axis(input: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:  # noqa: A002  (the original's name)
    """Selects rows by index; differentiable."""
    return input.index_select(0, indices)


def index_put_first_axis(values: torch.Tensor, indices: torch.Tensor, first_axis_dim: int) -> torch.Tensor:
    """Writes rows by index into zeros."""
    return values.new_zeros(first_axis_dim, *values.shape[1:]).index_copy(0, indices, values)


def unpad_input(
    hidden_states: torch.Tensor, attention_mask: torch.Tensor, unused_mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int, torch.Tensor]:
    """[B, S, ...] to rows [T, ...], their indices, cumulative lengths, the maximum length, and used lengths.

    Rows of `unused_mask` are included, but not counted as used.
    """
    used = attention_mask.sum(-1, dtype=torch.int32)
    mask = attention_mask if unused_mask is None else attention_mask + unused_mask
    lengths = mask.sum(-1, dtype=torch.int32)
    indices = mask.flatten().nonzero().flatten()
    rows = index_first_axis(hidden_states.flatten(0, 1), indices)
    return rows, indices, _cumulative(lengths), int(lengths.max()) if lengths.numel() else 0, used


def unpad_input_for_concatenated_sequences(
    hidden_states: torch.Tensor, attention_mask_in_length: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]:
    """Like `unpad_input`, for rows that hold several sequences each; the mask holds their lengths, then zeros."""
    size = attention_mask_in_length.shape[-1]
    total = attention_mask_in_length.sum(-1, keepdim=True)
    mask = torch.arange(size, device=total.device) < total
    lengths = attention_mask_in_length[attention_mask_in_length != 0].int()
    indices = mask.flatten().nonzero().flatten()
    rows = index_first_axis(hidden_states.flatten(0, 1), indices)
    return rows, indices, _cumulative(lengths), int(lengths.max()) if lengths.numel() else 0


def pad_input(hidden_states: torch.Tensor, indices: torch.Tensor, batch: int, seqlen: int) -> torch.Tensor:
    """Rows [T, ...] back to [B, S, ...], padded with zeros."""
    return index_put_first_axis(hidden_states, indices, batch * seqlen).unflatten(0, (batch, seqlen))


def _cumulative(lengths: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.pad(lengths.cumsum(0, dtype=torch.int32), (1, 0))
