from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.scan.selection import Selection
from rocm3d.scan.stage import scan
from rocm3d.workspace.tree import Tree, TreeLimits

# Checked by hand against the example files, including severities and notes.
EXAMPLES = {
    "already-portable": [],
    "cmake-lib": [
        "error cmake_cuda@CMakeLists.txt:2",
        "error cmake_cuda@CMakeLists.txt:4",
        "note arch_list@CMakeLists.txt:9",
        "error link_cuda_library@CMakeLists.txt:13",
        "error spaced_launch@src/gridsample.cu:66",
        "error spaced_launch@src/gridsample.cu:84",
    ],
    "cpu-only-gate": [
        "note torch_unpinned_pull@README.md:12",
        "error object_name_collision@csrc/ball_query.cpp:1",
        "error cuda_home_gate@setup.py:7",
        "note torch_unpinned_pull@setup.py:21",
    ],
    "deform-op": [
        "note torch_unpinned_pull@README.md:13",
        "warning cuda_available_gate@setup.py:7",
        "error cuda_home_gate@setup.py:7",
        "error missing_header@src/sample_kernel.cu:2",
        "error lane_mask_32bit@src/sample_kernel.cu:38",
    ],
    "jit-extension": [
        "note torch_unpinned_pull@README.md:13",
        "warning jit_extension@raymarch/__init__.py:8",
        "error nvcc_flag@raymarch/__init__.py:15",
        "error nvcc_flag@raymarch/__init__.py:15",
        "error missing_header@raymarch/csrc/raymarch.cu:4",
    ],
    "mesh-bake": [
        "note torch_unpinned_pull@README.md:13",
        "note torch_unpinned_pull@README.md:13",
        "note cuda_index@README.md:13",
        "warning cuda_only_import@mesh_bake/fill.py:2",
        "warning ort_cuda_provider@mesh_bake/matte.py:8",
        "warning ort_cuda_provider@mesh_bake/matte.py:9",
        "warning cuda_only_import@mesh_bake/raster.py:1",
        "note optional_cuda_import@mesh_bake/raster.py:5",
        "note gl_context@mesh_bake/raster.py:15",
        "error cuda_only_package@requirements.txt:3",
        "note licence_restricted@requirements.txt:3",
        "error gpu_extra@requirements.txt:4",
        "error cuda_only_package@requirements.txt:5",
        "error cuda_only_package@requirements.txt:6",
    ],
    "pins-only": [
        "warning torch_unpinned_pull@constraints.txt:1",
        "error cuda_pin@constraints.txt:2",
        "error cuda_index@requirements.txt:4",
        "warning index_confusion@requirements.txt:5",
        "error cuda_pin@requirements.txt:7",
        "error cuda_pin@requirements.txt:10",
        "error direct_wheel_url@requirements.txt:11",
        "error cuda_only_package@requirements.txt:12",
        "warning torch_unpinned_pull@requirements/base.txt:3",
        "error cuda_only_package@requirements/base.txt:4",
    ],
    "point-backbone": [
        "error conda_cuda@environment.yml:4",
        "error conda_cuda@environment.yml:10",
        "error conda_cuda@environment.yml:11",
        "error conda_cuda@environment.yml:12",
        "error conda_cuda@environment.yml:13",
        "error conda_cuda@environment.yml:14",
        "warning cuda_only_import@point_backbone/layers.py:1",
        "warning cuda_only_import@point_backbone/layers.py:3",
        "warning cuda_only_import@point_backbone/layers.py:6",
        "error cuda_index@requirements.txt:1",
        "error cuda_only_package@requirements.txt:2",
        "error cuda_only_package@requirements.txt:3",
        "error cuda_only_package@requirements.txt:4",
    ],
    "splat-trainer": [
        "error cooperative_groups_reduce@csrc/forward.cu:4",
        "error missing_header@csrc/forward.cu:6",
        "warning warp_size_literal@csrc/forward.cu:13",
        "error lane_mask_32bit@csrc/forward.cu:21",
        "warning ballot_truncation@csrc/forward.cu:95",
        "error lane_mask_32bit@csrc/forward.cu:95",
        "error spaced_launch@csrc/forward.cu:164",
        "error spaced_launch@csrc/forward.cu:182",
        "error cuda_index@requirements.txt:2",
        "error cuda_pin@requirements.txt:3",
        "error cuda_pin@requirements.txt:4",
        "error cuda_only_package@requirements.txt:5",
        "error cuda_only_package@requirements.txt:8",
        "error cuda_only_package@requirements.txt:9",
        "error cuda_only_package@requirements.txt:10",
        "error cuda_home_gate@setup.py:6",
        "error nvcc_flag@setup.py:24",
        "error nvcc_flag@setup.py:25",
        "error nvcc_flag@setup.py:26",
        "error nvcc_flag@setup.py:27",
        "error xformers_import@splat_trainer/attention.py:4",
        "note optional_cuda_import@splat_trainer/attention.py:7",
        "error flash_attention_required@splat_trainer/attention.py:26",
        "warning cuda_only_import@splat_trainer/model.py:3",
        "note optional_cuda_import@splat_trainer/model.py:12",
    ],
    "video-attention": [
        "note torch_unpinned_pull@README.md:10",
        "note cuda_index@README.md:10",
        "warning torch_unpinned_pull@requirements.txt:1",
        "error cuda_only_package@requirements.txt:2",
        "error cuda_only_package@requirements.txt:3",
        "warning compile_mode@sample.py:20",
        "note optional_cuda_import@video_attention/attention.py:4",
        "error flash_attention_required@video_attention/attention.py:37",
        "error xformers_import@video_attention/text.py:3",
    ],
}
ROOT = Path(__file__).parents[2]


