from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.manifest.markdown import blocks, is_documentation, read

PAGE = """# Install
pip install prose
Use `pip install inline`.

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


def seen(text: str):
    return [(item.name, item.line, item.column, item.section) for item in read("README.md", text.encode()).mentions]


def test_only_install_lines_of_shell_blocks():
    assert seen(PAGE) == [
        ("torch", 10, 15, "documentation"),
        ("gsplat", 16, 17, "documentation"),
        ("cudatoolkit", 20, 15, "documentation:conda"),
    ]
    assert read("README.md", PAGE.encode()).commands == ()


def test_a_shorter_fence_does_not_close_a_longer_one():
    assert list(blocks("````\na\n```\nb\n````\nc")) == [(2, "a\n```\nb")]


@pytest.mark.parametrize("path", ["CHANGELOG.md", "src/notes.md", "README.txt", "docs/a.rst"])
def test_is_no_documentation(path):
    assert not is_documentation(path)


@pytest.mark.parametrize("path", ["README.md", "a/readme_zh.md", "docs/a/b.md", "INSTALL.md", "doc/x.markdown"])
def test_is_documentation(path):
    assert is_documentation(path)


@given(st.binary(max_size=300))
def test_random_bytes_are_survived(data):
    assert all(item.line >= 1 for item in read("README.md", b"```\n" + data).mentions)


PIECES = st.sampled_from(["```", "```bash", "````", "~~~", "pip install torch", "", "don't", "```python"])


@given(st.lists(PIECES, max_size=12))
def test_mentions_stand_on_install_lines(lines):
    found = read("README.md", "\n".join(lines).encode()).mentions
    assert all(lines[item.line - 1] == "pip install torch" and item.column == 13 for item in found)


def test_many_fences_are_fast():
    assert read("README.md", b"```\n" * 200_000).mentions == ()
