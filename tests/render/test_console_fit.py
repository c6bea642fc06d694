"""`fit` on a terminal."""

from __future__ import annotations

from rocm3d.render.console import render, summary

EVIL = "a\x1b[31mred\x07\r\u202ertl"


def test_control_characters_of_the_repository_never_reach_the_terminal(make):
    document = make.fit(make.decision(EVIL, "blocked", EVIL), title=EVIL)

    for text in (render(document), summary(document)):
        assert [character for character in ("\x1b", "\x07", "\r", "\u202e") if character in text] == []
    assert "requires CUDA" in render(document)


def test_an_unknown_repository_has_no_score_and_reports_it(make):
    document = make.fit(known=False)

    assert "demo on AMD Instinct MI300X, knowledge of 2026-11-15: unknown" in render(document)
    assert "not a known repository; its memory needs are unknown" in render(document)
    assert summary(document) == "no score: this repository is not in the knowledge base\n"


def test_a_known_one_has_memory_advice_terms_and_score(make):
    text = render(make.fit())

    assert "  memory: whole, 100 GB: fits, 1 job at once [a README]\n" in text
    assert "  note: jobs at once: " in text
    assert "  offload: every known mode fits" in text
    assert "  advice: try it\n" in text
    assert "  licence: terms. no more\n" in text
    assert summary(make.fit()) == "5 of 5: very good\n"


def test_the_comparison_has_its_three_answers_what_decides_and_sources(make):
    text = render(make.fit(make.decision("kaolin", "stub")), width=160)

    assert "\nCUDA, ROCm or hybrid: AMD Instinct MI300X compared with H100 (memory nearest to 192 GB)\n" in text
    for line in ("\nCUDA\n", "\nROCm\n", "\nhybrid\n", "\nconclusion: ROCm if you can", "\nnote: H100: a note\n"):
        assert line in text
    assert text.count("\nsource: ") == 2


def test_without_a_comparison_nothing_is_shown(make):
    text = render(make.fit().model_copy(update={"comparison": None}))

    assert "hybrid" not in text
