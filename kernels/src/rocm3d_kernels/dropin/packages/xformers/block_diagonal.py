"""Biases of packed sequences: a query sees keys of its own sequence only. Classes differ in their windows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from rocm3d_kernels.attention import Spans, spans_of
from rocm3d_kernels.dropin.packages.xformers.lengths import SeqLenInfo
from rocm3d_kernels.dropin.packages.xformers.window import AttentionBias, window


@dataclass
class _Packed(AttentionBias):
    """Sequences of queries and of keys."""

    q_seqinfo: SeqLenInfo
    k_seqinfo: SeqLenInfo

    def to(self, device: torch.device | str) -> Any:
        """Lengths on a device."""
        return replace(self, q_seqinfo=self.q_seqinfo.to(device), k_seqinfo=self.k_seqinfo.to(device))

    def spans(self, device: torch.device) -> Spans:
        """For the attention of packed tensors."""
        q, k = self.q_seqinfo.to(device), self.k_seqinfo.to(device)
        if k.seqlen is None:
            same = self.q_seqinfo.seqstart_py == self.k_seqinfo.seqstart_py
            return spans_of(q.seqstart, q.seqstart if same else k.seqstart, q.max_seqlen, k.max_seqlen)
        begins = k.seqstart[:-1]
        return Spans(q.seqstart[:-1], q.seqstart[1:], begins, begins + k.seqlen, q.max_seqlen, k.max_seqlen)

    def materialize(
        self, shape: Sequence[int], dtype: torch.dtype = torch.float32, device: torch.device | str = "cpu"
    ) -> torch.Tensor:
        """The matrix: zero where a query sees a key, else minus infinity."""
        matrix = torch.full((int(shape[-2]), int(shape[-1])), -torch.inf, dtype=dtype, device=device)
        for (q0, q1), (k0, k1) in zip(self.q_seqinfo.intervals(), self.k_seqinfo.intervals(), strict=True):
            matrix[q0:q1, k0:k1] = window(*self.limits(), q1 - q0, k1 - k0, dtype, device)
        return matrix.expand(tuple(shape))


@dataclass
class BlockDiagonalMask(_Packed):
    """Sequences one after another, without further limits."""

    _batch_sizes: Sequence[int] | None = None

    @classmethod
    def from_seqlens(
        cls,
        q_seqlen: Sequence[int],
        kv_seqlen: Sequence[int] | None = None,
        *,
        device: torch.device | str | None = None,
    ) -> Any:
        """Of lengths of queries and keys, the same for both where one is given."""
        if kv_seqlen is not None and len(kv_seqlen) != len(q_seqlen):
            raise ValueError(f"{len(q_seqlen)} sequences of queries, {len(kv_seqlen)} of keys")
        q = SeqLenInfo.from_seqlens(q_seqlen, device)
        return cls(q, q if kv_seqlen is None else SeqLenInfo.from_seqlens(kv_seqlen, device))

    @classmethod
    def from_tensor_list(cls, tensors: Sequence[torch.Tensor]) -> tuple[Any, torch.Tensor]:
        """A mask and one packed tensor [1, T, ...] of tensors [B, S, ...]."""
        lengths = [one.shape[1] for one in tensors for _ in range(one.shape[0])]
        mask = cls.from_seqlens(lengths, device=tensors[0].device)
        mask._batch_sizes = [one.shape[0] for one in tensors]
        return mask, _joined(tensors)

    @classmethod
    def from_tensor_lists_qkv(
        cls,
        tensors_q: Sequence[torch.Tensor],
        tensors_k: Sequence[torch.Tensor],
        tensors_v: Sequence[torch.Tensor] | None = None,
    ) -> tuple[Any, torch.Tensor, torch.Tensor, torch.Tensor | None]:
        """A mask and packed tensors."""
        lengths = [[one.shape[1] for one in some for _ in range(one.shape[0])] for some in (tensors_q, tensors_k)]
        mask = cls.from_seqlens(*lengths, device=tensors_q[0].device)
        mask._batch_sizes = [one.shape[0] for one in tensors_q]
        return mask, _joined(tensors_q), _joined(tensors_k), None if tensors_v is None else _joined(tensors_v)

    def split_queries(self, tensor: torch.Tensor) -> Sequence[torch.Tensor]:
        """[1, T, ...] as it was before it was packed."""
        return self.q_seqinfo.split(tensor, self._batch_sizes)

    def split_kv(self, tensor: torch.Tensor) -> Sequence[torch.Tensor]:
        """The same for keys and values."""
        return self.k_seqinfo.split(tensor, self._batch_sizes)

    def split(self, tensor: torch.Tensor) -> Sequence[torch.Tensor]:
        """The same where queries and keys have the same lengths."""
        if self.q_seqinfo.seqstart_py != self.k_seqinfo.seqstart_py:
            raise ValueError("lengths of queries and keys differ: split_queries or split_kv")
        return self.split_queries(tensor)

    def make_causal(self) -> BlockDiagonalCausalMask:
        """Causal, counted from the first query and key of each sequence."""
        return BlockDiagonalCausalMask(self.q_seqinfo, self.k_seqinfo, self._batch_sizes)

    def make_causal_from_bottomright(self) -> BlockDiagonalCausalFromBottomRightMask:
        """Causal, counted from the last ones."""
        return BlockDiagonalCausalFromBottomRightMask(self.q_seqinfo, self.k_seqinfo, self._batch_sizes)

    def make_local_attention(self, window_size: int) -> BlockDiagonalCausalLocalAttentionMask:
        """Causal, counted from the first ones, this many keys for each query."""
        return BlockDiagonalCausalLocalAttentionMask(self.q_seqinfo, self.k_seqinfo, self._batch_sizes, window_size)

    def make_local_attention_from_bottomright(
        self, window_size: int
    ) -> BlockDiagonalCausalLocalAttentionFromBottomRightMask:
        """Causal, counted from the last ones, this many keys for each query."""
        return BlockDiagonalCausalLocalAttentionFromBottomRightMask(
            self.q_seqinfo, self.k_seqinfo, self._batch_sizes, window_size
        )


@dataclass
class BlockDiagonalCausalMask(BlockDiagonalMask):
    """Causal, counted from the first query and key of each sequence."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, True