def no_progress(path: str) -> None:
    """Ignores progress."""


def reasons(document) -> dict[str, str]:
    return {entry.path: entry.reason for entry in document.inventory.skipped}


def test_every_example_is_in_the_table():
    assert sorted(EXAMPLES) == sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir())


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, example, knowledge):
    document = scan(Tree.open(example(name)), knowledge, Selection(), no_progress)

    assert [f"{f.severity} {f.rule}@{f.path}:{f.line}" for f in document.findings] == EXAMPLES[name]
    assert document.inventory.repository == name


def test_already_portable_is_ready(example, known):
    document = scan(Tree.open(example("already-portable")), known, Selection(), no_progress)

    assert (document.inventory.readiness, document.inventory.skipped) == ("ready", ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("splat-trainer", [("splat_trainer._C", "build_extension", ("csrc/forward.cu", "csrc/ext.cpp"))]),
        ("deform-op", [("deform_op._ext", "build_extension", ("src/binding.cpp", "src/sample_kernel.cu"))]),
        ("already-portable", [("rownorm._C", "build_extension", ("csrc/binding.cpp", "csrc/rownorm.cu"))]),
        ("jit-extension", [("raymarch_backend", "jit", ("csrc/bindings.cpp", "csrc/raymarch.cu"))]),
        ("pins-only", []),
    ],
)
def test_extensions_of_the_examples(name, expected, example, known):
    document = scan(Tree.open(example(name)), known, Selection(), no_progress)

    assert [(entry.name, entry.how, entry.sources) for entry in document.inventory.extensions] == expected


def test_empty_repository(scanned):
    document = scanned({})

    assert document.findings == ()
    assert document.inventory.counts.files == 0
    assert (document.inventory.readiness, document.inventory.dependencies) == ("ready", ())


def test_nul_bytes_are_reported(scanned):
    document = scanned({"a.cu": b"void f() { k<< <1, 1>> >(); }\n\0"})

    assert document.findings == ()
    assert "NUL" in reasons(document)["a.cu"]
    assert document.inventory.counts.cuda == 0


def test_other_encodings_are_read_and_reported(scanned):
    document = scanned({"a.cu": "// größe\nvoid f() { k<< <1, 1>> >(); }\n".encode("latin-1")})

    assert [result.line for result in document.findings] == [2]
    assert "not UTF-8" in reasons(document)["a.cu"]


