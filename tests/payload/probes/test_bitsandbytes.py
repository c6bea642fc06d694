from __future__ import annotations

import pytest

NATIVE = """
class Library:
    _name = "/somewhere/{name}"
class lib:
    _lib = Library()
"""
PLAIN = """
import torch
def quantize_blockwise(values, blocksize):
    return ((values + 1) * 127.5).round().to(torch.uint8), None
def dequantize_blockwise(packed, state):
    return packed.float() / 127.5 - 1{spoil}
"""


@pytest.mark.parametrize("spoil", [" + 0.01", " * 0"])
def test_wrong_dequantisation_is_broken(package, run_probe, spoil):
    native = NATIVE.format(name="libbitsandbytes_rocm72.so")
    package("bitsandbytes", library=True, cextension=native, functional=PLAIN.replace("{spoil}", spoil))

    assert run_probe("bitsandbytes", "bitsandbytes")["outcome"] == "broken"


def test_right_dequantisation_is_accelerated(package, run_probe):
    native = NATIVE.format(name="libbitsandbytes_rocm72.so")
    package("bitsandbytes", library=True, cextension=native, functional=PLAIN.replace("{spoil}", ""))

    answer = run_probe("bitsandbytes", "bitsandbytes")

    assert answer["outcome"] == "accelerated"
    assert answer["facts"]["library"] == "libbitsandbytes_rocm72.so"
