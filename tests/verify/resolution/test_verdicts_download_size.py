from __future__ import annotations

from rocm3d.verify.resolution.resolver import ResolvedPackage
from rocm3d.verify.resolution.verdicts import measure_download
from rocm3d.workspace.web import WebClient


def test_unknown_sizes_are_counted(knowledge):
    weight = measure_download(
        (ResolvedPackage("a", "1", "http://127.0.0.1:9/a.whl"), ResolvedPackage("b", "1")), knowledge, WebClient()
    )

    assert str(weight) == "2 packages, 0.0 MB, none of CUDA, 2 of unknown size"


def test_sizes_of_the_index_and_of_the_server_are_added(knowledge, index):
    wheel = index.wheel("nvidia-nccl-cu12", "2.0")
    url = f"{index.url.removesuffix('/simple')}/files/{wheel.name}"

    weight = measure_download(
        (ResolvedPackage("torch", "2", size=900_000_000), ResolvedPackage("nvidia-nccl-cu12", "2.0", url)),
        knowledge,
        WebClient(),
    )

    assert weight.bytes == 900_000_000 + wheel.stat().st_size
    assert weight.cuda_packages == ("nvidia-nccl-cu12",)
    assert str(weight) == "2 packages, 0.90 GB, 1 of CUDA (0.0 MB)"
