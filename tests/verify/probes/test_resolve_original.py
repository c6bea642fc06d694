"""What the original would install: reported, never a failure."""

from __future__ import annotations

from rocm3d.verify.probes.resolve_original import probe


def cuda_torch(index, version="2.1.0"):
    index.wheel("torch", version, "nvidia-cublas-cu12", "triton")
    index.wheel("nvidia-cublas-cu12", "12.1")
    index.wheel("triton", "2.1.0")


def test_nothing_to_install_is_skipped(index, ported):
    (verdict,) = probe.attempt(ported({"a.py": ""}))

    assert verdict.outcome == "skipped"


def test_cuda_packages_are_listed_with_the_download_size(index, ported):
    cuda_torch(index)

    (verdict,) = probe.attempt(ported({"requirements.txt": "torch==2.1.0\n"}))

    assert verdict.outcome == "passed"
    assert verdict.looked_at[0].startswith("requirements.txt: 3 packages, 0.0 MB, 1 of CUDA (0.0 MB) by uv")
    assert "it would install torch 2.1.0, triton 2.1.0" in verdict.looked_at
    assert "CUDA packages: nvidia-cublas-cu12" in verdict.looked_at


def test_a_local_version_of_an_unreachable_index_is_resolved_without_its_suffix(index, ported):
    cuda_torch(index)
    text = "--extra-index-url http://127.0.0.1:9/whl/cu121\ntorch==2.1.0+cu121\n"

    (verdict,) = probe.attempt(ported({"requirements.txt": text}))

    assert "it would install torch 2.1.0, triton 2.1.0" in verdict.looked_at
    assert "torch==2.1.0+cu121 resolved as torch==2.1.0" in verdict.looked_at
    assert any(line.startswith("index http://127.0.0.1:9/whl/cu121 not used: ") for line in verdict.looked_at)


def test_older_pythons_are_tried(index, ported):
    index.wheel("torch", "2.1.0", tag="cp310-cp310-manylinux_2_28_x86_64")

    (verdict,) = probe.attempt(ported({"requirements.txt": "torch==2.1.0\n"}))

    assert verdict.looked_at[0].endswith("Python 3.10")


def test_a_conflict_of_the_original_is_reported_and_does_not_fail(index, ported):
    (verdict,) = probe.attempt(ported({"requirements.txt": "not-there\n"}))

    assert verdict.outcome == "passed"
    assert verdict.looked_at[0].startswith("requirements.txt: does not resolve: ")


def test_the_ports_folder_is_ignored(index, ported):
    index.wheel("fine", "1.0")

    (verdict,) = probe.attempt(ported({"rocm-port/requirements.txt": "fine\n"}))

    assert verdict.outcome == "skipped"


def test_scripts_count_too(index, ported):
    cuda_torch(index)

    (verdict,) = probe.attempt(ported({"setup.sh": "pip install torch==2.1.0\n"}))

    assert verdict.looked_at[0].startswith("setup.sh: 3 packages")
