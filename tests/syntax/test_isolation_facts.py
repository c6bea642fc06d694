from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.syntax.isolation import prove_isolation
from rocm3d.syntax.isolation_facts import IsolationFacts, read_facts
from rocm3d.workspace.tree import Tree, TreeLimits

BEFORE = b"int a;\n"
AFTER = b"int a;\n#if defined(USE_ROCM)\nint b;\n#endif\n"


@pytest.fixture
def facts_of(tmp_path):
    def read(files: dict[str, bytes], limits: TreeLimits | None = None, without: str = "") -> IsolationFacts:
        for path, data in files.items():
            file = tmp_path / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        return read_facts(Tree.open(tmp_path, limits), without)

    return read


def test_a_header_that_cannot_be_read_may_define_anything(facts_of):
    facts = facts_of({"big.h": b"x" * 100}, TreeLimits(file_bytes=10))
    assert "big.h cannot be read" in prove_isolation("a.cu", BEFORE, AFTER, facts).detail


def test_a_module_that_nests_too_deeply_may_do_anything(facts_of):
    deep = b"import torch\nx = " + b"-" * 900 + b"torch.version.hip\n"
    facts = facts_of({"deep.py": deep})
    before, after = b"import torch\nx = 1\n", b"import torch\nx = 2 if torch.version.hip is not None else 1\n"
    assert prove_isolation("a.py", before, after, facts).holds == (not facts.unread_modules)


def test_the_folder_of_the_port_is_left_out(facts_of):
    assert facts_of({"rocm-port/a.h": b"#define USE_ROCM 0\n"}, without="rocm-port").definitions == ()


def test_binary_and_unknown_files_are_left_out(facts_of):
    files = {"a.png": b"#define USE_ROCM 0\n", "flags": b"\0\n#define USE_ROCM 0\n", "a.xyz": b"#define USE_ROCM 0\n"}
    assert facts_of(files).definitions == ()


def test_aliases_of_two_edits_must_agree():
    one = b"#if defined(USE_ROCM)\n#define ROCM3D_A 1\n#else\n#define ROCM3D_A a\n#endif\nint ROCM3D_A;\n"
    other = one.replace(b" a\n", b" b\n").replace(b"int ROCM3D_A", b"int ROCM3D_A")
    facts = IsolationFacts().with_edit("a.cu", one)
    assert prove_isolation("b.cu", b"int a;\n", one, facts).holds
    assert "a.cu defines another ROCM3D_A" in prove_isolation("b.cu", b"int b;\n", other, facts).detail


def test_without_an_edit_there_is_nothing_to_refuse(facts_of):
    facts = facts_of({"a.h": b"#define USE_ROCM 0\n"})
    assert prove_isolation("a.cu", AFTER, AFTER, facts).holds


WORDS = [b"import torch", b"\n", b"from a import *", b"is_rocm", b"torch.jit.script(", b")", b"(", b"open('a.py')",
         b"sys.modules['torch'] = ", b"def f(x):", b"exec(x)", b"\xff", b"'", b"#define USE_ROCM 0", b" ",
         b"setattr(a, 'torch', 1)"]  # fmt: skip


@given(
    st.dictionaries(
        st.sampled_from(["a.py", "b.py", "a.h", "CMakeLists.txt", "x.sh", "x.patch", "x.rst", "SHA256SUMS", "flags"]),
        st.lists(st.sampled_from(WORDS)).map(b"".join),
    )
)
def test_any_tree_is_read(files):
    class Memory:
        def paths(self):
            return sorted(files)

        def size(self, path):
            return len(files[path])

        def read(self, path):
            return files[path]

    facts = read_facts(Memory())
    prove_isolation(
        "a.py", b"import torch\nx = 1\n", b"import torch\nis_rocm = torch.version.hip is not None\nx = 1\n", facts
    )
