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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize(
    ("path", "text", "where"),
    [
        ("requirements.txt", f"numpy\n{FLASH}\n", [(2, 1)]),
        ("requirements.txt", f"  flash-attn @ {FLASH}\n", [(1, 3)]),
        ("requirements.txt", "x @ https://host/x-1%2Bcu118-cp310-cp310-linux_x86_64.whl#sha256=0\n", [(1, 1)]),
        ("a.sh", f"pip install {XFORMERS} ;\n", [(1, 13)]),
        ("pyproject.toml", f'[project]\ndependencies = ["flash-attn @ {FLASH}"]\n', [(2, 18)]),
        ("environment.yml", f"dependencies:\n - pip:\n   - {FLASH}\n", [(3, 6)]),
    ],
)
def test_place(places, path, text, where):
    assert places(RULE, path, text) == where


def test_message_says_what_the_wheel_fixes(findings):
    (found,) = findings(RULE, "requirements.txt", f"{FLASH}\n")

    assert (found.code, found.severity, found.package) == ("DEP104", "error", "flash-attn")
    assert found.message == f"{FLASH} is a prebuilt wheel: a wheel for one CUDA version"


def test_a_page_is_worth_a_note(findings):
    (found,) = findings(RULE, "README.md", f"```\npip install {FLASH}\n```\n")
    assert found.severity == "note"
