from __future__ import annotations

import pytest

RULE = "cuda_index"
INDEX = "https://download.pytorch.org/whl/cu121"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "--extra-index-url https://download.pytorch.org/whl/cpu\n",
        "--extra-index-url https://download.pytorch.org/whl/rocm6.4\n",
        "--index-url https://pypi.org/simple\n",
        "--find-links=https://download.pytorch.org/whl/torch_stable.html\n",
        "--index-url https://example.org/cucumber\n",
        f"# --extra-index-url {INDEX}\n",
        f"numpy  # from {INDEX}\n",
        "-r requirements/cu121.txt\n",
        f"torch @ {INDEX}/torch-2.1.0.whl\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize("path", ["notes.txt", "setup.py", "README.md"])
def test_other_files_are_not_searched(positions, path):
    assert positions(RULE, path, f"--extra-index-url {INDEX}\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"--extra-index-url {INDEX}\n", [(1, 1)]),
        (f"--index-url={INDEX}\n", [(1, 1)]),
        (f"-i {INDEX}\n", [(1, 1)]),
        ("numpy\n-f https://data.pyg.org/whl/torch-2.1.0+cu121.html\n", [(2, 1)]),
        ("-f https://data.pyg.org/whl/torch-2.1.0%2Bcu121.html\n", [(1, 1)]),
        ("--extra-index-url https://pypi.nvidia.com\n", [(1, 1)]),
        (f"  --extra-index-url {INDEX}\n", [(1, 3)]),
        (f"\t--extra-index-url {INDEX}\n", [(1, 2)]),
        (f"numpy\r\n--extra-index-url {INDEX}\r\n", [(2, 1)]),
        (f"# größe 日本\n--extra-index-url {INDEX}\n", [(2, 1)]),
        (f"--extra-index-url \\\n  {INDEX}\nnumpy\n", [(1, 1)]),
    ],
)
def test_positions(positions, text, expected):
    assert positions(RULE, "requirements.txt", text) == expected


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.sh", f"pip install torch --index-url {INDEX}\n", [(1, 19)]),
        ("a.sh", f"U={INDEX}\npip install torch -i $U\n", [(2, 19)]),
        ("pyproject.toml", f'[tool.uv]\nfind-links = ["{INDEX}"]\n', [(2, 1)]),
        ("pyproject.toml", f'[[tool.uv.index]]\nname = "x"\nurl = "{INDEX}"\n', [(3, 1)]),
        ("environment.yml", f"dependencies:\n - pip:\n   - --extra-index-url {INDEX}\n", [(3, 6)]),
        ("environment.yml", "channels:\n - nvidia\n", []),
    ],
)
def test_positions_in_other_manifests(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_workflow_gets_a_note(findings):
    (finding,) = findings(RULE, ".github/workflows/a.yml", f"run: pip install torch -i {INDEX}\n")
    assert (finding.severity, finding.line) == ("note", 1)


def test_invalid_utf8_before_the_match(positions):
    assert positions(RULE, "constraints.txt", f"# \udcff\n-i {INDEX}\n".encode("utf-8", "surrogateescape")) == [(2, 1)]


def test_message_names_the_address(findings):
    (finding,) = findings(RULE, "requirements.txt", f"--extra-index-url {INDEX}\n")

    assert (finding.code, finding.message) == ("DEP102", f"packages are installed from a CUDA index: {INDEX}")
