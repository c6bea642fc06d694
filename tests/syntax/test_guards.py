from __future__ import annotations

import itertools
import shutil
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rocm3d.syntax.guards import assume_cuda, assume_rocm, fold_cpp, is_rocm_macro, shared_ranges


def fold(text: str) -> str:
    return fold_cpp(text.encode(), assume_cuda).decode()


UNTOUCHED = {
    "nothing of ours": "#if FOO\na\n#elif BAR\nb\n#else\nc\n#endif\n",
    "literal": "#if 0\na\n#endif\n",
    "arithmetic": "#if USE_ROCM == 1\na\n#endif\n",
    "choice": "#if defined(USE_ROCM) ? 1 : 0\na\n#endif\n",
    "name that only looks like ours": "#ifdef USE_ROCM_FFT\na\n#endif\n#if HIP_VERSION\nb\n#endif\n",
    "comment": "/*\n#ifdef USE_ROCM\n*/\na\n/*\n#endif\n*/\n",
    "spacing": "#  if   FOO  // why\n\ta\n#  endif\n",
    "lone else": "a\n#else\nb\n",
    "lone endif": "a\n#endif\nb\n",
    "lone elif": "a\n#elif USE_ROCM\nb\n",
    "open at the end": "#if FOO\na\n",
    "no newline": "#if FOO\na\n#endif",
    "if without condition": "#if\na\n#endif\n",
    "ifdef without name": "#ifdef\na\n#endif\n",
}


@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED)
def test_other_code_is_unchanged(text):
    assert fold(text) == text


FOLDED = {
    "ifdef": ("#ifdef USE_ROCM\na\n#endif\nb\n", "b\n"),
    "ifndef": ("#ifndef USE_ROCM\na\n#endif\nb\n", "a\nb\n"),
    "else": ("#if defined(USE_ROCM)\na\n#else\nb\n#endif\n", "b\n"),
    "bare name": ("#if USE_ROCM\na\n#else\nb\n#endif\n", "b\n"),
    "platform macro": ("#if defined(__HIP_PLATFORM_AMD__)\na\n#endif\n", ""),
    "device pass": ("#if __HIP_DEVICE_COMPILE__\na\n#endif\nb\n", "b\n"),
    "two guards": ("#if defined(USE_ROCM) || defined(__HIPCC__)\na\n#else\nb\n#endif\n", "b\n"),
    "undecided rest": ("#if defined(USE_ROCM) || FOO\na\n#endif\n", "#if FOO\na\n#endif\n"),
    "undecided with and": ("#if !defined(USE_ROCM) && FOO\na\n#endif\n", "#if FOO\na\n#endif\n"),
    "elif becomes if": ("#if USE_ROCM\na\n#elif FOO\nb\n#else\nc\n#endif\n", "#if FOO\nb\n#else\nc\n#endif\n"),
    "elif decided true becomes else": (
        "#if FOO\na\n#elif !USE_ROCM\nb\n#else\nc\n#endif\n",
        "#if FOO\na\n#else\nb\n#endif\n",
    ),
    "elif decided false vanishes": (
        "#if FOO\na\n#elif USE_ROCM\nb\n#else\nc\n#endif\n",
        "#if FOO\na\n#else\nc\n#endif\n",
    ),
    "only elif true": ("#if USE_ROCM\na\n#elif !defined(USE_ROCM)\nb\n#else\nc\n#endif\n", "b\n"),
    "elifdef": (
        "#ifdef FOO\na\n#elifdef USE_ROCM\nb\n#elifndef USE_ROCM\nc\n#endif\n",
        "#ifdef FOO\na\n#else\nc\n#endif\n",
    ),
    "nested in a dead branch": ("#if USE_ROCM\n#if FOO\na\n#else\nb\n#endif\n#endif\nc\n", "c\n"),
    "nested in a live branch": ("#if FOO\n#if USE_ROCM\na\n#endif\n#endif\n", "#if FOO\n#endif\n"),
    "define in a dead branch": ("#if USE_ROCM\n#define A 1\n#endif\n", ""),
    "CRLF": ("#if USE_ROCM\r\na\r\n#elif FOO\r\nb\r\n#endif\r\n", "#if FOO\r\nb\r\n#endif\r\n"),
    "no newline": ("#if USE_ROCM\na\n#endif", ""),
    "spliced condition": ("#if defined(USE_ROCM) \\\n || defined(__HIPCC__)\na\n#endif\nb\n", "b\n"),
    "open at the end": ("#if USE_ROCM\na\n", ""),
    "negated arithmetic": ("#if USE_ROCM\na\n#elif !(FOO > 3)\nb\n#endif\n", "#if !(FOO > 3)\nb\n#endif\n"),
    "string in a condition": (
        '#if USE_ROCM || __has_include("a.h")\na\n#endif\n',
        '#if __has_include("a.h")\na\n#endif\n',
    ),
}


