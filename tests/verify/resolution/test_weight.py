from __future__ import annotations

from rocm3d.verify.resolution.answer import Resolved
from rocm3d.verify.resolution.weight import weigh
from rocm3d.workspace.web import WebClient


def test_what_nobody_says_is_counted_as_unknown(knowledge):
    weight = weigh((Resolved("a", "1", "http://127.0.0.1:9/a.whl"), Resolved("b", "1")), knowledge, WebClient())

    assert str(weight) == "2 packages, 0.0 MB, none of CUDA, 2 of unknown size"


def test_sizes_of_the_index_and_of_the_server_are_added(knowledge, index):
    place = index.wheel("nvidia-nccl-cu12", "2.0")
    url = f"{index.url.removesuffix('/simple')}/files/{place.name}"

    weight = weigh(
        (Resolved("torch", "2", size=900_000_000), Resolved("nvidia-nccl-cu12", "2.0", url)), knowledge, WebClient()
    )

    assert weight.bytes == 900_000_000 + place.stat().st_size
    assert weight.foreign == ("nvidia-nccl-cu12",)
    assert str(weight) == "2 packages, 0.90 GB, 1 of CUDA (0.0 MB)"
