"""ONNX Runtime: the provider that ran a small model, read from its profile."""

from __future__ import annotations

import json
import os
import struct
import tempfile
from pathlib import Path
from typing import Any

NEEDS_TORCH = False
CPU = "CPUExecutionProvider"


def check(session: Any) -> None:
    """Runs a matrix product with all available providers, best first."""
    import numpy
    import onnxruntime

    providers = [name for name in onnxruntime.get_available_providers() if name != "AzureExecutionProvider"]
    session.facts["available"] = providers
    session.evidence = "provider"
    options = onnxruntime.SessionOptions()
    options.enable_profiling = True
    left = numpy.arange(12, dtype=numpy.float32).reshape(3, 4) / 10
    right = numpy.arange(8, dtype=numpy.float32).reshape(4, 2) / 10
    with tempfile.TemporaryDirectory() as folder:
        options.profile_file_prefix = os.path.join(folder, "profile")  # noqa: PTH118
        inference = onnxruntime.InferenceSession(model(), options, providers=providers)
        got = inference.run(None, {"a": left, "b": right})[0]
        events = json.loads(Path(inference.end_profiling()).read_text(encoding="utf-8"))
    ran = sorted({event["args"]["provider"] for event in events if "provider" in event.get("args", {})})
    session.facts.update(session=inference.get_providers(), ran=ran)
    session.check_equal("product", bool(numpy.allclose(got, left @ right, *session.tolerances["float32-gemm"])), True)
    if not [name for name in ran if name != CPU]:
        session.fall_back(f"{' and '.join(ran) or 'no provider'} ran the model")


def model() -> bytes:
    """An ONNX file for c = a b, encoded by hand so that no further package is needed."""
    node = _text(1, "a") + _text(1, "b") + _text(2, "c") + _text(4, "MatMul")
    graph = _part(1, node) + _text(2, "product")
    graph += _part(11, _value("a", 3, 4)) + _part(11, _value("b", 4, 2)) + _part(12, _value("c", 3, 2))
    return _number(1, 8) + _part(7, graph) + _part(8, _text(1, "") + _number(2, 13))


def _value(name: str, *shape: int) -> bytes:
    size = b"".join(_part(1, _number(1, length)) for length in shape)
    return _text(1, name) + _part(2, _part(1, _number(1, 1) + _part(2, size)))


def _number(field: int, value: int) -> bytes:
    return struct.pack("BB", field << 3, value)


def _part(field: int, data: bytes) -> bytes:
    assert len(data) < 128 * 128
    size = [len(data)] if len(data) < 128 else [len(data) % 128 | 128, len(data) // 128]
    return struct.pack("B", field << 3 | 2) + bytes(size) + data


def _text(field: int, text: str) -> bytes:
    return _part(field, text.encode())
