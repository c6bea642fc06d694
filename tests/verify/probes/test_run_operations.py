from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rocm3d.verify.backends.environment import Environment
from rocm3d.verify.probes.run_operations import probe

MODULE = {"name": "torch", "file": "/env/torch/__init__.py", "origin": "environment"}


@pytest.fixture
def verdict_on_torch(ported, tmp_path):
    def run(**facts):
        answer = {"probe": "torch", "outcome": "accelerated", "evidence": "device", "modules": [MODULE], "facts": facts}
        python = tmp_path / "python"
        python.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
        python.chmod(0o755)
        (verdict,) = probe.attempt(replace(ported(), environment=Environment.of(python)))
        return verdict

    return run


def test_not_run_without_an_interpreter(ported):
    (verdict,) = probe.attempt(ported())

    assert (verdict.level, verdict.probe, verdict.outcome) == ("backend", "run_operations", "not_run")


def test_a_cuda_build_of_torch_fails(verdict_on_torch):
    verdict = verdict_on_torch(version="2.9.1+cu128", hip=None, cuda="12.8")

    assert (verdict.outcome, verdict.reason) == ("failed", "torch: 2.9.1+cu128 is not a ROCm build")


def test_a_rocm_build_of_torch_passes_and_names_the_gpu(verdict_on_torch):
    verdict = verdict_on_torch(version="2.9.1+rocm6.4", hip="6.4.43482", device="AMD Instinct MI300X")

    assert verdict.outcome == "passed"
    assert "device AMD Instinct MI300X" in verdict.looked_at