@dataclass
class BlockDiagonalCausalFromBottomRightMask(BlockDiagonalMask):
    """Causal, counted from the last query and key of each sequence."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, False


@dataclass
class BlockDiagonalCausalLocalAttentionMask(BlockDiagonalCausalMask):
    """Causal, counted from the first ones, the nearest keys only."""

    _window_size: int = 0

    def __post_init__(self) -> None:
        """At least the own place."""
        if self._window_size <= 0:
            raise ValueError(f"window_size is {self._window_size}; at least 1 key is seen")

    def limits(self) -> tuple[int, int, bool]:
        """The own place is one of the window."""
        return self._window_size - 1, 0, True


@dataclass
class BlockDiagonalCausalLocalAttentionFromBottomRightMask(BlockDiagonalCausalLocalAttentionMask):
    """Causal, counted from the last ones, the nearest keys only."""

    def limits(self) -> tuple[int, int, bool]:
        """The own place is one of the window."""
        return self._window_size - 1, 0, False


@dataclass
class BlockDiagonalPaddedKeysMask(_Packed):
    """Keys of each sequence begin at multiples of a padding."""

    @classmethod
    def from_seqlens(
        cls,
        q_seqlen: Sequence[int],
        kv_padding: int,
        kv_seqlen: Sequence[int],
        causal_diagonal: Any = None,  # noqa: ARG003  (means nothing in the original, either)
        *,
        device: torch.device | str | None = None,
    ) -> Any:
        """Of lengths of queries, the room for keys, and how much of it is used."""
        k = SeqLenInfo.from_seqlens_padded(kv_seqlen, kv_padding, device)
        return cls(SeqLenInfo.from_seqlens(q_seqlen, device), k)


@dataclass
class BlockDiagonalCausalWithOffsetPaddedKeysMask(BlockDiagonalPaddedKeysMask):
    """Causal, counted from the last query and used key."""

    causal_diagonal: Any = None

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, False


@dataclass
class BlockDiagonalLocalAttentionPaddedKeysMask(BlockDiagonalPaddedKeysMask):
    """A window around the query's place, counted from the last query and used key."""

    window_left: int = 0
    window_right: int = 0

    def limits(self) -> tuple[int, int, bool]:
        """Both sides."""
        return self.window_left, self.window_right, False

    @classmethod
    def from_seqlens_local(
        cls, q_seqlen: Sequence[int], kv_padding: int, kv_seqlen: Sequence[int], window_left: int, window_right: int,
        device: torch.device | str | None = None,
    ) -> Any:  # fmt: skip
        """As from_seqlens, with the sides of the window."""
        made = BlockDiagonalPaddedKeysMask.from_seqlens(q_seqlen, kv_padding, kv_seqlen, device=device)
        return cls(made.q_seqinfo, made.k_seqinfo, window_left, window_right)


@dataclass
class BlockDiagonalCausalLocalAttentionPaddedKeysMask(BlockDiagonalPaddedKeysMask):
    """Causal, counted from the last query and used key, the nearest keys only."""

    _window_size: int = 1

    def limits(self) -> tuple[int, int, bool]:
        """The own place is one of the window."""
        return self._window_size - 1, 0, False

    @classmethod
    def from_seqlens_local(
        cls, q_seqlen: Sequence[int], kv_padding: int, kv_seqlen: Sequence[int], window_size: int,
        *, device: torch.device | str | None = None,
    ) -> Any:  # fmt: skip
        """As from_seqlens, with the size of the window."""
        made = BlockDiagonalPaddedKeysMask.from_seqlens(q_seqlen, kv_padding, kv_seqlen, device=device)
        return cls(made.q_seqinfo, made.k_seqinfo, window_size)


@dataclass
class BlockDiagonalGappyKeysMask(_Packed):
    """Keys of each sequence begin where they are said to."""

    @classmethod
    def from_seqlens(
        cls, q_seqlen: Sequence[int], kv_seqstarts: Sequence[int], kv_seqlen: Sequence[int],
        *, device: torch.device | str | None = None,
    ) -> Any:  # fmt: skip
        """Of lengths of queries, starts of keys and the end of all, and lengths of keys."""
        k = SeqLenInfo.from_seqlens_gappy(kv_seqstarts, kv_seqlen, device)
        return cls(SeqLenInfo.from_seqlens(q_seqlen, device), k)


@dataclass
class BlockDiagonalCausalWithOffsetGappyKeysMask(BlockDiagonalGappyKeysMask):
    """Causal, counted from the last query and key."""

    def limits(self) -> tuple[int, int, bool]:
        """No left limit."""
        return -1, 0, False


def _joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    return torch.cat([one.reshape(1, -1, *one.shape[2:]) for one in tensors], dim=1)
