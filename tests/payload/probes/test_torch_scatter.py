from __future__ import annotations

from pathlib import Path

import pytest

PLAIN = (Path(__file__).parents[1] / "fakes" / "torch_scatter" / "__init__.py").read_text()


def test_plain_torch_behind_the_name_is_a_fallback_although_all_is_right(package, run_probe, checks_by_result):
    """A silent fallback: the import works and every result is right."""
    package("torch_scatter", __init__=PLAIN)

    imported, used = run_probe("", "torch_scatter"), run_probe("torch_scatter", "torch_scatter")

    assert imported["outcome"] == "imported"
    assert (used["outcome"], used["reason"]) == ("fallback", "none of its compiled libraries is loaded")
    assert checks_by_result(used) == ({"scatter_sum", "scatter_max", "segment_csr"}, set())


def test_a_build_for_the_cpu_alone_raises_on_the_device(package, run_probe):
    raising = "\ndef segment_csr(src, indptr, reduce):\n    raise RuntimeError('Not compiled with CUDA support')\n"
    package("torch_scatter", library=True, __init__=PLAIN + raising)

    answer = run_probe("torch_scatter", "torch_scatter")

    assert (answer["outcome"], answer["reason"]) == ("broken", "RuntimeError: Not compiled with CUDA support")
    assert [check["name"] for check in answer["checks"]] == ["scatter_sum", "scatter_max"]


@pytest.mark.parametrize(
    ("good", "bad"), [('"amax"', '"mean"'), (".sum(0)", ".mean(0)"), (".index_add(0, index, src)", "")]
)
def test_a_wrong_result_is_broken(package, run_probe, good, bad):
    package("torch_scatter", library=True, __init__=PLAIN.replace(good, bad))

    assert run_probe("torch_scatter", "torch_scatter")["outcome"] == "broken"


def test_a_library_and_right_results(package, run_probe, site):
    package("torch_scatter", library=True, __init__=PLAIN)

    answer = run_probe("torch_scatter", "torch_scatter")

    assert answer["outcome"] == "accelerated"
    assert answer["libraries"] == [str(site / "torch_scatter" / "_native.so")]
