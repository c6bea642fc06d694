from __future__ import annotations

import pytest

RULE = "direct_wheel_url"
FLASH = "https://host/v2/flash_attn-2.7.4+cu12torch2.5cxx11abiFALSE-cp310-cp310-linux_x86_64.whl"
XFORMERS = "https://files.pythonhosted.org/a/xformers-0.0.22-cp310-cp310-manylinux2014_x86_64.whl"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "torch==2.1.0+cu121\n",
        "https://host/tqdm-4-py3-none-any.whl\n",
        "https://host/open3d-0.18-cp310-cp310-manylinux_2_27_x86_64.whl\n",
        "https://repo.radeon.com/rocm/torch-2.4.0+rocm6.4-cp310-cp310-linux_x86_64.whl\n",
        f"# {FLASH}\n",
        f"numpy  # {FLASH}\n",
        f"--find-links {FLASH}\n",
        "git+https://host/o/flash-attention.git\n",
        "https://download.pytorch.org/whl/cpu/flash_attn-2%2Bcpu-cp311-cp311-linux_x86_64.whl\n",
        "https://host/flash_attn-2.7.4.tar.gz\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", f"numpy\n{FLASH}\n", [(2, 1)]),
        ("requirements.txt", f"  flash-attn @ {FLASH}\n", [(1, 3)]),
        ("requirements.txt", "x @ https://host/x-1%2Bcu118-cp310-cp310-linux_x86_64.whl#sha256=0\n", [(1, 1)]),
        ("a.sh", f"pip install {XFORMERS} ;\n", [(1, 13)]),
        ("pyproject.toml", f'[project]\ndependencies = ["flash-attn @ {FLASH}"]\n', [(2, 18)]),
        ("environment.yml", f"dependencies:\n - pip:\n   - {FLASH}\n", [(3, 6)]),
    ],
)
def test_positions(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_message_says_what_the_wheel_fixes(findings):
    (finding,) = findings(RULE, "requirements.txt", f"{FLASH}\n")

    assert (finding.code, finding.severity, finding.package) == ("DEP104", "error", "flash-attn")
    assert finding.message == f"{FLASH} is a prebuilt wheel: a wheel for one CUDA version"


def test_readme_gets_a_note(findings):
    (finding,) = findings(RULE, "README.md", f"```\npip install {FLASH}\n```\n")
    assert finding.severity == "note"
