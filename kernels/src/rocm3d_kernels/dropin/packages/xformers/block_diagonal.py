"""Biases of packed sequences: a query sees only keys of its own sequence. Classes differ in their windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from rocm3d_kernels.attention import Spans, spans_from_cu_seqlens
from rocm3d_kernels.dropin.packages.xformers.lengths import SeqLenInfo
from rocm3d_kernels.dropin.packages.xformers.window import AttentionBias, window_matrix


@dataclass
class _PackedMask(AttentionBias):
    """Base of all masks of packed sequences."""

    q_seqinfo: SeqLenInfo
    k_seqinfo: SeqLenInfo

    def to(self, device: torch.device | str) -> Any:
        """A copy with the lengths on a device."""
        return replace(self, q_seqinfo=self.q_seqinfo.to(device), k_seqinfo=self.k_seqinfo.to(device))

    def spans(self, device: torch.device) -> Spans:
        """The token ranges for `rocm3d_kernels.attention`."""
        q, k = self.q_seqinfo.to(device), self.k_seqinfo.to(device)
        if k.seqlen is None:
            same = self.q_seqinfo.seqstart_py == self.k_seqinfo.seqstart_py
            return spans_from_cu_seqlens(q.seqstart, q.seqstart if same else k.seqstart, q.max_seqlen, k.max_seqlen)
        begins = k.seqstart[:-1]
        return Spans(q.seqstart[:-1], q.seqstart[1:], begins, begins + k.seqlen, q.max_seqlen, k.max_seqlen)

    def materialize(
        self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> torch.Tensor:
        """The matrix: zero for visible keys, else minus infinity."""
        matrix = torch.full((int(shape[-2]), int(shape[-1])), -torch.inf, dtype=dtype, device=device)
        for (q0, q1), (k0, k1) in zip(self.q_seqinfo.intervals(), self.k_seqinfo.intervals(), strict=True):
            matrix[q0:q1, k0:k1] = window_matrix(*self.limits(), q1 - q0, k1 - k0, dtype, device)
        return matrix.expand(tuple(shape))


@dataclass
class BlockDiagonalMask(_PackedMask):
    """Contiguous sequences without further limits."""

    _batch_sizes: Sequence[int] | None = None

    @classmethod
    def from_seqlens(
        cls,
        q_seqlen: Sequence[int],
        kv_seqlen: Sequence[int] | None = None,
        *,
        device: torch.device | str | None = None,
    ) -> Any:
        """From the lengths of queries and keys; without `kv_seqlen` keys have the lengths of queries."""
        if kv_seqlen is not None and len(kv_seqlen) != len(q_seqlen):
            raise ValueError(f"q_seqlen has {len(q_seqlen)} sequences, kv_seqlen has {len(kv_seqlen)}")
        q = SeqLenInfo.from_seqlens(q_seqlen, device)
        return cls(q, q if kv_seqlen is None else SeqLenInfo.from_seqlens(kv_seqlen, device))

    @classmethod
    def from_tensor_list(cls, tensors: Sequence[torch.Tensor]) -> tuple[Any, torch.Tensor]:
        """A mask and one packed tensor [1, T, ...] from tensors [B, S, ...]."""
        lengths = [one.shape[1] for one in tensors for _ in range(one.shape[0])]
        mask = cls.from_seqlens(lengths, device=tensors[0].device)
        mask._batch_sizes = [one.shape[0] for one in tensors]
        return mask, _concatenate(tensors)

    @classmethod
    def from_tensor_lists_qkv(
        cls,
        tensors_q: Sequence[torch.Tensor],
        tensors_k: Sequence[torch.Tensor],
        tensors_v: Sequence[torch.Tensor] | None = None,
    ) -> tuple[Any, torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """A mask and the packed q, k and v."""
        lengths = [[one.shape[1] for one in some for _ in range(one.shape[0])] for some in (tensors_q, tensors_k)]
        mask = cls.from_seqlens(*lengths, device=tensors_q[0].device)
        mask._batch_sizes = [one.shape[0] for one in tensors_q]
        return (
            mask,
            _concatenate(tensors_q),
            _concatenate(tensors_k),
            None if tensors_v is None else _concatenate(tensors_v),
        )

    def split_queries(self, tensor: torch.Tensor) -> Sequence[torch.Tensor]:
        """[1, T, ...] as the list of tensors before packing."""
        return self.q_seqinfo.split(tensor, self._batch_sizes)

    def split_kv(self, tensor: torch.Tensor) -> Sequence[torch.Tensor]:
        """`split_queries` for keys and values."""
        return self.k_seqinfo.split(tensor, self._batch_sizes)

    def split(self, tensor: torch.Tensor) -> Sequence[torch.Tensor]:
        """`split_queries` if queries and keys have the same lengths; else raises."""
        if self.q_seqinfo.seqstart_py != self.k_seqinfo.seqstart_py:
            raise ValueError("lengths of queries and keys differ; use split_queries or split_kv")
        return self.split_queries(tensor)

    def make_causal(self) -> BlockDiagonalCausalMask:
        """Causal, aligned to the first query and key of each sequence."""
        return BlockDiagonalCausalMask(self.q_seqinfo, self.k_seqinfo, self._batch_sizes)

    def make_causal_from_bottomright(self) -> BlockDiagonalCausalFromBottomRightMask:
        """Causal, aligned to the last query and key of each sequence."""
        return BlockDiagonalCausalFromBottomRightMask(self.q_seqinfo, self.k_seqinfo, self._batch_sizes)

    def make_local_attention(self, window_size: int) -> BlockDiagonalCausalLocalAttentionMask:
        """Causal, aligned to the first query and key of each sequence, `window_size` keys per query."""
        return BlockDiagonalCausalLocalAttentionMask(self.q_seqinfo, self.k_seqinfo, self._batch_sizes, window_size)

    def make_local_attention_from_bottomright(
        self, window_size: int
    ) -> BlockDiagonalCausalLocalAttentionFromBottomRightMask:
        """Causal, aligned to the last query and key of each sequence, `window_size` keys per query."""
        return BlockDiagonalCausalLocalAttentionFromBottomRightMask(
            self.q_seqinfo, self.k_seqinfo, self._batch_sizes, window_size
        )


@dataclass
class BlockDiagonalCausalMask(BlockDiagonalMask):
    """Causal, aligned to the first query and key of each sequence."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, True


