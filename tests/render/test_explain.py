from __future__ import annotations

from datetime import date

import pytest

from rocm3d.model.card import Card, Cloud, Price
from rocm3d.model.code import Code
from rocm3d.model.family import Family
from rocm3d.model.package import Licence, Package, Route
from rocm3d.model.recipe import Recipe
from rocm3d.model.source import Source
from rocm3d.model.stack import Stack
from rocm3d.model.target import Product, Target
from rocm3d.render.explain import render

LIST = Source(where="a price list")
PRICE = Price(way="rent", low=2.5, high=6, currency="USD", known=date(2026, 11, 1), source=LIST)
CLOUD = Cloud(available="yes", where="somewhere", known=date(2026, 11, 1), source=LIST)


def rival(fact, **values):
    arguments = {
        "memory_gb": 80,
        "memory_kind": "HBM3",
        "fp8": "ocp",
        "matrix": "tensor",
        "bandwidth_gbs": 3350,
        **values,
    }
    return Card(id="h100", title="H100", vendor="nvidia", **arguments, **fact)


def records(fact):
    route = Route(
        id="wheel",
        decision="replace",
        summary="take the wheel",
        rank=1,
        rocm=">=7",
        gfx=("gfx942",),
        env={"A": "b"},
        commands=(("pip", "install", "x y"),),
        proof="kernel names",
        traps=("slow",),
        **{**fact, "checked": date(2026, 9, 9)},
    )
    return {
        "code": Code(
            code="CU301",
            rule="spaced_launch",
            severity="error",
            message="spaced",
            hint="close",
            help="long",
            cdna="wide",
            rdna="narrow",
            example="k<< <",
            terms={"x": "y"},
            since="0.1.0",
            **fact,
        ),
        "package": Package(
            id="gsplat",
            pip=("gsplat",),
            imports=("gsplat",),
            family="gaussian",
            purpose="splats",
            licence=Licence(name="MIT", note="free", wording="an example"),
            traps=("t",),
            routes=(route,),
            **fact,
        ),
        "target": Target(
            gfx="gfx942",
            title="CDNA3",
            architecture="cdna",
            wave_size=64,
            fp8="fnuz",
            matrix="mfma",
            products=(Product(id="mi300x", title="MI300X", vram_gb=192), Product(id="apu", title="APU")),
            default_product="mi300x",
            lds_kib=64,
            rocm=">=6",
            override="none",
            hazards=("hot",),
            **fact,
        ),
        "stack": Stack(
            id="s",
            title="Base",
            platforms=("linux",),
            form="container",
            rocm="7.1",
            torch="2.9.0",
            python="3.12",
            image="rocm/pytorch:x",
            gfx=("gfx942",),
            released=date(2026, 1, 2),
            **fact,
        ),
        "family": Family(
            id="gaussian",
            title="Splatting",
            fails_by="not building",
            try_first="gsplat",
            evidence=("imports",),
            examples=("3dgs",),
            **fact,
        ),
        "recipe": Recipe(
            id="r",
            title="Do it",
            code="CU301",
            family="gaussian",
            rewrite="guard_include",
            safety="safe",
            why="so that",
            changes_for_user="nothing",
            since="0.1.0",
            **fact,
        ),
    }


@pytest.mark.parametrize("kind", ["code", "package", "target", "stack", "family", "recipe"])
def test_every_record_ends_with_its_date_and_sources(make, kind):
    text = render(records(make.FACT)[kind])

    assert text.endswith("\nchecked 2026-11-01, reported\n  source: a/b@c (so)\n")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "code",
            [
                "CU301 spaced_launch (error, active, since 0.1.0)",
                "spaced\nlong",
                "what to do: close",
                "CDNA: wide",
                "RDNA: narrow",
                "example: k<< <",
                "  - x: y",
            ],
        ),
        (
            "package",
            [
                "gsplat: splats",
                "licence: MIT (free)",
                "suggested wording: an example",
                "  - t",
                "route wheel (rank 1, active)",
                "  for ROCm >=7; gfx942",
                "  A=b",
                "  $ pip install 'x y'",
                "  proof: kernel names",
                "  trap: slow",
                "  checked 2026-09-09, reported\n    source: a/b@c (so)",
            ],
        ),
        (
            "target",
            [
                "gfx942: CDNA3 (cdna)",
                "waves of 64 lanes, LDS 64 KiB",
                "  mi300x: MI300X, 192 GB (default)",
                "  apu: APU, shared memory\n",
                "HSA_OVERRIDE_GFX_VERSION: none",
                "  - hot",
            ],
        ),
        (
            "stack",
            [
                "s: Base",
                "ROCm 7.1, torch 2.9.0, Python 3.12, container, released 2026-01-02",
                "image: rocm/pytorch:x",
                "targets: gfx942",
            ],
        ),
        ("family", ["gaussian: Splatting", "fails by: not building", "try first: gsplat", "  - imports", "  - 3dgs"]),
        (
            "recipe",
            [
                "r: Do it (safe, active, since 0.1.0)",
                "fixes CU301 with rewrite guard_include",
                "so that",
                "for the user: nothing",
            ],
        ),
    ],
)
def test_record_shows_its_content(make, kind, expected):
    text = render(records(make.FACT)[kind])

    assert [part for part in expected if part not in text] == []


def test_routes_come_by_rank_whatever_their_status(make):
    package = records(make.FACT)["package"]
    first = package.routes[0].model_copy(update={"id": "zeroth", "rank": 1})
    second = first.model_copy(update={"id": "refuted-one", "rank": 2, "status": "refuted"})
    text = render(package.model_copy(update={"routes": (second, first)}))

    assert text.index("route zeroth") < text.index("route refuted-one (rank 2, refuted)")


def test_what_a_route_takes_and_needs_is_shown(make):
    package = records(make.FACT)["package"]
    more = {"loses": "half", "needs": {"numpy": "<2"}, "moves": {"torch": "2.9.1"}, "unless_imported": True}
    text = render(package.model_copy(update={"routes": (package.routes[0].model_copy(update=more),)}))

    for line in (
        "loses: half",
        "needs numpy <2",
        "moves torch to 2.9.1",
        "only if the program does not import",
    ):
        assert f"  {line}" in text


def test_every_shipped_record_can_be_explained(knowledge):
    tables = (
        knowledge.codes,
        knowledge.targets,
        knowledge.stacks,
        knowledge.packages,
        knowledge.families,
        knowledge.recipes,
    )
    texts = [(record, render(record)) for table in tables for record in table.values()]

    assert texts
    assert [r for r, text in texts if f"checked {r.checked}" not in text or r.sources[0].where not in text] == []


def test_a_card_shows_price_and_cloud_with_their_sources(make):
    text = render(rival(make.FACT, prices=(PRICE,), cloud=CLOUD))

    assert "80 GB HBM3, 3350 GB/s\n" in text
    assert "rent: USD 2.5 to 6, 2026-11-01 [a price list]\n" in text
    assert "cloud: yes, somewhere, 2026-11-01 [a price list]\n" in text


def test_a_card_without_a_price_reports_it(make):
    text = render(rival(make.FACT, bandwidth_gbs=None, unified=True, notes=("Arm",)))

    assert "80 GB HBM3, bandwidth unknown, shared with the processor\n" in text
    assert "bf16 unknown, FP8 ocp, matrix tensor\n" in text
    assert "price unknown\n" in text
    assert "notes:\n  - Arm\n" in text
