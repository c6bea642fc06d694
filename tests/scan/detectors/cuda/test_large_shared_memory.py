from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

RULE = "large_shared_memory"
SAMPLE = "__global__ void k() { __shared__ float tile[20000]; }\n"


@pytest.fixture(scope="module")
def known(known):
    """Two targets: the smaller one sets the limit."""
    return replace(known, targets={"small": SimpleNamespace(lds_kib=64), "large": SimpleNamespace(lds_kib=160)})


def test_broken_code_and_invalid_utf8(positions):
    assert positions(RULE, "a.cu", b"// \xff\xfe\n" + SAMPLE.encode() + b"}}} (((\n")
