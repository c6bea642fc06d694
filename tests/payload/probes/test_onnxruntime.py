from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

PROBE = Path(__file__).resolve().parents[3] / "src" / "rocm3d" / "payload" / "probes" / "onnxruntime.py"

# A fake numpy: the test interpreter has none.
NUMPY = """
import torch
float32 = torch.float32
def arange(n, dtype):
    return torch.arange(float(n))
def allclose(a, b, rtol, atol):
    return torch.allclose(a, b, rtol, atol)
"""
RUNTIME = """
import json
class SessionOptions:
    pass
def get_available_providers():
    return {available}
class InferenceSession:
    def __init__(self, model, options, providers):
        assert b"MatMul" in model
        self.providers, self.prefix = providers, options.profile_file_prefix
    def run(self, names, inputs):
        return [inputs["a"] @ inputs["b"]{spoil}]
    def get_providers(self):
        return self.providers
    def end_profiling(self):
        path = self.prefix + ".json"
        with open(path, "w") as file:
            json.dump([{{"args": {{"provider": "{ran}"}}}}, {{"args": {{}}}}, {{}}], file)
        return path
"""
ROCM = ["MIGraphXExecutionProvider", "CPUExecutionProvider"]


@pytest.fixture
def runtime(package):
    def make(available, ran, spoil="") -> None:
        package("numpy", __init__=NUMPY)
        package("onnxruntime", __init__=RUNTIME.format(available=available, ran=ran, spoil=spoil))

    return make


@pytest.mark.parametrize("available", [ROCM, ["CPUExecutionProvider"]])
def test_the_cpu_that_ran_is_a_fallback_whatever_is_on_the_list(runtime, run_probe, available):
    runtime(available, "CPUExecutionProvider")

    answer = run_probe("onnxruntime", "onnxruntime")

    assert (answer["outcome"], answer["reason"]) == ("fallback", "CPUExecutionProvider ran the model")


def test_a_wrong_product_is_broken(runtime, run_probe):
    runtime(ROCM, "MIGraphXExecutionProvider", " + 1")

    assert run_probe("onnxruntime", "onnxruntime")["outcome"] == "broken"


def test_the_provider_that_ran(runtime, run_probe):
    runtime(ROCM, "MIGraphXExecutionProvider")

    answer = run_probe("onnxruntime", "onnxruntime")

    assert (answer["outcome"], answer["evidence"]) == ("accelerated", "provider")
    assert answer["facts"]["ran"] == ["MIGraphXExecutionProvider"]


def test_the_model_is_the_onnx_file_it_was_written_to_be():
    """Key bytes of the file that onnxruntime 1.31 loaded and ran."""
    spec = importlib.util.spec_from_file_location("onnx_probe", PROBE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.model()

    assert model.startswith(b"\x08\x08:")  # IR version 8, then the graph
    assert model.endswith(b"B\x04\n\x00\x10\x0d")  # the default operators, version 13
    assert model[3] == len(model) - 4 - 6
