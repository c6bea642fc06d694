"""Every document round-trips through its JSON."""

from __future__ import annotations

from datetime import date, datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from rocm3d.model.artifact import Artifact
from rocm3d.model.backend_check import (
    BackendCheck,
    ComparedTensor,
    GoldenComparison,
    ImportedModule,
    OmittedOutput,
    RecordedFile,
    Recording,
    Smoke,
    SuiteChecks,
    WorstElement,
)
from rocm3d.model.base import Document
from rocm3d.model.bundle import (
    AlteredFile,
    Bundle,
    BundleCheck,
    BundleReport,
    Chain,
    DiffRow,
    EvidenceDiff,
    Link,
    LinkPair,
)
from rocm3d.model.condition import Diagnosis, Problem, UncheckedCondition
from rocm3d.model.evidence import Evidence, MissingLink, SealedFile, Tally
from rocm3d.model.finding import Finding, Location
from rocm3d.model.fit import Fit, FitMemory, FitPoint
from rocm3d.model.inventory import (
    Dependency,
    Extension,
    FileCounts,
    Inventory,
    Matrix,
    MatrixColumn,
    MatrixRow,
    Scan,
    SkippedFile,
    UnlockStep,
)
from rocm3d.model.jobs import JobsReport, JobState
from rocm3d.model.patch import FileChange, Patch, Proof, RefusedEdit
from rocm3d.model.plan import ChosenStack, DependencyDecision, Plan, PlannedEdit, RejectedAlternative, UnresolvedFinding
from rocm3d.model.review import ReviewAnswer, ReviewAnswers
from rocm3d.model.run import ExpectationResult, ImportFallback, KernelTime, Manifest, PeakMemory, RunRecord, Steps
from rocm3d.model.snapshot import (
    Bridge,
    CacheGroup,
    DeviceFile,
    GraphicsCard,
    InstalledDistribution,
    Interpreter,
    KernelCache,
    Processor,
    RocmInstall,
    Snapshot,
)
from rocm3d.model.source import Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu
from rocm3d.model.task import PortTask
from rocm3d.model.toolchain import DetectedToolchain, InspectedBinary, Inspection, TargetCode, Toolchains
from rocm3d.model.upstream import Draft, Drafts, Fix, Ledger
from rocm3d.model.verdict import Verdict, Verdicts

HEX = "0" * 64
GPU = Gpu(gfx="gfx942", product="mi300x", title="Instinct MI300X", wave_size=64, vram_gb=192)
FINDING = Finding(
    code="CU104", rule="warp_size_literal", severity="error", path="csrc/ü.cu", line=2, column=18,
    message='says "32"\n', hint="none", family="native-op", recipe="warp-size",
)  # fmt: skip
PLACE = Location(path="setup.py", line=1, column=1)
LEFT = UnresolvedFinding(finding=FINDING, reason="no recipe")
PASSED = Verdict(level="compile", probe="compile_device", outcome="passed", looked_at=("a.o",))
STACK = Stack(
    id="rocm-7", title="ROCm 7", platforms=("linux",), form="pip", rocm="7.0", torch="2.8.0", python="3.12",
    gfx=("gfx942",), released=date(2026, 1, 2), checked=date(2026, 1, 3), confidence="reported",
    sources=(Source(where="a release note"),),
)  # fmt: skip
DECISION = DependencyDecision(
    name="flash-attn", package="flash-attn", decision="build", route="source", reason="fits", env={"A": "b"},
    commands=(("pip", "install", "."), ("true",)), sources=(Source(where="a place", says="so"),),
    alternatives=(RejectedAlternative(id="wheel", reason="none for gfx1100"),),
)  # fmt: skip

LOOK = BackendCheck(
    package="gsplat", probe="gsplat", outcome="accelerated", evidence="library", kernels=("k",), seconds=1.5,
    modules=(ImportedModule(name="gsplat", file="/f.py", origin="editable"),), facts={"kinds": {"a": [1]}},
)  # fmt: skip

RUN = RunRecord(
    name="a", command=("python", "ü.py"), started=datetime(2026, 11, 15, tzinfo=timezone.utc), seconds=1.5, limit=60.0,
    status="killed", exit_code=None, reason="ended by SIGKILL", manifest=Manifest(machine="m", dirty=("b",)),
    fallbacks=(ImportFallback(module="flash_attn", reason="not installed", where="a.py:1"),),
    kernels=(KernelTime(name="k", calls=2, microseconds=0.5),), backends={"attention": ("AOTriton",)},
    memory=PeakMemory(host=5), steps=(Steps(kind="optimizer", count=1, first_seconds=0.1, steady_seconds=None),),
    artifacts=(Artifact(path="a.ply", kind="splat", outcome="ok", metrics={"gaussians": 3}),),
    expectations=(ExpectationResult(expectation="points > 1", met=False, found="none"),),
)  # fmt: skip
LINK = Link(link="backend", there=False, what="no kernels were seen")

