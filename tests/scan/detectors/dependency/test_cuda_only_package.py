from __future__ import annotations

import pytest

RULE = "cuda_only_package"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "numpy\n",
        "flash-attn-like\n",
        "flash\n",
        "# flash-attn\n",
        "numpy  # for flash-attn\n",
        "-r flash-attn.txt\n",
        "--find-links https://example.org/flash-attn\n",
        "nvidia-cudnn-cu12\n",
    ],
)
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "a.cu"])
def test_is_not_looked_for_in_other_files(places, path):
    assert places(RULE, path, "flash-attn\n") == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("flash-attn>=2.5\n", [(1, 1)]),
        ("Flash_Attn==2.5 ; python_version > '3.8'\n", [(1, 1)]),
        ("numpy\n\n  rembg[gpu]\n", [(3, 3)]),
        ("\tgsplat\n", [(1, 2)]),
        ("numpy\r\ngsplat\r\n", [(2, 1)]),
        ("# größe 日本\ngsplat\n", [(2, 1)]),
        ("git+https://github.com/NVlabs/nvdiffrast/\n", [(1, 1)]),
        ("git+https://github.com/NVlabs/nvdiffrast.git@v0.3.1\n", [(1, 1)]),
        ("nvdiffrast @ git+https://github.com/NVlabs/nvdiffrast.git\n", [(1, 1)]),
        ("nvidia_cublas_cu11==11.11.3.6\n", [(1, 1)]),
        ("gsplat\ngsplat\n", [(1, 1), (2, 1)]),
    ],
)
def test_place(places, text, where):
    assert places(RULE, "requirements.txt", text) == where


def test_odd_bytes_before_the_hit_are_survived(places):
    assert places(RULE, "requirements.txt", b"# \xff\xfe\ngsplat\n") == [(2, 1)]


def test_message_and_hint_name_the_distribution(findings):
    (found,) = findings(RULE, "requirements.txt", "flash_attn\n")

    assert found.code == "DEP201"
    assert found.message == "flash_attn installs a CUDA build by default (what flash-attn is for)"
    assert "`rocm3d explain flash_attn`" in found.hint
    assert (found.package, found.family) == ("flash-attn", "cleanup")
