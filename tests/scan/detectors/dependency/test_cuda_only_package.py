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
        "rembg\n",
        "rembg[gpu]\n",  # gpu_extra
        "torch\ntorchvision\ntriton\n",  # torch_unpinned_pull
        "torchmetrics\ntorchdiffeq\ntritonclient\n",
        "--index-url https://download.pytorch.org/whl/rocm6.4\nxformers\n",
        "gsplat @ git+https://github.com/ROCm/gsplat.git\n",
        "https://host/xformers-1-cp310-cp310-linux_x86_64.whl\n",  # direct_wheel_url
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


def test_message_and_hint_name_the_distribution(findings):
    (finding,) = findings(RULE, "requirements.txt", "flash_attn\n")

    assert finding.code == "DEP201"
    assert finding.message == "flash_attn installs a CUDA build by default (what flash-attn is for)"
    assert "`rocm3d explain flash_attn`" in finding.hint
    assert (finding.package, finding.family) == ("flash-attn", "cleanup")
