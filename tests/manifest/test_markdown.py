from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.markdown import is_documentation, read, shell_blocks

PAGE = """# Install
You can pip install prose, or read it.
Use `the inline code`.

```python
subprocess.run("pip install python-block")
```

```bash
$ pip install torch==2.1 --index-url https://host/cu121
nvidia-smi
```

1. First
   ~~~
   !pip install gsplat
   ~~~

```
conda install cudatoolkit
"""


def mention_positions(text: str):
    return [
        (entry.name, entry.line, entry.column, entry.section) for entry in read("README.md", text.encode()).mentions
    ]


def test_only_install_lines_of_shell_blocks():
    assert mention_positions(PAGE) == [
        ("torch", 10, 15, "documentation"),
        ("gsplat", 16, 17, "documentation"),
        ("cudatoolkit", 20, 15, "documentation:conda"),
    ]
    assert read("README.md", PAGE.encode()).commands == ()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Use `pip install torch`, then `$ pip3 install gsplat`.", [("torch", 1, 18), ("gsplat", 1, 47)]),
        ("| a | ```pip install spconv-cu102``` | b |", [("spconv-cu102", 1, 22)]),
        ("```pip install kaolin```", [("kaolin", 1, 16)]),
        ("    pip install a \\\n        b", [("a", 1, 17), ("b", 2, 9)]),
        ("1. python -m pip install a", [("a", 1, 26)]),
        ("> $ uv add a", [("a", 1, 12)]),
        (".. code-block:: bash\n\n   conda install a", [("a", 3, 18)]),
        ("`pip uninstall a` or `pip list`, and `install a`", []),
        ("the `pip` command: install a", []),
    ],
)
def test_install_commands_outside_of_fences(line, expected):
    assert [(name, row, column) for name, row, column, _ in mention_positions(line)] == expected


def test_a_shorter_fence_does_not_close_a_longer_one():
    assert list(shell_blocks("````\na\n```\nb\n````\nc")) == [(2, 1, "a\n```\nb")]


@pytest.mark.parametrize(
    "path", ["CHANGELOG.md", "docs/changes.rst", "README.txt", "docs/a.txt", "a.mdx", "LICENSE.md"]
)
def test_is_not_documentation(path):
    assert not is_documentation(path)


@pytest.mark.parametrize(
    "path", ["README.md", "a/readme_zh.md", "docs/a/b.md", "INSTALL.md", "doc/x.markdown", "README.rst", "src/notes.md"]
)
def test_is_documentation(path):
    assert is_documentation(path)


@given(st.binary(max_size=300))
def test_random_bytes_do_not_raise(data):
    assert all(entry.line >= 1 for entry in read("README.md", b"```\n" + data).mentions)


PIECES = st.sampled_from(["```", "```bash", "````", "~~~", "pip install torch", "", "don't", "```python"])


@given(st.lists(PIECES, max_size=12))
def test_mentions_are_on_install_lines(lines):
    result = read("README.md", "\n".join(lines).encode()).mentions
    assert all(lines[entry.line - 1] == "pip install torch" and entry.column == 13 for entry in result)


def test_many_fences_are_fast():
    assert read("README.md", b"```\n" * 200_000).mentions == ()
