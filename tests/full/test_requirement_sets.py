"""The resolver proof for requirements of real repositories: originals install CUDA, ports do not. `make test-full`.

Asserts the absence of names, never versions, because the index changes.
"""

from __future__ import annotations

import pytest
import resolver as benchmark

pytestmark = pytest.mark.full
SETS = benchmark.load_sets()


@pytest.fixture(autouse=True)
def _one_cache(tmp_path_factory, monkeypatch):
    """All sets share one cache of index responses."""
    monkeypatch.setenv("ROCM3D_CACHE", str(tmp_path_factory.getbasetemp() / "resolver-cache"))


@pytest.mark.parametrize("requirement_set", SETS, ids=lambda item: item.id)
def test_original_installs_cuda_and_port_does_not(requirement_set, tmp_path, knowledge, index_answers):
    stack, verdicts = benchmark.resolve_port(benchmark.write_repository(requirement_set, tmp_path), knowledge, "mi300x")

    by_probe = {item.probe: [v for v in verdicts.verdicts if v.probe == item.probe] for item in verdicts.verdicts}
    (original,) = by_probe["resolve_original"]
    assert any(line.startswith("it would install torch ") for line in original.looked_at)
    assert any(line.startswith("CUDA packages: ") for line in original.looked_at)
    assert [] == [
        v.reason for name in ("resolve_port", "resolve_routes") for v in by_probe[name] if v.outcome == "failed"
    ]
    assert "passed" in {v.outcome for v in by_probe["resolve_port"]}
    assert all(cuda == "none" for _, _, cuda, _ in benchmark.counts(verdicts, "resolve_port"))
    failed = [v.reason.split(":")[0] for v in by_probe["resolve_builds"] if v.outcome == "failed"]
    assert failed == list(requirement_set.fails), stack


def test_at_least_eight_sets_with_sources():
    assert len(SETS) >= 8
    assert all("@" in item.source and item.lines for item in SETS)
