from __future__ import annotations

import hashlib
from datetime import datetime, timezone

import pytest

from rocm3d.evidence.bundle import CHAIN_LINKS, changed_since_sealed, seal_evidence
from rocm3d.model.evidence import Evidence, MissingLink, SealedRun

MADE = datetime(2026, 11, 15, 12, 0, tzinfo=timezone.utc)
FILES = {"plan.json": b"{}", "inventory.json": b"[]"}


@pytest.fixture
def sealed(documents):
    def run(files=FILES, **values) -> Evidence:
        return seal_evidence(*documents(**values), files, MADE, "Linux x86_64")

    return run


def test_nothing_moved(sealed):
    assert changed_since_sealed(sealed(), FILES) == []


def test_changed_document_moved(sealed):
    assert changed_since_sealed(sealed(), {**FILES, "plan.json": b"{ }"}) == ["plan.json"]


@pytest.mark.parametrize("now", [{"plan.json": b"{}"}, {"plan.json": b"{}", "inventory.json": None}])
def test_missing_document_moved(sealed, now):
    assert changed_since_sealed(sealed(), now) == ["inventory.json"]


def test_document_that_was_never_sealed_is_nobodys_business(sealed):
    assert changed_since_sealed(sealed(), {**FILES, "other.json": b""}) == []


def test_documents_are_sealed_by_digest_in_name_order(sealed):
    assert [(entry.path, entry.sha256) for entry in sealed().documents] == [
        ("inventory.json", hashlib.sha256(b"[]").hexdigest()),
        ("plan.json", hashlib.sha256(b"{}").hexdigest()),
    ]


def test_files_are_sealed_as_the_patch_left_them(sealed):
    assert [(entry.path, entry.sha256) for entry in sealed(changed=2).files] == [("f0", f"{0:064}"), ("f1", f"{1:064}")]


def test_every_link_is_missing_if_nothing_was_requested(sealed):
    assert [(entry.link, entry.reason) for entry in sealed().missing] == [
        (what, "not requested") for what in CHAIN_LINKS.values()
    ]


def test_missing_link_gives_the_reason(sealed):
    missing = sealed(outcomes=["not_run", "failed"], levels=["compile", "backend"]).missing

    assert {entry.link: entry.reason for entry in missing} == {
        CHAIN_LINKS["compile"]: "why compile",
        CHAIN_LINKS["backend"]: "why backend",
        CHAIN_LINKS["workload"]: "not requested",
    }


def test_link_with_a_passed_verdict_is_present(sealed):
    missing = sealed(outcomes=["not_run", "passed"], levels=["compile", "compile"]).missing

    assert CHAIN_LINKS["compile"] not in {entry.link for entry in missing}


@pytest.mark.parametrize(
    ("more", "present"),
    [
        ({}, True),
        ({"outcome": "failed"}, False),
        ({"of_these_sources": False}, False),
        ({"missing": (MissingLink(link="artifact", reason="the run wrote no artifact"),)}, False),
    ],
)
def test_a_workload_that_passed_still_needs_a_run_with_an_artifact(documents, more, present):
    run = SealedRun(folder="a", outcome="finished", of_these_sources=True).model_copy(update=more)
    built = documents(outcomes=["passed"], levels=["workload"])

    missing = seal_evidence(*built, {}, MADE, "m", iter([run])).missing

    assert (CHAIN_LINKS["workload"] not in {entry.link for entry in missing}) is present


def test_static_checks_are_no_link_of_the_chain(sealed):
    assert len(sealed(outcomes=["passed"]).missing) == len(CHAIN_LINKS)


def test_bundle_carries_verdicts_tally_and_machine(sealed):
    evidence = sealed(changed=1, outcomes=["passed", "not_run"])

    assert [entry.outcome for entry in evidence.verdicts] == ["passed", "not_run"]
    assert (evidence.tally.changed, evidence.tally.not_verified) == (1, 1)
    assert (evidence.machine, evidence.made, evidence.gpu.gfx) == ("Linux x86_64", MADE, "gfx942")
    assert Evidence.from_json(evidence.to_json(), "evidence.json") == evidence


def test_a_run_that_is_gone_or_another_now_has_moved(documents):
    plan, patch, verdicts = documents()
    stored = SealedRun(folder="train", sha256="0" * 64, outcome="finished")
    evidence = seal_evidence(plan, patch, verdicts, {}, MADE, "m", [stored])

    assert changed_since_sealed(evidence, {}) == []  # nobody looked
    assert changed_since_sealed(evidence, {}, [stored, SealedRun(folder="new", outcome="finished")]) == []
    assert changed_since_sealed(evidence, {}, []) == ["runs/train"]
    assert changed_since_sealed(evidence, {}, [stored.model_copy(update={"outcome": "altered"})]) == ["runs/train"]
