"""A private name that PyPI has too: it comes from its own index, or not at all. Both indexes are on this machine."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocm3d.apply.addition import additions
from rocm3d.knowledge.load import load
from rocm3d.model.plan import Plan
from rocm3d.plan.stage import plan
from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.machine_name import today
from rocm3d.workspace.tree import Tree

KNOWLEDGE = load()
NAME = "example-private"
URL = "https://packages.example.com/simple"
SECRET = "https://user:f00dfeed@packages.example.com/simple"


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a log on stderr."""

    def log_message(self, *_: object) -> None:
        """No output."""


@contextmanager
def served(folder: Path, *wheels: Path) -> Iterator[str]:
    """A simple index with these wheels, on a free port of this machine."""
    for path in wheels:
        page = folder / "simple" / path.name.split("-")[0].replace("_", "-") / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        (page.parent / path.name).write_bytes(path.read_bytes())
        page.write_text((page.read_text() if page.exists() else "") + f'<a href="{path.name}">{path.name}</a>')
    (folder / "simple").mkdir(parents=True, exist_ok=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/simple/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def planned(root: Path, stack: dict[str, object] | None = None) -> Plan:
    document = scan(Tree.open(root), KNOWLEDGE, Selection(), lambda _: None)
    port_plan = plan(document, KNOWLEDGE.gpu("mi300x"), KNOWLEDGE, today())
    return port_plan if stack is None else Plan.model_validate({**port_plan.model_dump(), "base": stack})


def rendered(root: Path) -> dict[str, str]:
    port_plan, tree = planned(root), Tree.open(root)
    return {
        path: data.decode("utf-8", "replace")
        for render in additions().values()
        for path, data in render(port_plan, tree, "rocm-port").items()
    }


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def lines_with_another_source(files: dict[str, str], name: str) -> list[str]:
    """Lines of the port that let pip look for the name in another place than its index."""
    wrong = [
        f"{path}: {line}"
        for path, text in files.items()
        if path.endswith((".txt", ".in")) and path not in ("constraints.txt", "overrides.txt")
        for line in text.splitlines()
        if re.match(rf"{re.escape(name)}\b", line.strip(), re.IGNORECASE)
    ]
    for line in files["install.sh"].splitlines():
        words = shlex.split(line, comments=True) if line.startswith(("pip_install", "tools")) else []
        is_private = "--no-deps" in words and ({"--index-url", "--no-index"} & set(words))
        if any(re.match(rf"{re.escape(name)}\b", word) for word in words) and not is_private:
            wrong.append(line)
    return wrong


SHAPES: dict[str, dict[str, str]] = {
    "extra index": {"requirements.txt": f"--extra-index-url {URL}\nnumpy\n{NAME}>=1\n"},
    "index": {"requirements.txt": f"numpy\n-i {URL}\n{NAME}\n"},
    "long option": {"requirements.txt": f"--index-url={URL}\n{NAME}\n"},
    "links": {"requirements.txt": f"-f https://files.example.com/wheels/\n{NAME}\n"},
    "folder of links": {"requirements.txt": f"--find-links ./wheels\n{NAME}\n"},
    "option in the included file": {"requirements.txt": f"-r base.txt\n{NAME}\n", "base.txt": f"-i {URL}\nnumpy\n"},
    "name in the included file": {
        "requirements.txt": f"--extra-index-url {URL}\n-r requirements/base.txt\n",
        "requirements/base.txt": f"{NAME}\n",
    },
    "name in a file that only pip finds": {
        "requirements.txt": f"--extra-index-url {URL}\n-r deps/list.names\n",
        "deps/list.names": f"{NAME}\n",
    },
    "sibling": {"requirements.txt": "-r a.txt\n-r b.txt\n", "a.txt": f"-i {URL}\nnumpy\n", "b.txt": f"{NAME}\n"},
    "script": {"install.sh": f"pip install -i {URL} {NAME}\n"},
    "script of uv": {"install.sh": f"uv pip install --index ours={URL} {NAME}\n", "requirements.txt": NAME},
    "script with a file": {
        "install.sh": f"pip install --extra-index-url {URL} -r requirements.txt\n",
        "requirements.txt": NAME,
    },
    "script with a folder": {
        "install.sh": f"pip install --extra-index-url {URL} -e .\n",
        "setup.py": f"from setuptools import setup\nsetup(install_requires=['{NAME}'])\n",
    },
    "exported": {
        "install.sh": f"export PIP_EXTRA_INDEX_URL={URL}\npip install -r requirements.txt\n",
        "requirements.txt": NAME,
    },
    "Dockerfile": {"Dockerfile": f"FROM x\nRUN pip install --extra-index-url {URL} numpy {NAME}\n"},
    "Dockerfile with a variable": {"Dockerfile": f"FROM x\nENV PIP_INDEX_URL={URL}\nRUN pip install {NAME}\n"},
    "Dockerfile with an argument": {"Dockerfile": f"FROM x\nARG PIP_EXTRA_INDEX_URL={URL}\n", "requirements.txt": NAME},
    "uv, explicit": {
        "pyproject.toml": f'[project]\nname="a"\nversion="1"\ndependencies=["{NAME}"]\n[tool.uv.sources]\n'
        f'{NAME} = {{ index = "ours" }}\n[[tool.uv.index]]\nname = "ours"\nurl = "{URL}"\nexplicit = true\n'
    },
    "uv": {
        "pyproject.toml": f'[project]\nname="a"\nversion="1"\ndependencies=["{NAME}>=1"]\n'
        f'[[tool.uv.index]]\nname = "ours"\nurl = "{URL}"\n'
    },
    "poetry": {
        "pyproject.toml": f'[tool.poetry.dependencies]\n{NAME} = {{ version = "^1.0", source = "ours" }}\n'
        f'[[tool.poetry.source]]\nname = "ours"\nurl = "{URL}"\npriority = "explicit"\n'
    },
    "poetry, every name": {
        "pyproject.toml": f'[tool.poetry.dependencies]\n{NAME} = "^1.0"\n'
        f'[[tool.poetry.source]]\nname = "ours"\nurl = "{URL}"\npriority = "supplemental"\n'
    },
    "pdm": {
        "pyproject.toml": f'[project]\nname="a"\nversion="1"\ndependencies=["{NAME}"]\n'
        f'[[tool.pdm.source]]\nname = "ours"\nurl = "{URL}"\n'
    },
    "Pipfile": {
        "Pipfile": '[[source]]\nname = "pypi"\nurl = "https://pypi.org/simple"\n[[source]]\nname = "ours"\n'
        f'url = "{URL}"\n[packages]\n{NAME} = {{version = "*", index = "ours"}}\n'
    },
    "Pipfile, first source": {"Pipfile": f'[[source]]\nname = "ours"\nurl = "{URL}"\n[packages]\n{NAME} = "*"\n'},
    "conda, pip section": {
        "environment.yml": f"dependencies:\n  - pip:\n    - --extra-index-url {URL}\n    - {NAME}\n"
    },
    "conda channel": {
        "environment.yml": f"channels:\n  - example-channel\ndependencies:\n  - {NAME}\n",
        "a.py": "import example_private",
    },
    "conda channel of the name": {
        "environment.yml": f"dependencies:\n  - example-channel::{NAME}\n",
        "a.py": "import example_private",
    },
    "pip.conf": {"pip.conf": f"[global]\nextra-index-url = {URL}\n", "requirements.txt": NAME},
    "notebook": {
        "a.ipynb": f'{{"cells": [{{"cell_type": "code", "source": ["!pip install -i {URL} {NAME}"]}}]}}',
        "requirements.txt": NAME,
    },
    "README": {"README.md": f"```sh\npip install -i {URL} {NAME}\n```\n", "requirements.txt": NAME},
    "call of a script": {"a.py": f"import os\nos.system('pip install -i {URL} {NAME}')\n", "requirements.txt": NAME},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_install_line_uses_another_source(tmp_path, shape):
    write(tmp_path, SHAPES[shape])
    files = rendered(tmp_path)
    assert lines_with_another_source(files, NAME) == []
    assert NAME in "".join(files.values()), "dropped without a word"


@pytest.mark.parametrize("shape", SHAPES)
def test_credentials_are_in_no_file_of_the_port_and_the_package_is_a_task(tmp_path, shape):
    files = {path: text.replace(URL, SECRET) for path, text in SHAPES[shape].items()}
    write(tmp_path, files)
    port_plan = rendered(tmp_path)
    assert "f00dfeed" not in "".join(port_plan.values())
    assert lines_with_another_source(port_plan, NAME) == []
    document = planned(tmp_path)
    assert "f00dfeed" not in document.to_json()
    if any("f00dfeed" in text for text in files.values()):
        assert document.left, "a package that nobody installs must count as left"
        assert not re.search(rf"^pip_install .*{NAME}", port_plan["install.sh"], re.MULTILINE)


@pytest.mark.parametrize(
    "line",
    [
        "git+https://user:f00dfeed@host/o/private.git",
        "private @ https://f00dfeed@host/private-1.0-py3-none-any.whl",
        "private @ git+https://f00dfeed@host/o/private.git@v1 ; python_version > '3'",
        "# see https://user:f00dfeed@host/",
        "private @ https://host/p.whl?access_token=f00dfeed",
    ],
)
def test_credentials_of_a_requirement_are_not_copied(tmp_path, line):
    write(tmp_path, {"requirements.txt": f"numpy\n{line}\n"})
    assert "f00dfeed" not in "".join(rendered(tmp_path).values())
    assert "f00dfeed" not in planned(tmp_path).to_json()


def test_two_indexes_for_one_name_are_a_task(tmp_path):
    write(tmp_path, {"requirements.txt": f"-i {URL}\n--extra-index-url https://other.example.com/simple\n{NAME}\n"})
    document = planned(tmp_path)
    assert next(item.task for item in document.decisions if item.name == NAME).endswith("several indexes may serve it")
    assert {item.finding.line for item in document.left} == {1, 2}
    assert f"{NAME}: from " in rendered(tmp_path)["install.sh"]


def test_public_names_stay_and_public_indexes_stay(tmp_path):
    write(tmp_path, {"requirements.txt": f"--extra-index-url {URL}\nnumpy\n", "setup.sh": f"pip install -i {URL} tqdm"})
    files = rendered(tmp_path)
    assert files["requirements.txt"].splitlines()[1] == "numpy"
    (tmp_path / "requirements.txt").write_text("-i https://pypi.tuna.tsinghua.edu.cn/simple\nsome-name\n")
    assert rendered(tmp_path)["requirements.txt"] == "-i https://pypi.tuna.tsinghua.edu.cn/simple\nsome-name\n"


@pytest.mark.engines
@pytest.mark.parametrize("shape", ["extra index", "index", "script", "pip.conf", "uv, explicit", "two indexes"])
def test_pip_takes_it_from_its_index_or_not_at_all(machine, make_wheel, make_stack, tmp_path, shape):
    """A newer release by a stranger lies on the public index."""
    ours, theirs = make_wheel(tmp_path / "ours", NAME, "1.0"), make_wheel(tmp_path / "theirs", NAME, "9.9")
    numpy = make_wheel(tmp_path / "theirs", "numpy", "1.0")
    shapes = {**SHAPES, "two indexes": {"requirements.txt": f"-i {URL}\n-f https://b.example.com/\n{NAME}\n"}}
    with served(tmp_path / "private", ours) as private, served(tmp_path / "public", theirs, numpy) as public:
        write(machine.root, {path: text.replace(URL, private) for path, text in shapes[shape].items()})
        machine.render(planned(machine.root, make_stack()))
        ended = machine.install("--unlocked", PIP_NO_INDEX="", PIP_INDEX_URL=public)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    installed = machine.versions().get(NAME)
    assert installed == (None if shape == "two indexes" else "1.0")
    assert installed or f"{NAME}: from" in ended.stderr


PRIVATE = ("corp-lib", "Corp_Models", "acme.tools", "zz-private")
private_names = st.sampled_from(PRIVATE)
public_names = st.sampled_from(
    ["numpy", "tqdm>=4", "PyYAML==6.0", "torch==2.1.0+cu118", "einops ; python_version > '3'"]
)
options = st.sampled_from(
    [
        f"--extra-index-url {URL}",
        f"-i {URL}",
        f"--index-url={URL}",
        "-f https://files.example.com/x/",
        "--pre",
        "# note",
    ]
)
versions = st.sampled_from(
    ["", "==1.0", ">=1,<2", "[extra]==1.0", " ; sys_platform == 'linux'", "  # comment", " \\\n  >=1"]
)
lines = st.lists(
    st.one_of(st.tuples(private_names, versions).map("".join), public_names, options, st.just("-r more.txt")),
    max_size=6,
)


@given(lines, lines, st.booleans())
@settings(max_examples=60, deadline=None)
def test_private_names_of_random_files_have_no_other_source(first, second, commands):
    """One file always has an index, so every private name of the two files is at risk, wherever else it is named."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write(
            root, {"requirements.txt": "\n".join([f"-i {URL}", *first, "-r more.txt"]), "more.txt": "\n".join(second)}
        )
        names = [name for name in PRIVATE if any(name in line for line in (*first, *second))]
        if commands:
            write(root, {"setup.sh": f"pip install numpy {' '.join(names)}\n"})
        files = rendered(root)
    for name in names:
        assert lines_with_another_source(files, name) == []