@pytest.mark.parametrize(("text", "expected"), FOLDED.values(), ids=FOLDED)
def test_folds(text, expected):
    assert fold(text) == expected


def test_invalid_utf8_is_unchanged():
    assert fold_cpp(b"// \xe9\xff\n#if USE_ROCM\n\xff\n#endif\n\xe9", assume_cuda) == b"// \xe9\xff\n\xe9"


def test_deep_nesting_does_not_crash():
    assert fold("#if FOO\n" * 10_000 + "a\n" + "#endif\n" * 10_000).count("#if") == 10_000


@pytest.mark.parametrize("name", ["USE_ROCM", "__HIPCC__", "__HIP_PLATFORM_AMD__", "__HIP_DEVICE_COMPILE__", "__HIP__"])
def test_rocm_macros_are_guards(name):
    assert is_rocm_macro(name)
    assert assume_cuda(name) is False


@pytest.mark.parametrize("name", ["USE_CUDA", "__CUDACC__", "HIP_VERSION", "USE_ROCM_X", "", "FOO"])
def test_other_macros_are_unknown_on_both_sides(name):
    assert assume_cuda(name) is None
    assert assume_rocm(name) is None


def test_device_pass_macros_are_unknown():
    assert assume_rocm("__HIP_DEVICE_COMPILE__") is None
    assert assume_rocm("USE_ROCM") is True


# Code that both builds compile.


def shared(text: str) -> str:
    data = text.encode()
    return b"".join(data[start:end] for start, end in shared_ranges(data)).decode()


SHARED = {
    "no directives": ("a\nb\n", "a\nb\n"),
    "rocm branch and its else": ("#if USE_ROCM\na\n#else\nb\n#endif\nc\n", "c\n"),
    "not for rocm": ("#ifndef USE_ROCM\na\n#endif\nc\n", "c\n"),
    "literal zero": ("#if 0\na\n#else\nb\n#endif\n", "b\n"),
    "literal one": ("#if 1\na\n#else\nb\n#endif\n", "a\n"),
    "nested in zero": ("#if 0\n#if USE_ROCM\na\n#else\nb\n#endif\n#endif\nc\n", "c\n"),
    "rocm inside an unknown": ("#if FOO\na\n#if USE_ROCM\nb\n#endif\nc\n#endif\n", "#if FOO\na\nc\n#endif\n"),
    "unknown inside rocm": ("#if USE_ROCM\n#if FOO\na\n#endif\n#endif\nb\n", "b\n"),
    "device pass": ("#if __HIP_DEVICE_COMPILE__\na\n#else\nb\n#endif\n", "b\n"),
    "rocm or unknown": ("#if USE_ROCM || FOO\na\n#endif\n", "#if USE_ROCM || FOO\na\n#endif\n"),
    "empty": ("", ""),
}


@pytest.mark.parametrize(
    "case",
    [
        "no directives",
        "rocm branch and its else",
        "not for rocm",
        "literal zero",
        "literal one",
        "nested in zero",
        "unknown inside rocm",
        "empty",
    ],
)
def test_shared_text(case):
    text, expected = SHARED[case]
    assert shared(text) == expected


@pytest.mark.parametrize("case", ["rocm inside an unknown", "device pass", "rocm or unknown"])
def test_shared_code_lines(case):
    """Directives of an undecided chain may or may not count as shared."""
    text, expected = SHARED[case]
    assert [x for x in shared(text).splitlines() if x[0] != "#"] == [x for x in expected.splitlines() if x[0] != "#"]


# Compared with unifdef and with the preprocessor.

ATOMS = ["USE_ROCM", "__HIP_PLATFORM_AMD__", "FOO", "BAR"]


def conditions() -> st.SearchStrategy[str]:
    atom = st.sampled_from(ATOMS).flatmap(lambda name: st.sampled_from([f"defined({name})", f"defined {name}"]))
    numbers = st.sampled_from(["(FOO + 0 > 1)", "BAR + 0 == 1"])
    return st.recursive(
        st.one_of(atom, atom, numbers),
        lambda inner: st.one_of(
            inner.map(lambda text: f"!({text})"),
            st.tuples(inner, st.sampled_from([" && ", " || "]), inner).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
            st.tuples(atom, st.sampled_from([" && ", " || "]), atom).map("".join),
        ),
        max_leaves=5,
    )


