"""The resolver proof with a real index, on the examples: originals install CUDA, ports do not change the stack.

Not run if no index responds. Asserts the absence of names, never versions, because the index changes.
"""

from __future__ import annotations

import pytest

from rocm3d.pipeline import Network, Repository, resolve_gpu

pytestmark = pytest.mark.engines
INSTALLS_CUDA = ("cpu-only-gate", "mesh-bake", "pins-only", "point-backbone", "splat-trainer", "video-attention")


@pytest.fixture(autouse=True)
def _one_cache(tmp_path_factory, monkeypatch):
    """All examples and workers share one cache of index responses."""
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path_factory.getbasetemp().parent / "resolver-cache"))


@pytest.fixture
def proven(example, knowledge, index_answers):
    def run(name: str):
        repository = Repository(example(name), knowledge)
        repository.apply(repository.plan(resolve_gpu("mi300x", knowledge)))
        verdicts = repository.verify(("resolve",), (), Network(disabled_reason="")).verdicts
        return {item.probe: [v for v in verdicts if v.probe == item.probe] for item in verdicts}

    return run


@pytest.mark.parametrize("name", INSTALLS_CUDA)
def test_original_installs_cuda_and_port_does_not(proven, name):
    by_probe = proven(name)

    (original,) = by_probe["resolve_original"]
    assert any(line.startswith("CUDA packages: ") for line in original.looked_at)
    assert [] == [v.reason for verdicts in by_probe.values() for v in verdicts if v.outcome == "failed"]
    lines = [v.looked_at[0] for v in by_probe["resolve_port"] if v.outcome == "passed"]
    assert all(", none of CUDA" in line for line in lines)


def test_requirements_without_cuda_pass(proven):
    by_probe = proven("already-portable")

    assert ", none of CUDA by " in by_probe["resolve_original"][0].looked_at[0]
    assert [v.outcome for v in by_probe["resolve_port"]] == ["passed"]
