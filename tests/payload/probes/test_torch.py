from __future__ import annotations


def test_without_a_gpu_it_is_not_run(run_probe):
    assert run_probe("torch", "torch", device="cuda")["outcome"] == "not_run"


def test_products_are_compared_and_the_build_is_named(run_probe, checks_by_result):
    answer = run_probe("torch", "torch")

    assert checks_by_result(answer) == ({"float32 product", "float16 product"}, set())
    assert (answer["outcome"], answer["evidence"]) == ("accelerated", "device")
    assert (answer["facts"]["hip"], answer["facts"]["cuda"]) == (None, None)
    assert answer["facts"]["version"].startswith("2.")
