"""Packages that the plan installs with separate commands, each from its index."""

from __future__ import annotations

from rocm3d.verify.probes.resolve_routes import probe


def pip(*words: str) -> tuple[tuple[str, ...], ...]:
    return (("pip", "install", *words),)


def test_packages_of_an_unreachable_index_are_not_run(index, ported, make_decision):
    away = "http://127.0.0.1:9/simple"
    routed = make_decision(
        "gsplat", "replace", index=away, commands=pip("--index-url", away, "--no-deps", "amd-gsplat")
    )

    (verdict,) = probe.attempt(ported(decisions=[routed]))

    assert verdict.outcome == "not_run"
    assert verdict.reason.startswith(f"amd-gsplat: its index {away} does not respond: ")


def test_other_packages_are_resolved_all_the_same(index, ported, make_decision):
    away = "http://127.0.0.1:9/simple"
    index.wheel("near", "1.0")
    decisions = [
        make_decision("far", "replace", requirement="far-rocm", index=away),
        make_decision("other", "replace", requirement="near", commands=pip("--no-deps", "near")),
    ]

    far, near = probe.attempt(ported(decisions=decisions))

    assert (far.outcome, far.reason.split(":")[0]) == ("not_run", "far-rocm")
    assert (near.outcome, near.looked_at[0].split(":")[0]) == ("passed", "other (pip install --no-deps near)")


def test_a_name_or_password_of_an_index_is_not_shown(index, ported, make_decision):
    secret = "http://user:secret@127.0.0.1:9/simple"

    (verdict,) = probe.attempt(ported(decisions=[make_decision("far", "replace", requirement="far", index=secret)]))

    assert "secret" not in verdict.reason


def test_a_route_that_brings_cuda_is_a_failure(index, ported, make_decision):
    index.wheel("near", "1.0", "nvidia-cudnn-cu12")
    index.wheel("nvidia-cudnn-cu12", "9.1")

    (verdict,) = probe.attempt(ported(decisions=[make_decision("x", "replace", requirement="near")]))

    assert verdict.outcome == "failed"
    assert "near -> nvidia-cudnn-cu12" in verdict.reason


def test_no_deps_resolves_no_dependencies(index, ported, make_decision):
    index.wheel("near", "1.0", "nvidia-cudnn-cu12")
    routed = make_decision("x", "replace", commands=pip("--no-deps", "near"))

    assert [item.outcome for item in probe.attempt(ported(decisions=[routed]))] == ["passed"]


def test_only_the_index_of_the_route_is_used(index, ported, make_decision, tmp_path):
    """A package of the same name on the machine's index must not be used."""
    index.wheel("near", "1.0")
    other = index.url.replace("/simple", "/other")
    routed = make_decision("x", "replace", requirement="near", index=other)

    (verdict,) = probe.attempt(ported(decisions=[routed]))

    assert verdict.outcome == "failed"
    assert "near" in verdict.reason


def test_source_builds_are_skipped(index, ported, make_decision):
    built = make_decision("flash-attn", "build", commands=pip("--no-build-isolation", "--no-deps", "flash-attn"))

    (verdict,) = probe.attempt(ported(decisions=[built]))

    assert verdict.outcome == "skipped"


def test_an_unreachable_url_is_named(index, ported, make_decision):
    wheel = "http://127.0.0.1:9/pytorch3d-0.7.9-cp312-cp312-linux_x86_64.whl"

    (verdict,) = probe.attempt(
        ported(decisions=[make_decision("pytorch3d", "replace", commands=pip("--no-deps", wheel))])
    )

    assert verdict.outcome == "not_run"
    assert verdict.reason.startswith("pytorch3d: http://127.0.0.1:9/")
