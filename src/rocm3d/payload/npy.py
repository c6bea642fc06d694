"""Finds the tensors of nested values, and writes a tensor as a .npy file without numpy, which may not be installed."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_NPY_DTYPES = {
    "float64": "<f8", "float32": "<f4", "float16": "<f2", "complex64": "<c8", "complex128": "<c16",
    "int64": "<i8", "int32": "<i4", "int16": "<i2", "int8": "|i1", "uint8": "|u1", "bool": "|b1",
}  # fmt: skip


def tensors(value: Any, part: str, torch: Any, *, numbers: bool) -> Iterator[tuple[str, Any]]:
    """All tensors of nested dicts and lists, with their path; with `numbers`, numbers as tensors, too."""
    if isinstance(value, torch.Tensor):
        yield part, value
    elif numbers and isinstance(value, (bool, int, float)):
        yield part, torch.tensor(value)
    elif isinstance(value, (dict, list, tuple)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from tensors(inner, f"{part}.{key}", torch, numbers=numbers)


def write(path: Path, tensor: Any, torch: Any) -> str:
    """Write a tensor; returns the name of its dtype. bfloat16 and 8-bit floats become float32, which is exact."""
    dtype = str(tensor.dtype).rpartition(".")[2]
    array = tensor.detach()
    if array.layout != torch.strided:
        array = array.to_dense()
    if dtype not in _NPY_DTYPES:
        if not array.is_floating_point():
            raise TypeError(f"{dtype} tensors are not supported")
        array = array.to(torch.float32)
    array = array.cpu().contiguous().resolve_conj().resolve_neg()
    code = _NPY_DTYPES.get(dtype, "<f4")
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {tuple(array.shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    size = array.numel() * array.element_size()
    with path.open("wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin-1"))
        if size:
            file.write((ctypes.c_char * size).from_address(array.data_ptr()))
    return dtype
