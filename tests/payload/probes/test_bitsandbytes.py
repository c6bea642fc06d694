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
def test_what_does_not_come_back_is_broken(package, look, spoil):
    native = NATIVE.format(name="libbitsandbytes_rocm72.so")
    package("bitsandbytes", library=True, cextension=native, functional=PLAIN.replace("{spoil}", spoil))

    assert look("bitsandbytes", "bitsandbytes")["outcome"] == "broken"


def test_there_and_back_with_the_name_of_the_library(package, look):
    native = NATIVE.format(name="libbitsandbytes_rocm72.so")
    package("bitsandbytes", library=True, cextension=native, functional=PLAIN.replace("{spoil}", ""))

    answer = look("bitsandbytes", "bitsandbytes")

    assert answer["outcome"] == "accelerated"
    assert answer["facts"]["library"] == "libbitsandbytes_rocm72.so"
