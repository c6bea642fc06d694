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
def test_is_not_found_where_nothing_is_to_be_done(places, text):
    assert places(RULE, "requirements.txt", text) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("environment.yml", "dependencies:\n - pytorch=2.1\n"),
        ("a.sh", "pip install kaolin -f https://host/a.html\nconda install pytorch\npip install ./simple-knn\n"),
        ("setup.py", "setup(name='simple_knn')\n"),
    ],
)
def test_is_not_found_elsewhere(places, path, text):
    assert places(RULE, path, text) == []


@pytest.mark.parametrize(
    ("path", "text", "where"),
    [
        ("requirements.txt", "numpy\n Simple_KNN\r\n", [(2, 2)]),
        ("a.sh", "pip install aiter\npip install x -f https://host/a\n", [(1, 13)]),
        ("pyproject.toml", '[project]\ndependencies = ["cumesh"]\n', [(2, 18)]),
    ],
)
def test_place(places, path, text, where):
    assert places(RULE, path, text) == where


def test_message_says_what_the_name_leads_to(findings):
    (found,) = findings(RULE, "requirements.txt", "kaolin==0.1\n")

    assert (found.code, found.severity) == ("DEP204", "error")
    assert found.message.startswith("kaolin is not the intended package: on PyPI a placeholder")
