"""Python files: installer calls are read, messages are ignored, nothing is executed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.python_script import is_python_script, read


def mention_positions(text: str):
    return [(entry.name, entry.line, entry.column) for entry in read("app.py", text.encode()).mentions]


@pytest.mark.parametrize(
    "text",
    [
        "print('pip install torch')",
        "raise ImportError('pip install torch')",
        "raise SystemExit('pip install torch')",
        "'''pip install torch'''",
        "# subprocess.run(['pip', 'install', 'torch'])",
        "subprocess.run(['pip', 'uninstall', 'torch'])",
        "subprocess.run(['echo', 'pip', 'install', 'torch'])",
        "subprocess.run(command)",
        "subprocess.run()",
        "logging.info('run pip install torch')",
        "pipeline.run('install torch')",
        "x = ['install', 'torch']",
        "f('install torch')",
    ],
)
def test_no_installs(text):
    assert mention_positions(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("subprocess.run([sys.executable, '-m', 'pip', 'install', 'torch==2'])", [("torch", 1, 58)]),
        ("subprocess.check_call(['pip', 'install',\n  'a', 'b'])", [("a", 2, 4), ("b", 2, 9)]),
        ("os.system('pip install a && cd ext && pip install .')", [("a", 1, 24), ("ext", 1, 51)]),
        ("os.system(f'{sys.executable} -m pip install a')", [("a", 1, 30)]),
        ("subprocess.run(shlex.split('pip install a'))", [("a", 1, 41)]),
        ("subprocess.Popen('pip install a'.split())", [("a", 1, 31)]),
        ("cmd = 'pip install a'\nsubprocess.run(cmd, shell=True)", [("a", 1, 20)]),
        ("P = ['a', 'b']\nfor p in P:\n  run(['pip', 'install', p])", [("a", 1, 7), ("b", 1, 12)]),
        ("P = ['a']\nrun(['pip', 'install'] + P + ['b'])", [("a", 1, 7), ("b", 2, 32)]),
        ("def get(p):\n  run(['pip', 'install', p])\nget('a')\nget(p='b')", [("a", 3, 6), ("b", 4, 8)]),
        ("def get(*p):\n  run(['pip', 'install', *p])\nget('a', 'b')", [("a", 3, 6), ("b", 3, 11)]),
        ("run_pip('install a')", [("a", 1, 18)]),
        ("pip.main(['install', 'a'])", [("a", 1, 23)]),
        ("os.system('pipenv install a')", [("a", 1, 27)]),
        ("run(['bash', '-c', 'pip install a'])", [("a", 1, 33)]),
    ],
)
def test_installs(text, expected):
    assert mention_positions(text) == expected


def test_index_of_a_call():
    text = "run(['pip', 'install', 'torch',\n '--index-url', 'https://host/cu121'])\nrun(['pip', 'install', 'b'])\n"
    result = read("app.py", text.encode())
    assert [option.urls for option in result.options] == [("https://host/cu121",)]
    assert [command.arguments[-1] for command in result.commands] == ["https://host/cu121", "b"]


@pytest.mark.parametrize("text", ["print 'two'; os.system('pip install a')", "def", "(" * 5000])
def test_invalid_python_is_ignored(text):
    assert read("app.py", text.encode()).mentions == ()


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    read("app.py", b"import os\nos.system('touch ran; pip install a')\n")
    assert list(tmp_path.iterdir()) == []


def test_a_large_table_does_not_hide_a_call():
    table = "T = [" + "('x', 'y'),\n" * 20_000 + "]\n"
    assert [name for name, _, _ in mention_positions(f"{table}os.system('pip install a')")] == ["a"]


def test_setup_py_has_its_own_reader():
    assert is_python_script("a/install.py")
    assert not is_python_script("a/setup.py")
    assert not is_python_script("a.pyi")


@given(st.binary(max_size=200))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in read("a.py", b"pip install " + data).mentions)


@given(st.lists(st.sampled_from(["torch", "gsplat>=1", "b[c]"]), min_size=1, max_size=6), st.booleans())
def test_round_trip(names, as_list):
    words = ", ".join(f"'{name}'" for name in names)
    line = f"run(['pip', 'install', {words}])" if as_list else f"run('pip install {' '.join(names)}')"
    result = sorted(set(mention_positions(line)), key=lambda entry: entry[2])
    assert [name for name, _, _ in result] == [name.split(">")[0].split("[")[0] for name in names]
    assert all(line[column - 1 :].startswith(name) for name, _, column in result)
