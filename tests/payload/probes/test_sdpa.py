from __future__ import annotations


def test_each_kind_is_tried_alone_and_the_default_last(run_probe, checks_by_result):
    answer = run_probe("sdpa", "torch")
    kinds = answer["facts"]["kinds"]

    assert set(kinds) == {"flash_attention", "efficient_attention", "cudnn_attention", "math"}
    assert kinds["math"]["works"] is True
    assert kinds["cudnn_attention"]["works"] is False
    assert kinds["cudnn_attention"]["reason"]
    good, bad = checks_by_result(answer)
    assert {"math", "default"} <= good
    assert not bad
    assert answer["evidence"] == "kernels"