def test_oversize_files_are_skipped_and_reported(scanned):
    document = scanned({"a.cu": b"x" * 101, "b.cu": b"x" * 100}, limits=TreeLimits(file_bytes=100))

    assert list(reasons(document)) == ["a.cu"]
    assert "above the limit" in reasons(document)["a.cu"]
    assert document.inventory.counts.cuda == 1


def test_oversize_file_of_unknown_kind_is_not_reported(scanned):
    assert scanned({"weights.bin": b"x" * 101}, limits=TreeLimits(file_bytes=100)).inventory.skipped == ()


def test_invalid_requirements_line_is_reported_and_others_are_read(scanned):
    document = scanned({"requirements.txt": "gsplat\n==1.0 what is this\nflash-attn\n"})

    assert [result.line for result in document.findings] == [1, 3]
    assert list(reasons(document)) == ["requirements.txt:2"]


def test_symlinks_outside_the_tree_are_not_followed(scanned, tmp_path):
    outside = tmp_path / "outside.cu"
    outside.write_text("void f() { k<< <1, 1>> >(); }\n")
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "a.cu").symlink_to(outside)

    document = scanned({"b.py": ""})

    assert document.findings == ()
    assert "outside the repository" in reasons(document)["a.cu"]


def test_state_folder_and_git_are_not_scanned(scanned):
    launch = "void f() { k<< <1, 1>> >(); }\n"

    document = scanned({".rocm3d/a.cu": launch, ".git/a.cu": launch, "node_modules/x/a.cu": launch})

    assert (document.findings, document.inventory.counts.files) == ((), 0)


def test_counts_and_families(scanned):
    document = scanned(
        {"a.cu": "void f() { k<< <1, 1>> >(); }\n", "b.py": "", "requirements.txt": "gsplat\n", "c.txt": "x"}
    )
    counts = document.inventory.counts

    assert (counts.files, counts.cuda, counts.python, counts.manifests) == (4, 1, 1, 1)
    assert counts.bytes == 30 + 0 + 7 + 1
    assert document.inventory.families == {"cleanup": 1, "native-op": 1}


def test_dependencies_have_location_and_package(scanned):
    first, second = scanned({"requirements.txt": "numpy<2\n  Flash_Attn>=2\n"}).inventory.dependencies

    assert (first.name, first.package, str(first.location)) == ("numpy", None, "requirements.txt:1:1")
    assert (second.name, second.package, str(second.location)) == ("Flash_Attn", "flash-attn", "requirements.txt:2:3")
    assert "Flash_Attn>=2" in second.requirement


def test_findings_are_sorted(scanned):
    launch = "void f() { k<< <1, 1>> >(); k<< <1, 1>> >(); }\n"
    document = scanned({"z.cu": launch * 12, "a/b.cu": launch, "requirements.txt": "gsplat\ntorch==2+cu121\n"})
    order = [(entry.path, entry.line, entry.column, entry.code) for entry in document.findings]

    assert order == sorted(order)
    assert len(order) == 28


def test_scan_is_deterministic(example, known):
    root = example("splat-trainer")

    first, second = (scan(Tree.open(root), known, Selection(), no_progress).to_json() for _ in range(2))

    assert first == second
    assert str(root) not in first


def test_order_of_packages_does_not_matter(scanned, known, tmp_path):
    before = scanned({"requirements.txt": "gsplat\nnvidia-cudnn-cu11\nflash-attn\n"}).to_json()
    names = random.Random(1).sample(list(known.packages), len(known.packages))
    shuffled = replace(known, packages={name: known.packages[name] for name in names})

    assert names != list(known.packages)
    assert scan(Tree.open(tmp_path / "repository"), shuffled, Selection(), no_progress).to_json() == before


