from __future__ import annotations

import pytest

RULE = "index_confusion"
ROCM = "https://download.pytorch.org/whl/rocm6.4"


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"--index-url {ROCM}\ntorch\n",
        f"--extra-index-url {ROCM}\nnumpy\n",
        f"--extra-index-url {ROCM}\ntorchmetrics\n",
        f"# --extra-index-url {ROCM}\ntorch\n",
        "--extra-index-url https://download.pytorch.org/whl/cu121\ntorch\n",  # cuda_index
        "-r other.txt\ntorch\n",
        "--extra-index-url https://mirrors.aliyun.com/pypi/simple\ntorch\n",
        "--extra-index-url https://pypi.org/simple\ntorch\n",
        f"torch  # --extra-index-url {ROCM}\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


def test_no_finding_if_another_command_adds_the_index(positions):
    text = f"pip install torch\npip install numpy --extra-index-url {ROCM}\n"
    assert positions(RULE, "a.sh", text) == []


def test_no_finding_if_the_index_replaces_the_default(positions):
    assert positions(RULE, "a.sh", f"pip install torch --index-url {ROCM}\n") == []
    assert (
        positions(RULE, "pyproject.toml", f'[project]\ndependencies=["torch"]\n[tool.uv]\nindex-url = "{ROCM}"\n') == []
    )


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", f"torch\n  --extra-index-url {ROCM}\n", [(2, 3)]),
        ("requirements.txt", f"--extra-index-url={ROCM}\ngsplat\n", [(1, 1)]),
        ("a.sh", "pip install gsplat --extra-index-url https://pypi.amd.com/rocm-6.4.3/simple\n", [(1, 20)]),
        ("requirements.txt", "--find-links https://host/whl/torch_stable.html\ntorch\n", [(1, 1)]),
        ("a.sh", f"pip install torch \\\n  --extra-index-url {ROCM}\n", [(2, 3)]),
        (
            "pyproject.toml",
            f'[project]\ndependencies=["torch"]\n[tool.uv]\nextra-index-url = [\n  "{ROCM}",\n]\n',
            [(4, 1)],
        ),
    ],
)
def test_positions(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_message_names_packages_and_index(findings):
    names = "gsplat\nxformers\ntorch\nflash-attn\nnumpy\n"
    (finding,) = findings(RULE, "requirements.txt", f"--extra-index-url {ROCM}\n{names}")

    assert finding.code == "DEP103"
    assert finding.message == (
        f"gsplat, xformers, torch and 1 more may come from two indexes: {ROCM} is added to the default one"
    )
