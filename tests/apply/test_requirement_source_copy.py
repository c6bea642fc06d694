"""A table of difficult requirement lines with their expected copies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocm3d.apply.requirement_source import RequirementsCopier, is_index_replacement, replacement_line
from rocm3d.manifest.requirements import is_constraints, read
from rocm3d.model.plan import DependencyDecision

HASH = "--hash=sha256:" + "0" * 64


def decision(name: str, kind: str = "drop", **more: object) -> DependencyDecision:
    arguments = {"name": name, "package": name, "decision": kind, "route": "r", "reason": "why", **more}
    return DependencyDecision.model_validate(arguments)


DECISIONS = {
    item.name: item
    for item in (
        *map(decision, ("torch", "torchvision", "torchaudio", "triton", "xformers", "nvidia-cudnn-cu11", "nvdiffrast")),
        *map(decision, ("tinycudann", "tiny-cuda-nn", "simple-knn", "diff-gaussian-rasterization", "spconv-cu120")),
        decision("flash-attn", "build", commands=(("pip", "install", "flash-attn"),)),
        decision("gsplat", "replace", requirement="amd_gsplat", index="https://host/simple/"),
        decision("onnxruntime-gpu", "replace", requirement="onnxruntime-rocm>=1"),
        decision("kaolin", "blocked"),
        decision("rembg", "keep"),
        *(decision(name, "keep", package=None) for name in ("numpy", "torchmetrics", "torch-fidelity", "private", "b")),
    )
}
COPIER = RequirementsCopier(DECISIONS, frozenset(), frozenset())


def copied(text: str | bytes, copier: RequirementsCopier = COPIER, path: str = "requirements.txt") -> bytes:
    return copier.copy(read(path, text.encode() if isinstance(text, str) else text))


KEPT = [
    "numpy",
    "numpy==1.26.4  # torch 2.1 wants it",
    "torchmetrics",
    "torchmetrics[image]>=1.2,<2  # not torch itself",
    "torch-fidelity==0.3.0",
    "pytorch-lightning>=2,<3",
    "pytorch_lightning",
    "tritonclient[http]>=2.40;sys_platform=='linux'",
    "torchdiffeq ~= 0.2 ; python_version >= '3.8' and platform_machine == 'x86_64'",
    "rembg[gpu]>=2.0.57",
    "rembg",
    f"numpy==1.26.4 \\\n    {HASH} \\\n    {HASH}",
    f"  pillow==10.0.0 {HASH}",
    "numpy \\\n  # a comment ends it",
    "# torch==1.13.1+cu116   the old pin",
    "   # torch",
    "#torch",
    "",
    "\t",
    "-r other.txt",
    "--requirement=requirements/base.txt",
    "-rother.txt",
    "-c constraints.txt",
    "-i https://host/simple",
    "--find-links ./wheels",
    "--pre",
    "--no-binary :all:",
    "--trusted-host host",
    "-e .",
    "-e .[train]",
    "./libs/thing",
    "git+https://${TOKEN}@host/org/private.git@v1",
    "private @ git+https://host/private.git ; python_version < '3.0'",
    "b @ https://host/b-1.0-py3-none-any.whl",
    "https://host/b-1.0-cp312-cp312-linux_x86_64.whl",
    "==nonsense",
    "numpy==${NUMPY}",
    "torchmetrics==${X}",
    "torch==2.1.0  # rocm3d: ignore[cuda_pin]",
]

GONE = {
    "torch": "torch",
    "TORCH": "torch",
    "Torch>=2": "torch",
    "\ttorch": "torch",
    "torch==2.1+cu118": "torch",
    "torch===2.1.0": "torch",
    "torch (>=2.0)": "torch",
    "torch >= 2.0 , < 3": "torch",
    "torch==2.*  # why": "torch",
    "torch ; sys_platform == 'linux'": "torch",
    "torch;sys_platform=='linux'": "torch",
    "torch==2.6.0+rocm6.4.3": "torch",
    f"torch[opt-einsum]==2.3.1+cu118 \\\n    {HASH} \\\n    {HASH}": "torch",
    "torch\\\n==2.1": "torch",
    "torch==2.1 \\\n# pip ends it here": "torch",
    '  torchvision == 0.18.1+cu118 ; python_version < "3.13"  # point': "torchvision",
    "torchaudio @ https://host/whl/cu118/torchaudio-2.3.1%2Bcu118-cp310-cp310-linux_x86_64.whl": "torchaudio",
    "torch @ https://host/torch-1.whl ; python_version > '3'": "torch",
    "https://host/whl/cu118/torch-2.1.0%2Bcu118-cp310-cp310-linux_x86_64.whl": "torch",
    "./wheels/torch-2.1.0+cu118-cp310-cp310-linux_x86_64.whl": "torch",
    "torch==${TORCH_VERSION}": "torch",
    "torch=={VERSION}": "torch",
    "torch#glued": "torch",
    "'torch==2.1'": "torch",
    '"torch"': "torch",
    "torch --index-url https://host/whl/cu118": "torch",
    "nvidia-cudnn-cu11==8.7.0.84 ; platform_system == 'Linux'": "nvidia-cudnn-cu11",
    "nvidia_cudnn_cu11": "nvidia-cudnn-cu11",
    "spconv-cu120==2.3.6": "spconv-cu120",
    "SpConv.CU120": "spconv-cu120",
    "flash_attn": "flash-attn",
    "Flash.Attn==2.5": "flash-attn",
    "flash-attn @ git+https://host/flash-attention.git@v2": "flash-attn",
    "gsplat>=1.4": "gsplat",
    "kaolin": "kaolin",
    "git+https://host/NVlabs/nvdiffrast/": "nvdiffrast",
    "-e git+https://host/nvdiffrast.git@v0.3#egg=nvdiffrast": "nvdiffrast",
    "git+ssh://git@host/NVlabs/tiny-cuda-nn/#subdirectory=bindings/torch": "tiny-cuda-nn",
    "tinycudann @ git+https://host/tiny-cuda-nn/#subdirectory=bindings/torch": "tinycudann",
    "./submodules/simple-knn": "simple-knn",
    "submodules/diff-gaussian-rasterization": "diff-gaussian-rasterization",
    "-e ./submodules/diff-gaussian-rasterization": "diff-gaussian-rasterization",
    "file:./submodules/simple-knn": "simple-knn",
}


def test_the_table_is_long_enough():
    assert len(KEPT) + len(GONE) >= 60


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("line", KEPT)
def test_lines_that_nothing_applies_to_stay_byte_for_byte(line, newline):
    data = f"a\n{line}\nz".replace("\n", newline).encode()
    assert copied(data) == data


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(("line", "name"), GONE.items())
def test_decided_lines_become_comments(line, name, newline):
    copy = copied(f"a==1\n{line}\nz".replace("\n", newline)).decode()
    first, comment, *fields = copy.split(newline)
    assert (first, fields[-1]) == ("a==1", "z")
    assert comment.startswith(f"# rocm3d: {name}: ")
    assert all(text.startswith("#") for text in fields[:-1])
    assert [entry.name for entry in read("requirements.txt", copy.encode()).mentions] == ["a", "z"]


def test_the_whole_table_in_one_file():
    """Behind a byte-order mark, with odd bytes and an odd separator."""
    lines = ["\ufeff# \u2028 caf\u00e9", *KEPT, *GONE, "last"]
    copy = copied("\n".join(lines)).decode()
    stored = [line for line in copy.split("\n") if not line.startswith("# rocm3d: ") and not line.startswith("#   pip")]
    assert stored == "\n".join([lines[0], *KEPT, "last"]).split("\n")


def test_a_byte_order_mark_does_not_hide_the_first_line():
    assert copied(b"\xef\xbb\xbftorch\nnumpy\n") == b"# rocm3d: torch: drop: why\nnumpy\n"
    assert copied(b"\xef\xbb\xbfnumpy\n") == b"\xef\xbb\xbfnumpy\n"


def test_a_replacement_from_the_default_index_replaces_the_line():
    assert copied("onnxruntime-gpu==1.18\n") == b"onnxruntime-rocm>=1  # rocm3d: instead of onnxruntime-gpu\n"


def test_constraints_get_no_replacement():
    copy = copied("onnxruntime-gpu==1.18\nflash-attn==2\nnumpy<2\n", path="constraints.txt")
    assert copy == b"# rocm3d: onnxruntime-gpu: replace: why\n# rocm3d: flash-attn: build: why\nnumpy<2\n"


@pytest.mark.parametrize("line", ["foo==1.0+cu118", "https://host/foo-1.0%2Bcu121-cp310-cp310-linux_x86_64.whl"])
def test_a_cuda_build_of_an_unknown_package_is_left_out(line):
    assert copied(f"{line}\n") == f"# rocm3d: removed, a CUDA build without a known ROCm route: {line}\n".encode()


def test_lines_that_install_sh_builds_become_comments():
    copier = RequirementsCopier(DECISIONS, frozenset(), frozenset({("requirements.txt", 2)}))
    assert copied("-e .\n-e ./x\n", copier) == b"-e .\n# rocm3d: built by install.sh: -e ./x\n"


def test_an_index_goes_only_where_its_finding_is_answered():
    copier = RequirementsCopier(DECISIONS, frozenset({("requirements.txt", 1), ("other.txt", 2)}), frozenset())
    text = "--index-url https://host/cu118\n--index-url https://host/private\n"
    assert copied(text, copier) == b"# rocm3d: removed: https://host/cu118\n--index-url https://host/private\n"


def test_an_additional_index_goes_in_any_case():
    copier = RequirementsCopier(DECISIONS, frozenset({("requirements.txt", 1)}), frozenset())
    text = "--extra-index-url https://host/cu118\n--extra-index-url https://pypi.org/simple\n"
    assert copied(text, copier).decode().splitlines() == [
        "# rocm3d: removed: https://host/cu118",
        "# rocm3d: not used, each package comes from one index: https://pypi.org/simple",
    ]


def test_a_requirement_with_an_index_is_left_for_a_person():
    """pip refuses such a line, and with it the whole file."""
    copy = copied("bpy==4.0 --extra-index-url https://host/pypi/\n")
    assert copy == b"# rocm3d: left for you, pip cannot read it: bpy==4.0 index https://host/pypi/\n"


@pytest.mark.parametrize(
    ("path", "answer"), [("constraints.txt", True), ("a/Constraints-dev.txt", True), ("x.txt", False)]
)
def test_constraints_are_recognised_by_name(path, answer):
    assert is_constraints(path) is answer


def test_only_a_name_from_the_default_index_is_inline():
    assert is_index_replacement(DECISIONS["onnxruntime-gpu"])
    assert not any(is_index_replacement(DECISIONS[name]) for name in ("gsplat", "flash-attn", "torch"))


def test_a_reason_cannot_leave_its_comment():
    entry = decision("x", "build", reason="one\ntwo\u2028three\x85four", commands=(("pip", "a\nb"),))
    assert all(line.startswith("#") for line in replacement_line(entry).splitlines())


names = st.from_regex(r"[A-Za-z][A-Za-z0-9._-]{0,12}[A-Za-z0-9]", fullmatch=True).filter(
    lambda name: name.lower().replace("_", "-").replace(".", "-") not in DECISIONS
)
tails = st.sampled_from(
    ["", "==1.0", ">=1,<2", "[a,b]", " ; python_version < '3.9'", "  # note", f" \\\n  {HASH}", " @ https://host/x.zip"]
)
others = st.sampled_from(
    ["# torch", "", "   ", "-r x.txt", "--pre", "-i https://host/simple", "caf\u00e9", "\x0c", "==bad", "\\"]
)
files = st.tuples(
    st.lists(st.one_of(st.builds(str.__add__, names, tails), others), max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "latin-1"]),
)


@given(files)
def test_files_without_decided_names_round_trip_byte_for_byte(output):
    lines, newline, final, encoding = output
    data = ("\n".join(lines) + ("\n" if final else "")).replace("\n", newline).encode(encoding)
    assert copied(data) == data


@given(st.lists(st.one_of(st.sampled_from([*KEPT, *GONE]), st.builds(str.__add__, names, tails)), max_size=10))
def test_a_copy_of_a_copy_changes_nothing_more(lines):
    once = copied("\n".join(lines))
    assert copied(once) == once
    left = {entry.name.lower() for entry in read("requirements.txt", once).mentions if "ignore[" not in once.decode()}
    assert not left & {"torch", "torchvision", "xformers", "flash-attn", "nvdiffrast"}


ADDITIONAL = [
    "--extra-index-url https://host/simple",
    "--extra-index-url=https://host/simple",
    "  --extra-index-url  https://host/simple  # why",
    "--extra-index https://host/simple",
    "--ex https://host/simple",
    "--extra-index-url \\\n    https://host/simple",
    "--extra-index-url ${INDEX}/simple",
    "--extra-index-url https://user:secret@host/simple",
    "--extra-index-url https://host/simple  # rocm3d: ignore[other_index]",
    "-i https://host/a --extra-index-url https://host/b",
    "--pre --extra-index-url https://host/simple",
    "--extra-index-url",
    "--EXTRA-INDEX-URL https://host/simple",
    "numpy==1.0 --extra-index-url https://host/simple",
    "torch==2.1 --extra-index-url=https://host/simple",
]


@given(
    st.lists(
        st.one_of(st.sampled_from([*ADDITIONAL, *KEPT, *GONE]), st.builds(str.__add__, names, tails), others),
        max_size=12,
    ),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from([frozenset(), frozenset({("requirements.txt", 1)})]),
)
def test_no_copy_has_an_additional_index(lines, newline, answered):
    data = "\n".join(lines).replace("\n", newline).encode()
    copy = copied(data, RequirementsCopier(DECISIONS, answered, frozenset()))
    assert not [option for option in read("requirements.txt", copy).options if option.additional]
    assert not [line for line in copy.splitlines() if b"--ex" in line.lower() and not line.lstrip().startswith(b"#")]