def test_progress_is_called_for_every_path(example, known):
    reported: list[str] = []
    tree = Tree.open(example("cmake-lib"))

    scan(tree, known, Selection(), reported.append)

    assert sorted(reported) == tree.paths()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.cu", "(" * 20_000 + "\n#include <device_functions.h>\n"),
        ("a.cu", "#if 1\n" * 5_000 + "#include <device_functions.h>\n"),
        ("a.cu", "#if " + "!" * 3_000 + "X\n#endif\n#include <device_functions.h>\n"),
        ("a.cu", "#if " + "(" * 3_000 + "X" + ")" * 3_000 + "\n#endif\n#include <device_functions.h>\n"),
        ("setup.py", "cpp_extension\n" + "[" * 20_000),
        ("setup.py", "cpp_extension\nx = " + "not " * 5_000 + "CUDA_HOME is None\n"),
        ("requirements.txt", "-r requirements.txt\n-c /etc/passwd\n-e .\n"),
        ("requirements.txt", "a\\\n" * 3_000),
    ],
    ids=["parens", "nested-if", "nots", "parens-in-if", "brackets", "python-nots", "itself", "continued"],
)
def test_hostile_text_does_not_raise(scanned, path, text):
    document = scanned({path: text})

    assert document.inventory.counts.files == 1


PIECES = [
    b"\r\n", b"\n", b"\t", b"\xff", b"\\\n", b'"', b"'''", b"/*", b"*/", b"//", b"#if 0\n", b"#endif\n", b"#else\n",
    b"#ifdef USE_ROCM\n", b"#elif defined(", b"#include <device_functions.h>\n", b"k<< <1, 1>> >(x);", b"{", b"}", b"(",
    b")", b"[", b"]", b"cpp_extension ", b"CUDA_HOME is None", b"if ", b"else ", b"assert ", b"try:\n", b"import ",
    b"flash_attn", b"HAS = True\n", b"torch.version.hip", b"CUDAExtension(sources=", b"load(",
    b'"-gencode"', b"torch==2+cu121",
    b"-f https://x/cu121", b"-e ", b"--hash=", b"@ git+https://x/y", b"; python_version", b"__shfl_sync(0xffffffff, v)",
    b"#define M ", b"0xffffffff", b":", b",", b"=", b"-r ", b"\xc2\x85", b"\xe2\x80\xa8", b"\x0c", b"\xef\xbb\xbf",
]  # fmt: skip


@given(
    st.sampled_from(["setup.py", "a.cu", "requirements.txt"]),
    st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)),
)
def test_never_raises_and_positions_are_inside_the_file(tmp_path_factory, known, path, data):
    root = tmp_path_factory.mktemp("random")
    (root / path).write_bytes(data)

    document = scan(Tree.open(root), known, Selection(), no_progress)

    assert document.inventory.counts.files == 1
    assert all(1 <= result.line <= data.count(b"\n") + data.count(b"\r") + 1 for result in document.findings)


def test_own_package_is_not_a_dependency(tmp_path, knowledge):
    for position in ("gsplat", "src/xformers"):
        (tmp_path / position).mkdir(parents=True)
        (tmp_path / position / "__init__.py").write_text("")
    (tmp_path / "run.py").write_text("import gsplat\nimport xformers.ops\nimport spconv.pytorch\n")
    (tmp_path / "requirements.txt").write_text("gsplat\nspconv-cu120\n")

    document = scan(Tree.open(tmp_path), knowledge, Selection(), no_progress)

    assert {finding.package for finding in document.findings} == {"spconv"}


def test_manual_install_file_needs_no_source_edit(tmp_path, knowledge):
    (tmp_path / "environment.yml").write_text("channels: [nvidia]\ndependencies:\n  - cudatoolkit=11.8\n")

    document = scan(Tree.open(tmp_path), knowledge, Selection(), no_progress)

    assert {finding.rule for finding in document.findings} == {"conda_cuda"}
    assert document.inventory.readiness == "ready-with-deps"


def test_repeated_import_findings_become_notes(tmp_path, knowledge):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("import nvdiffrast.torch as dr\nimport spconv.pytorch\n")

    document = scan(Tree.open(tmp_path), knowledge, Selection(), no_progress)

    reported = [(f.path, f.package, f.severity) for f in document.findings if f.rule == "cuda_only_import"]
    assert reported == [
        ("a.py", "nvdiffrast", "warning"),
        ("a.py", "spconv", "warning"),
        ("b.py", "nvdiffrast", "note"),
        ("b.py", "spconv", "note"),
    ]
