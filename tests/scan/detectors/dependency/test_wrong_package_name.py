from __future__ import annotations

import pytest

RULE = "wrong_package_name"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "amd-aiter\n",
        "torch\n",
        "kaolin-like\n",
        "# kaolin\n",
        "numpy  # aiter\n",
        "simple-knn @ git+https://host/o/simple-knn.git\n",
        "git+https://host/o/kaolin.git\n",
        "./submodules/simple-knn\n",
        "-f https://nvidia-kaolin.s3.amazonaws.com/torch-2.0.1_cu118.html\nkaolin\n",
    ],
)
def test_no_finding_in_unaffected_code(positions, text):
    assert positions(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("environment.yml", "dependencies:\n - pytorch=2.1\n"),
        ("a.sh", "pip install kaolin -f https://host/a.html\nconda install pytorch\npip install ./simple-knn\n"),
        ("setup.py", "setup(name='simple_knn')\n"),
    ],
)
def test_no_finding_elsewhere(positions, path, text):
    assert positions(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("requirements.txt", "numpy\n Simple_KNN\r\n", [(2, 2)]),
        ("a.sh", "pip install aiter\npip install x -f https://host/a\n", [(1, 13)]),
        ("pyproject.toml", '[project]\ndependencies = ["cumesh"]\n', [(2, 18)]),
    ],
)
def test_positions(positions, path, text, expected):
    assert positions(RULE, path, text) == expected


def test_message_says_what_the_name_leads_to(findings):
    (finding,) = findings(RULE, "requirements.txt", "kaolin==0.1\n")

    assert (finding.code, finding.severity) == ("DEP204", "error")
    assert finding.message.startswith("kaolin is not the intended package: on PyPI a placeholder")