@dataclass
class BlockDiagonalCausalFromBottomRightMask(BlockDiagonalMask):
    """Causal, aligned to the last query and key of each sequence."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, False


@dataclass
class BlockDiagonalCausalLocalAttentionMask(BlockDiagonalCausalMask):
    """Causal, aligned to the first query and key of each sequence, limited to the nearest keys."""

    _window_size: int = 0

    def __post_init__(self) -> None:
        """Raises if the window is empty."""
        if self._window_size <= 0:
            raise ValueError(f"window_size is {self._window_size}; it must be at least 1")

    def limits(self) -> tuple[int, int, bool]:
        """The window includes the query's own position."""
        return self._window_size - 1, 0, True


@dataclass
class BlockDiagonalCausalLocalAttentionFromBottomRightMask(BlockDiagonalCausalLocalAttentionMask):
    """Causal, aligned to the last query and key of each sequence, limited to the nearest keys."""

    def limits(self) -> tuple[int, int, bool]:
        """The window includes the query's own position."""
        return self._window_size - 1, 0, False


@dataclass
class BlockDiagonalPaddedKeysMask(_PackedMask):
    """The keys of each sequence start at a multiple of the padding."""

    @classmethod
    def from_seqlens(
        cls,
        q_seqlen: Sequence[int],
        kv_padding: int,
        kv_seqlen: Sequence[int],
        causal_diagonal: Any = None,  # noqa: ARG003  (unused in the original, too)
        *,
        device: torch.device | str | None = None,
    ) -> Any:
        """From the lengths of queries, the padded length of keys, and the used lengths of keys."""
        k = SeqLenInfo.from_seqlens_padded(kv_seqlen, kv_padding, device)
        return cls(SeqLenInfo.from_seqlens(q_seqlen, device), k)


@dataclass
class BlockDiagonalCausalWithOffsetPaddedKeysMask(BlockDiagonalPaddedKeysMask):
    """Causal, aligned to the last query and used key."""

    causal_diagonal: Any = None

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, False


@dataclass
class BlockDiagonalLocalAttentionPaddedKeysMask(BlockDiagonalPaddedKeysMask):
    """A window around the query's position, aligned to the last query and used key."""

    window_left: int = 0
    window_right: int = 0

    def limits(self) -> tuple[int, int, bool]:
        """Limits on both sides, aligned to the last query and key."""
        return self.window_left, self.window_right, False

    @classmethod
    def from_seqlens_local(
        cls, q_seqlen: Sequence[int], kv_padding: int, kv_seqlen: Sequence[int], window_left: int, window_right: int,
        device: torch.device | str | None = None,
    ) -> Any:  # fmt: skip
        """`from_seqlens` with the sides of the window."""
        mask = BlockDiagonalPaddedKeysMask.from_seqlens(q_seqlen, kv_padding, kv_seqlen, device=device)
        return cls(mask.q_seqinfo, mask.k_seqinfo, window_left, window_right)


@dataclass
class BlockDiagonalCausalLocalAttentionPaddedKeysMask(BlockDiagonalPaddedKeysMask):
    """Causal, aligned to the last query and used key, limited to the nearest keys."""

    _window_size: int = 1

    def limits(self) -> tuple[int, int, bool]:
        """The window includes the query's own position."""
        return self._window_size - 1, 0, False

    @classmethod
    def from_seqlens_local(
        cls, q_seqlen: Sequence[int], kv_padding: int, kv_seqlen: Sequence[int], window_size: int,
        *, device: torch.device | str | None = None,
    ) -> Any:  # fmt: skip
        mask = BlockDiagonalPaddedKeysMask.from_seqlens(q_seqlen, kv_padding, kv_seqlen, device=device)
        return cls(mask.q_seqinfo, mask.k_seqinfo, window_size)


@dataclass
class BlockDiagonalGappyKeysMask(_PackedMask):
    """The keys of each sequence start at an explicit position."""

    @classmethod
    def from_seqlens(
        cls, q_seqlen: Sequence[int], kv_seqstarts: Sequence[int], kv_seqlen: Sequence[int],
        *, device: torch.device | str | None = None,
    ) -> Any:  # fmt: skip
        """From the lengths of queries, the starts of keys with the end of the tensor, and the lengths of keys."""
        k = SeqLenInfo.from_seqlens_gappy(kv_seqstarts, kv_seqlen, device)
        return cls(SeqLenInfo.from_seqlens(q_seqlen, device), k)


@dataclass
class BlockDiagonalCausalWithOffsetGappyKeysMask(BlockDiagonalGappyKeysMask):
    """Causal, aligned to the last query and key."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, False


def _concatenate(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.cat([one.reshape(1, -1, *one.shape[2:]) for one in tensors], dim=1)