DOCUMENTS: list[Document] = [
    RUN,
    Bundle(repository="a", runs=(RUN,), chains=(Chain(run="a", links=(LINK,)),),
           files=(SealedFile(path="b", sha256=HEX),)),
    BundleCheck(bundle="a", sha256=HEX, altered=(AlteredFile(path="b", how="changed"),)),
    EvidenceDiff(
        a="a", b="b", links=(LinkPair(link="backend", a=LINK, b=LINK),),
        rows=(DiffRow(section="time", name="seconds", a="1", b="2", change="2.0 times"),), worse=("backend",),
    ),
    Matrix(
        columns=(MatrixColumn(repository="a", readiness="ready"),), free=(),
        rows=(MatrixRow(package="gsplat", family="gaussian", states={"a": "work"}),),
        order=(UnlockStep(package="gsplat", frees=("a",), waiting=1),),
    ),
    Smoke(
        machine="m", interpreter="/python", knowledge_date="2026-11-15",
        suites=(SuiteChecks(suite="gsplat", title="t",
                            looks=(LOOK, BackendCheck(probe="p", outcome="absent", reason="r"))),),
    ),
    Recording(
        command=("python", "-c", "ü"), exit_code=None, seed=3, machine="m", environment={"torch": "2"},
        files=(RecordedFile(name="a", path="files/a.npy", sha256=HEX, dtype="bfloat16"),),
        left_out=(OmittedOutput(name="x", reason="r"),),
    ),
    GoldenComparison(
        reference="a", candidate="b",
        tensors=(
            ComparedTensor(name="t", agrees=False, reason="r",
                           worst=WorstElement(index=(1, 2), got="nan", wanted="1.0")),
        ),
    ),
    Fit(
        model="m", title="M", gpu=GPU, as_of=date(2025, 10, 17), viability="Medium-Low", score=3,
        points=(FitPoint(effect=-2, why="w", source="s"),), closed=(),
        memory=(FitMemory(mode="full", gb=24.5, fits=True),), licence=None, advice=("a",),
    ),
    Scan(
        inventory=Inventory(
            repository="r", counts=FileCounts(files=3, bytes=2**40, python=1, cuda=1, manifests=1),
            dependencies=(Dependency(name="torch", requirement="torch>=2; python_version<'4'", location=PLACE),),
            extensions=(Extension(name="_C", how="jit", sources=("a.cu", "b.cpp"), location=PLACE),),
            families={"native-op": 2, "attention": 0}, skipped=(SkippedFile(path="x", reason="is a pipe"),),
            readiness="needs-edits", reasons=("one",),
        ),
        findings=(FINDING,),
    ),
    Plan(
        repository="r", gpu=GPU, stack=ChosenStack(id="rocm-7", reason="newest"), base=STACK,
        rejected_stacks=(RejectedAlternative(id="rocm-6", reason="older"),), decisions=(DECISION,),
        edits=(
            PlannedEdit(
                recipe="x", rewrite="guard_include", safety="safe", path="a.cu", findings=(FINDING,),
                parameters={"headers": ["a.h"], "deep": True, "width": 1, "name": "1", "none": []},
            ),
        ),
        answered=(FINDING,), left=(LEFT,), readiness="partial", warnings=("old",), knowledge_date="2026-11-15",
    ),
    Plan(
        repository="", gpu=GPU.model_copy(update={"vram_gb": None}), stack=None, base=None, rejected_stacks=(),
        decisions=(), edits=(), answered=(), left=(), readiness="ready", knowledge_date="2026-11-15",
    ),
    Patch(
        repository="r", folder="rocm-port", dry_run=True,
        changes=(
            FileChange(
                path="a.cu", kind="edited", before=HEX, after=HEX, recipes=("x",), diff="--- a\r\n+++ b\n",
                proof=Proof(kind="cpp-directives-evaluated", holds=True, detail="equal"),
            ),
            FileChange(
                path="b", kind="added", before=None, after=HEX, recipes=(), diff="",
                proof=Proof(kind="added-file", holds=False, detail=""),
            ),
        ),
        refused=(RefusedEdit(path="c.cu", recipe="x", reason="inside a macro"),), left=(LEFT,),
        tasks=(PortTask(path="c.cu", lines=(3, 9), code="CU101", reason="inside a macro", action="edit it by hand"),),
    ),
    ReviewAnswers(
        repository="r", answers=(ReviewAnswer(path="a.cu", recipes=("x", "y"), answer="no", shown=HEX),),
    ),
    Toolchains(
        found=(
            DetectedToolchain(kind="rocm", title="ROCm", hip="7.1.0"),
            DetectedToolchain(kind="wheels", title="w", headers="mixed", targets=("gfx942",), lacks="a download"),
        ),
    ),
    Inspection(
        name="x.whl", distribution="x 1", requires=("torch>=2",),
        binaries=(
            InspectedBinary(
                path="x/_C.so", device="amd", cuda=(), libraries=("libc.so.6",), python="3.12", cxx11_abi=False,
                targets=(TargetCode(gfx="gfx90a", features=("xnack+",), wave_sizes=(64,), kernels=2, empty_kernels=1),),
            ),
        ),
    ),
    Verdicts(
        repository="r", targets=("gfx942", "gfx90a"),
        verdicts=(PASSED, Verdict(level="import", probe="import_module", outcome="not_run", reason="no GPU")),
    ),
    Evidence(
        repository="r", made=datetime(2026, 11, 15, 1, 2, 3, 456789, tzinfo=timezone.utc), machine="none", gpu=GPU,
        documents=(SealedFile(path="plan.json", sha256=HEX),), files=(), verdicts=(PASSED,),
        tally=Tally(changed=1, left_for_person=0, rejected=2, not_verified=3),
        missing=(MissingLink(link="run", reason="no GPU"),),
    ),
    Snapshot(
        taken="2026-11-15", kernel="6.17", boot=("iommu=pt",), variables={"HIP_VISIBLE_DEVICES": "0"},
        gpus=(
            GraphicsCard(
                pci="0000:03:00.0", gfx="gfx1100", atomics=False, speed=16.0, bridges=(Bridge(pci="0", id="1022:1"),)
            ),
        ),
        devices=(DeviceFile(path="/dev/kfd", usable=False, group="render"),),
        processor=Processor(model="ü", l3=(CacheGroup(kib=98304, cpus="0-7"),)),
        rocm=(RocmInstall(form="pip", path="~/venv"),), caches=(KernelCache(variable="V", path="~", writable=True),),
        python=Interpreter(path="~/p", version="3.12", distributions=(InstalledDistribution(name="torch"),)),
    ),
    Diagnosis(
        machine="m", taken="2026-11-15", gpus=("gfx1100",), knowledge_date="2026-11-15", fine=("a",), elsewhere=(),
        problems=(
            Problem(
                id="p", title="t", severity="note", read=("r",), why="w", remedy=("do",), check="c",
                confidence="inferred", checked=date(2026, 1, 3), sources=(Source(where="a place"),),
            ),
        ),
        unread=(UncheckedCondition(id="u", title="t", reason="r"),),
    ),
    Ledger(
        fixes=(
            Fix(
                id="simple-knn-1", dependency="simple-knn", state="merged", links=("https://github.com/a/b/pull/1",),
                repositories=("r",), first=date(2026, 1, 2), changed=date(2026, 1, 3),
            ),
        ),
    ),
    Drafts(
        repository="r", files=(SealedFile(path="a/body.md", sha256=HEX),),
        drafts=(
            Draft(name="r", part="submodule", kind="pr", title="ü", folder="a", passed=1, failed=0, not_tested=2),
        ),
    ),
    JobsReport(
        name="n", folder="/f", engine="local", seconds_left=1.5,
        jobs=(JobState(id="a", state="timed_out", attempts=2, failures=1, interruptions=1, seconds=0.5, code=None),),
    ),
    BundleReport(name="train", sha256=HEX, bundle=Bundle(runs=(RUN,)), altered=(AlteredFile(path="a", how="link"),)),
]  # fmt: skip