def openers(*words: str) -> st.SearchStrategy[str]:
    plain, defined, undefined = words
    return st.one_of(
        conditions().map(lambda text: f"#{plain} {text}"),
        st.sampled_from(ATOMS).map(lambda name: f"#{defined} {name}"),
        st.sampled_from(ATOMS).map(lambda name: f"#{undefined} {name}"),
    )


def blocks() -> st.SearchStrategy[list[str]]:
    text = st.just(["text"])

    def chain(inner: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
        body = st.lists(inner, max_size=2).map(lambda parts: list(itertools.chain.from_iterable(parts)))
        elif_ = st.tuples(conditions().map(lambda c: f"#elif {c}"), body)
        return st.tuples(
            openers("if", "ifdef", "ifndef"), body, st.lists(elif_, max_size=2), st.one_of(st.none(), body)
        ).map(
            lambda t: [
                t[0],
                *t[1],
                *(line for token, lines in t[2] for line in (token, *lines)),
                *([] if t[3] is None else ["#else", *t[3]]),
                "#endif",
            ]
        )

    return st.recursive(text, lambda inner: st.one_of(chain(inner), st.tuples(inner, inner).map(lambda t: t[0] + t[1])))


def source(lines: list[str]) -> bytes:
    """Numbers each line of text, so that retained lines can be identified."""
    return "".join(f"{line}_{n};\n" if line == "text" else f"{line}\n" for n, line in enumerate(lines)).encode()


def preprocessed(data: bytes, *defines: str) -> bytes:
    command = ["cc", "-x", "c++", "-E", "-P", "-w", "-nostdinc", *defines, "-"]
    ended = subprocess.run(command, input=data, capture_output=True, check=False)
    assert ended.returncode == 0, (data, ended.stderr)
    return ended.stdout


NEGATED = ["#if defined(USE_ROCM)", "#elif !(FOO + 0 > 1)", "text", "#endif"]
ASSIGNMENTS = [("-UFOO", "-UBAR"), ("-DFOO=1", "-UBAR"), ("-UFOO", "-DBAR=1"), ("-DFOO=2", "-DBAR=1")]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no preprocessor here")
@given(blocks())
@example(NEGATED)
def test_the_preprocessor_sees_the_same_text_before_and_after(lines):
    data = source(lines)
    after = fold_cpp(data, assume_cuda)
    for assignment in ASSIGNMENTS:
        assert preprocessed(after, *assignment) == preprocessed(data, *assignment)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no preprocessor here")
@given(blocks())
def test_no_known_rocm_macro_remains(lines):
    """Defining the macros after folding has no effect: they no longer occur."""
    after = fold_cpp(source(lines), assume_cuda)
    rocm = ("-DUSE_ROCM", "-D__HIP_PLATFORM_AMD__=1")
    assert preprocessed(after, "-DFOO=1", *rocm) == preprocessed(after, "-DFOO=1")


@given(blocks())
@example(NEGATED)
def test_unifdef_agrees(lines):
    if shutil.which("unifdef") is None or shutil.which("cc") is None:
        pytest.skip("unifdef or cc is not installed")
    data = source(lines)
    command = ["unifdef", "-UUSE_ROCM", "-U__HIP_PLATFORM_AMD__", "-U__HIPCC__"]
    ended = subprocess.run(command, input=data, capture_output=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    ours = fold_cpp(data, assume_cuda)
    for assignment in ASSIGNMENTS:
        assert preprocessed(ours, *assignment) == preprocessed(ended.stdout, *assignment)


@given(blocks())
def test_folding_is_idempotent(lines):
    once = fold_cpp(source(lines), assume_cuda)
    assert fold_cpp(once, assume_cuda) == once


@given(st.lists(st.sampled_from(["#if USE_ROCM", "#if FOO", "#elif FOO", "#else", "#endif", "text", "/*", "*/", '"'])))
def test_unbalanced_directives_do_not_raise(lines):
    data = source(lines)
    retained = fold_cpp(data, assume_cuda).splitlines()
    assert [line for line in retained if line.startswith(b"text")] == [
        line for line in data.splitlines() if line.startswith(b"text") and line in retained
    ]
