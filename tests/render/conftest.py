"""Hand-made documents with hostile text, one set for every renderer."""

from __future__ import annotations

from datetime import date, datetime, timezone
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest

from rocm3d.evidence.chain import evidence_chain
from rocm3d.knowledge.base import Knowledge
from rocm3d.model import run as of_run
from rocm3d.model.artifact import Artifact, Preview
from rocm3d.model.bundle import ReportedRun
from rocm3d.model.card import Card, Price
from rocm3d.model.evidence import Evidence, MissingLink, SealedFile, Tally
from rocm3d.model.finding import Finding
from rocm3d.model.fit import Fit
from rocm3d.model.inventory import FileCounts, Inventory, Scan, SkippedFile
from rocm3d.model.package import Licence
from rocm3d.model.patch import FileChange, Patch, Proof, RefusedEdit
from rocm3d.model.plan import ChosenStack, DependencyDecision, Plan, RejectedAlternative, UnresolvedFinding
from rocm3d.model.port import MemoryNeed, Port
from rocm3d.model.port_state import RUNGS, PortState, Rung
from rocm3d.model.run import (
    ExpectationResult,
    ImportFallback,
    InstalledPackage,
    KernelTime,
    LoadedModule,
    Manifest,
    MemoryPoint,
    RunRecord,
    Steps,
)  # fmt: skip
from rocm3d.model.source import Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Gpu, Product, Target
from rocm3d.model.task import PortTask
from rocm3d.model.verdict import Verdict, Verdicts
from rocm3d.plan.comparison import ComparisonRequest
from rocm3d.plan.fitness import fitness

FACT = {"checked": date(2026, 11, 1), "confidence": "reported", "sources": (Source(where="a/b@c", says="so"),)}
GPU = Gpu(gfx="gfx942", product="mi300x", title="AMD Instinct MI300X", wave_size=64, vram_gb=192)


def finding(path="csrc/a.cu", line=2, column=12, message="the launch is spaced", hint="close it", **values) -> Finding:
    arguments = {"code": "CU301", "rule": "spaced_launch", "severity": "error", **values}
    return Finding(path=path, line=line, column=column, message=message, hint=hint, **arguments)


def scan(*findings: Finding, repository="demo", skipped=()) -> Scan:
    inventory = Inventory(
        repository=repository,
        counts=FileCounts(files=3, bytes=9, python=1, cuda=1, manifests=1),
        dependencies=(),
        extensions=(),
        families={},
        skipped=tuple(SkippedFile(path=p, reason=r) for p, r in skipped),
        readiness="needs-edits",
        reasons=("spaced_launch: 1",),
    )
    return Scan(inventory=inventory, findings=findings)


def decision(name, kind, reason="because", **values) -> DependencyDecision:
    return DependencyDecision(name=name, package=name, decision=kind, route="r", reason=reason, **values)


def plan(*decisions: DependencyDecision, repository="demo", feasible=True, left=(), warnings=()) -> Plan:
    stack = Stack(
        id="s1",
        title="ROCm base",
        platforms=("linux",),
        form="container",
        rocm="7.1",
        torch="2.9.0",
        python="3.12",
        gfx=("gfx942",),
        released=date(2026, 10, 1),
        image="rocm/pytorch:x",
        **FACT,
    )
    return Plan(
        repository=repository,
        gpu=GPU,
        stack=ChosenStack(id="s1", reason="0 blocked") if feasible else None,
        base=stack if feasible else None,
        rejected_stacks=(RejectedAlternative(id="s0", reason="has no code for gfx942"),),
        decisions=decisions,
        edits=(),
        answered=(),
        left=tuple(UnresolvedFinding(finding=f, reason="no recipe") for f in left),
        readiness="needs-edits" if feasible else "blocked",
        warnings=warnings,
        knowledge_date="2026-11-15",
    )


def patch(*changes: FileChange, repository="demo", dry_run=False, refused=(), left=()) -> Patch:
    return Patch(
        repository=repository,
        folder="rocm-port",
        dry_run=dry_run,
        changes=changes,
        refused=tuple(RefusedEdit(path=p, recipe="header", reason=r, kind=kind) for p, r, kind in refused),
        left=tuple(UnresolvedFinding(finding=f, reason="no recipe") for f in left),
        tasks=tuple(task(f) for f in left),
    )