NAMES = [f"{type(document).__name__}-{number}" for number, document in enumerate(DOCUMENTS)]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_document_cannot_be_changed(document):
    with pytest.raises(ValidationError, match="frozen"):
        document.schema_version = "9.9"


@pytest.mark.parametrize("document", DOCUMENTS, ids=NAMES)
def test_document_comes_back_equal_and_as_the_same_text(document):
    again = type(document).from_json(document.to_json(), "it")
    assert again == document
    assert again.to_json() == document.to_json()


def test_every_document_has_an_example():
    assert {type(document) for document in DOCUMENTS} == set(Document.__subclasses__())


@given(
    parameters=st.dictionaries(TEXT, TEXT | st.integers(-(2**60), 2**60) | st.booleans() | st.lists(TEXT, max_size=3))
)
def test_parameters_of_an_edit_keep_their_kinds(parameters):
    """1, True and "1" are three different parameters."""
    edit = PlannedEdit(
        recipe="x", rewrite="x", parameters=parameters, safety="safe", path="a", findings=(FINDING,)
    )  # fmt: skip
    again = PlannedEdit.model_validate_json(edit.model_dump_json())
    assert again.parameters == parameters
    assert {k: type(v) for k, v in again.parameters.items()} == {k: type(v) for k, v in parameters.items()}


@given(
    repository=TEXT, targets=st.lists(TEXT, max_size=3), reason=TEXT.filter(bool), checked=st.lists(TEXT, max_size=3)
)
def test_any_text_comes_back(repository, targets, reason, checked):
    verdict = Verdict(level="static", probe="p", outcome="failed", reason=reason, looked_at=tuple(checked))
    document = Verdicts(repository=repository, targets=tuple(targets), verdicts=(verdict,))
    assert Verdicts.from_json(document.to_json(), "it") == document


def test_stubs_and_substitutes_of_a_plan_are_named():
    plan = next(document for document in DOCUMENTS if isinstance(document, Plan))
    decisions = tuple(
        DECISION.model_copy(update={"name": decision, "decision": decision})
        for decision in ("keep", "drop", "replace", "build", "substitute", "stub", "blocked")
    )
    assert plan.stubs == ()
    assert [stub.name for stub in plan.model_copy(update={"decisions": decisions}).stubs] == ["substitute", "stub"]
