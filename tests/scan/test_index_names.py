from __future__ import annotations

import pytest

from rocm3d.manifest.manifest import read_manifests
from rocm3d.scan.index_names import file_indexes, other_indexes

URL = "https://packages.example.com/simple"


def names_at_risk(knowledge, files: dict[str, str]) -> set[str]:
    results = [
        file_indexes(path, list(read_manifests(path, lambda _, text=text: text.encode())), knowledge)
        for path, text in files.items()
    ]
    return {name for index in other_indexes(results, knowledge) for name in index.names}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements-dev.txt", f"-i {URL}\n-r requirements.txt\nours-two\n"),
        ("environment.yml", f"dependencies:\n  - pip:\n    - -i {URL}\n    - -r requirements.txt\n    - ours-two\n"),
        ("README.md", f"```sh\npip install -r requirements.txt --extra-index-url {URL} ours-two\n```\n"),
        ("Makefile", f"install:\n\tpip install -r requirements.txt --extra-index-url {URL} ours-two\n"),
        ("setup.sh", f"pip install -i {URL} -r requirements.txt ours-two\n"),
    ],
)
def test_an_index_serves_the_names_of_included_files(knowledge, path, text):
    files = {path: text, "requirements.txt": "torch\nours-one\n", "other.txt": "not-of-it\n"}
    assert names_at_risk(knowledge, files) == {"ours-one", "ours-two"}


def test_an_index_of_the_settings_of_pip_serves_every_file(knowledge):
    files = {"setup.sh": f"pip config set global.extra-index-url {URL}\n", "requirements.txt": "torch\nours-one\n"}
    assert names_at_risk(knowledge, files) == {"ours-one"}