def task(unresolved: Finding) -> PortTask:
    return PortTask(
        path=unresolved.path,
        lines=(unresolved.line,),
        code=unresolved.code,
        rule=unresolved.rule,
        reason="no recipe",
        action=unresolved.hint,
        example_before="before();",
        example_after="after();",
    )


def change(path="csrc/a.cu", diff="", holds=True, kind="edited") -> FileChange:
    proof = Proof(kind="cpp-directives-evaluated", holds=holds, detail="byte-identical" if holds else "not the same")
    return FileChange(
        path=path, kind=kind, before="0" * 64, after="1" * 64, recipes=("header",), proof=proof, diff=diff
    )


def verdicts() -> Verdicts:
    result = (
        Verdict(level="static", probe="match_patch", outcome="passed", looked_at=("csrc/a.cu",)),
        Verdict(level="static", probe="prove_isolation", outcome="failed", reason="the guard leaks", looked_at=("x",)),
        Verdict(level="static", probe="find_leftovers", outcome="skipped", reason="the plan has no edit"),
        Verdict(level="compile", probe="any", outcome="not_run", reason="no compiler is here"),
    )
    return Verdicts(repository="demo", targets=("gfx942",), verdicts=result)


def state(tasks=0, blocked=(), stubs=(), **rungs: Rung) -> PortState:
    """Complete, except for these rungs."""
    every = tuple(rungs.get(name, Rung(name=name, outcome="complete", done=1, total=1)) for name in RUNGS)
    following = next((rung.next for rung in every if rung.next), "")
    return PortState(rungs=every, tasks=tasks, blocked=blocked, stubs=stubs, next=following)


def failed_state() -> PortState:
    """The state of the documents here."""
    return state(
        tasks=1,
        stubs=("gsplat",),
        edited=Rung(name="edited", outcome="failed", reason="the guard leaks", open_items=("static prove_isolation",)),
        compiled=Rung(
            name="compiled", outcome="not_run", reason="no compiler is here", next="rocm3d toolchain prepare"
        ),
        ran=Rung(name="ran", outcome="not_run", reason="no run", next="rocm3d run -- CMD ..."),
    )


def evidence(repository="demo", tally=(4, 3, 2, 1), state=None) -> Evidence:
    names = ("changed", "left_for_person", "rejected", "not_verified")
    return Evidence(
        repository=repository,
        made=datetime(2026, 11, 15, 12, 30, tzinfo=timezone.utc),
        machine="Linux x86_64",
        gpu=GPU,
        documents=(SealedFile(path="plan.json", sha256="0" * 64),),
        files=(),
        verdicts=(),
        tally=Tally(**dict(zip(names, tally, strict=True))),
        missing=(MissingLink(link="machine code", reason="no compiler"),),
        state=state or failed_state(),
    )


def fit(*decisions: DependencyDecision, title="demo", known=True) -> Fit:
    """A checkout on MI300X, compared with one NVIDIA card."""
    source = Source(where="a price list")
    mode = MemoryNeed(mode="whole", gb=100, known=date(2026, 1, 1), source=Source(where="a README"))
    price = Price(way="rent", low=1, high=2, currency="USD", known=date(2026, 11, 1), source=source)
    card = Card(
        id="h100", title="H100", vendor="nvidia", memory_gb=80, memory_kind="HBM3", fp8="ocp", matrix="tensor",
        prices=(price,), notes=("a note",), **FACT,
    )  # fmt: skip
    own = Card(id="mi300x", title="MI300X", vendor="amd", memory_kind="HBM3", **FACT)
    target = Target(
        gfx="gfx942", title="t", architecture="cdna", default_product="mi300x", wave_size=64, fp8="fnuz", matrix="mfma",
        lds_kib=64, rocm="", products=(Product(id="mi300x", title=GPU.title, vram_gb=192),), **FACT,
    )  # fmt: skip
    port = Port(
        id="demo", title=title, tier=1, families=(), memory=(mode,), advice=("try it",),
        licence=Licence(name="terms", wording="no more"), **FACT,
    )  # fmt: skip
    knowledge = Knowledge(
        date=date(2026, 11, 15), targets={"gfx942": target}, cards={"mi300x": own, "h100": card}, codes={}, stacks={},
        packages={}, families={}, recipes={}, examples={}, places={},
    )  # fmt: skip
    planned = plan(*decisions, repository=title)
    return fitness(
        ComparisonRequest(GPU, knowledge, knowledge.date, plan=planned), port if known else None, knowledge.date
    )


VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Balanced tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


@pytest.fixture(scope="session")
def read():
    """A page as a browser parses it."""
    return Page


# One pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def artifact(path="out/scene.ply", **values) -> Artifact:
    fields = {
        "kind": "splat", "format": "PLY", "bytes": 2048, "outcome": "ok", "metrics": {"gaussians": 40000},
        "preview": Preview(histogram=(1, 2, 3), picture=PNG), **values,
    }  # fmt: skip
    return Artifact(path=path, **fields)


def run(name="train", **values) -> RunRecord:
    """A run on an AMD GPU with data for every chart."""
    gib = 1024**3
    fields = {
        "command": ("python", "train.py"),
        "started": datetime(2026, 11, 15, 13, 0, tzinfo=timezone.utc),
        "seconds": 128.4,
        "limit": 1800.0,
        "status": "finished",
        "exit_code": 0,
        "manifest": Manifest(
            machine="Linux x86_64", gpu="AMD Instinct MI300X", gfx="gfx942", gpu_bytes=192 * gib, rocm="7.1",
            torch="2.11", commit="c" * 40, packages=(InstalledPackage(name="torch", version="2.11"),),
        ),
        "kernels": (
            KernelTime(name="attn_fwd", calls=8, microseconds=900.0, backend="AOTriton", operation="attention"),
            KernelTime(name="odd", calls=1, microseconds=2.0, backend="not known by name", operation="other"),
        ),
        "profiled_seconds": 0.5,
        "backends": {"attention": ("AOTriton",), "copy": ("copy engine",)},
        "memory": of_run.PeakMemory(
            gpu_allocated=11 * gib, gpu_reserved=14 * gib, host=5 * gib,
            gpu_points=tuple(MemoryPoint(seconds=at, bytes=int(at * gib)) for at in (1, 2, 4)),
            host_points=tuple(MemoryPoint(seconds=at, bytes=gib) for at in (1, 2, 3)),
        ),
        "steps": (
            Steps(kind="optimizer", count=9, first_seconds=14.0, steady_seconds=0.2,
                  points=(14.0, 0.2, 0.21, 0.19), every=2),
        ),
        "artifacts": (artifact(),),
        **values,
    }  # fmt: skip
    return RunRecord(name=name, **fields)


def joined(record: RunRecord | None = None, folder="train", **values) -> ReportedRun:
    record = record or run()
    return ReportedRun(folder=folder, run=record, chain=evidence_chain(record), **values)


def hostile_run(text: str) -> RunRecord:
    """A run with hostile text in every field."""
    about = Manifest(
        machine=text, gpu=text, gfx=text, torch=text, driver=text, commit=text, dirty=(text,), variables={text: text},
        packages=(InstalledPackage(name=text, version=text, origin=text),),
    )  # fmt: skip
    bad = artifact(text, outcome="bad", problems=(text,), metrics={text: 1}, unread=(text,), format=text,
                   preview=Preview(picture=text))  # fmt: skip
    return run(
        text, command=(text,), manifest=about, reason=text, backends={text: (text,)}, cold_caches=(text,),
        kernels=(KernelTime(name=text, calls=1, microseconds=1.0, backend=text, operation=text),),
        modules=(LoadedModule(name=text, file=text, version=text, stands_in=text),),
        fallbacks=(ImportFallback(module=text, reason=text, where=text),),
        steps=(Steps(kind=text, count=3, first_seconds=1.0, steady_seconds=0.1, points=(1.0, 0.1, 0.1)),),
        files=(SealedFile(path=text, sha256=text),), artifacts=(bad,), libraries=(text,),
        expectations=(ExpectationResult(expectation=text, met=False, found=text),),
        missing=(MissingLink(link=text, reason=text),),
    )  # fmt: skip


@pytest.fixture(scope="session")
def make():
    return SimpleNamespace(
        fit=fit,
        FACT=FACT,
        finding=finding,
        scan=scan,
        decision=decision,
        plan=plan,
        patch=patch,
        change=change,
        verdicts=verdicts,
        evidence=evidence,
        state=state,
        rung=Rung,
        artifact=artifact,
        run=run,
        joined=joined,
        hostile_run=hostile_run,
        PNG=PNG,
    )
