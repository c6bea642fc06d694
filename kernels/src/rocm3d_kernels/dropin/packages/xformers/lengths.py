"""SeqLenInfo of xFormers: lengths of packed sequences, as Python numbers and as a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import torch


@dataclass
class SeqLenInfo:
    """Sequence n begins at seqstart[n]. `seqlen` is set if there are gaps between sequences."""

    seqstart: torch.Tensor
    max_seqlen: int
    min_seqlen: int
    seqstart_py: list[int]
    seqlen: torch.Tensor | None = None
    seqlen_py: list[int] | None = None
    padding: int = 0

    @classmethod
    def from_seqlens(cls, seqlens: Iterable[int], device: torch.device | str | None = None) -> SeqLenInfo:
        """Contiguous sequences."""
        lengths = [int(one) for one in seqlens]
        starts = [0, *accumulate(lengths)]
        return cls(_int32_tensor(starts, device), max(lengths, default=0), min(lengths, default=0), starts)

    @classmethod
    def from_seqlens_gappy(
        cls, starts: Sequence[int], seqlens: Sequence[int], device: torch.device | str | None = None, padding: int = 0
    ) -> SeqLenInfo:
        """Sequences with gaps; `starts` has one more element than there are sequences: the end of the tensor."""
        begins, lengths = [int(one) for one in starts], [int(one) for one in seqlens]
        if len(begins) != len(lengths) + 1:
            raise ValueError(f"{len(lengths)} sequences need {len(lengths) + 1} starts, not {len(begins)}")
        shortest, longest = min(lengths, default=0), max(lengths, default=0)
        return cls(
            _int32_tensor(begins, device), longest, shortest, begins, _int32_tensor(lengths, device), lengths, padding
        )

    @classmethod
    def from_seqlens_padded(
        cls, seqlens: Sequence[int], padding: int, device: torch.device | str | None = None
    ) -> SeqLenInfo:
        """Each sequence padded to `padding` tokens."""
        if any(int(one) > padding for one in seqlens):
            raise ValueError(f"a sequence of {max(seqlens)} tokens does not fit into a padding of {padding}")
        starts = [index * padding for index in range(len(seqlens) + 1)]
        return cls.from_seqlens_gappy(starts, seqlens, device, padding)

    def to(self, device: torch.device | str) -> SeqLenInfo:
        """A copy with the tensors on a device."""
        lengths = None if self.seqlen is None else self.seqlen.to(device, non_blocking=True)
        return replace(self, seqstart=self.seqstart.to(device, non_blocking=True), seqlen=lengths)

    def intervals(self) -> list[tuple[int, int]]:
        """First token and end (exclusive) of each sequence."""
        if self.seqlen_py is not None:
            return [(begin, begin + size) for begin, size in zip(self.seqstart_py, self.seqlen_py, strict=False)]
        return list(zip(self.seqstart_py, self.seqstart_py[1:], strict=False))

    def split(self, x: torch.Tensor, batch_sizes: Sequence[int] | None = None) -> list[torch.Tensor]:
        """[1, T, ...] as one tensor for each sequence, or for each batch of sequences of one length."""
        if self.seqlen_py is not None:
            raise NotImplementedError("split of sequences with gaps is not covered by rocm3d-kernels")
        if self.seqstart_py[-1] != x.shape[1] or x.shape[0] != 1:
            raise ValueError(f"the tensor must be [1, {self.seqstart_py[-1]}, ...], not {tuple(x.shape)}")
        sizes = [1] * (len(self.seqstart_py) - 1) if batch_sizes is None else list(batch_sizes)
        parts, index = [], 0
        for size in sizes:
            part = x[:, self.seqstart_py[index] : self.seqstart_py[index + size]]
            parts.append(part.reshape(size, -1, *x.shape[2:]))
            index += size
        return parts


def _int32_tensor(numbers: Sequence[int], device: torch.device | str | None) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.int32, device=device)
