"""Build files that define ROCm macros for NVIDIA builds, or that switch on CMake's USE_ROCM.

A definition under a ROCm condition is none for NVIDIA builds. Names that a build computes are not found.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from rocm3d.syntax.cmake_fold import ROCM_SWITCH, CMakeFoldError, commands
from rocm3d.syntax.guard_macros import MACRO, GuardDefinition, string_definitions

_FLAG = re.compile(
    r"(?<![\w-])(?:[-/]D|--define-macro(?=[=\s\"',]))[=\s\"',]*(" + MACRO.decode() + r")\b(?:\s*=\s*[\"'\\]*(\w*))?",
)
_OFF = frozenset({"off", "no", "false", "n", "notfound"})
MENTIONS = re.compile(rb"(?:" + MACRO + rb")\b|USE_\$\{")  # also in -DUSE_ROCM
_ROCM_WORD = re.compile(r"(?<![A-Za-z])(?:rocm|hip|hipcc|hcc|amd|amdgpu)(?!64|[A-Za-z])", re.IGNORECASE)
_GENERATOR = re.compile(r"^\"?\$<\$<(?!NOT)[^>]*(?:rocm|hip)[^>]*>+:", re.IGNORECASE)
_LIST_OF_MACROS = re.compile(r"(?:^|_)(?<!undef_)(?:macros?|defines?|definitions|defs)$", re.IGNORECASE)
_TEXT_LIST = re.compile(
    r"(?:defines?|definitions|macros?)\s*(?:=|\+=|:)[^#\n]{0,200}[\"'](" + MACRO.decode() + r")[\"'=]"
)
# SCons, xmake, meson, autoconf and project files of Visual Studio.
_OTHER_BUILDERS = re.compile(
    r"\b(?:CPPDEFINES|add_defines|set(?:10|_quoted)?|AC_DEFINE\w*|PreprocessorDefinitions)\b\W[^#\n]{0,200}?"
    r"(?<![\w-])(" + MACRO.decode() + r")\b"
)
_IN_GENERATOR = re.compile(r"\$<.*:(" + MACRO.decode() + r")(?:=[^>]*)?>+\"?$")
_CMAKE_SETTING = re.compile(r"\bUSE_ROCM[\"']?\s*[:=]\s*[\"']?(?!off\b|no\b|false\b|0\b)\w", re.IGNORECASE)
_CMAKE_SETTING_FILES = re.compile(r"(?:^|/)(?:CMakePresets|CMakeUserPresets)\.json$|(?:^|/)pyproject\.toml$")
_BUILD_NAMES = frozenset(
    {"Makefile", "makefile", "GNUmakefile", "BUILD", "Dockerfile", "Jenkinsfile", "WORKSPACE", "SConstruct",
     "SConscript"}
)  # fmt: skip
_BUILD_SUFFIXES = frozenset(
    {".sh", ".bash", ".zsh", ".mk", ".make", ".bazel", ".bzl", ".build", ".toml", ".cfg", ".ini", ".yml", ".yaml",
     ".json", ".bat", ".ps1", ".ninja", ".gn", ".gni", ".pro", ".pri", ".env", ".rsp", ".options", ".opts",
     ".dockerfile", ".lua", ".nix", ".ac", ".am", ".m4", ".vcxproj", ".props", ".ipynb"}
)  # fmt: skip
_OPENS = re.compile(r"^\s*(?:if|ifeq|ifneq|ifdef|ifndef|case|elif|else if)\b(.*)")
_CLOSES = re.compile(r"^\s*(?:fi|endif|esac)\b")
# Commands that name USE_ROCM without giving it a value.
_READING_COMMANDS = frozenset(
    {b"if", b"elseif", b"else", b"endif", b"while", b"endwhile", b"message", b"mark_as_advanced", b"unset",
     b"add_feature_info"}
)  # fmt: skip


@dataclass(frozen=True)
class SwitchSetting:
    """One place that may switch on USE_ROCM for CMake."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line} sets {ROCM_SWITCH.decode()}"


Setting = GuardDefinition | SwitchSetting


def is_build_text(path: str) -> bool:
    name = PurePosixPath(path)
    return name.suffix.lower() in _BUILD_SUFFIXES or name.name.split(".")[0] in _BUILD_NAMES


def build_definitions(path: str, data: bytes) -> Iterator[Setting]:
    """Definitions and settings of one build file."""
    if not MENTIONS.search(data) or _is_for_rocm(path):
        return
    name = PurePosixPath(path)
    if name.suffix == ".py":
        yield from _python_definitions(path, data)
    elif name.name == "CMakeLists.txt" or name.suffix == ".cmake":
        yield from _cmake_definitions(path, data)
    elif is_build_text(path):
        yield from _text_definitions(path, data.decode("utf-8", "replace"))


def source_flags(path: str, data: bytes) -> Iterator[GuardDefinition]:
    """Flags in the strings of a C++ source, which compiles other source at run time."""
    if not MENTIONS.search(data):
        return
    for match in re.finditer(rb'"[-/]D\s*(' + MACRO + rb")\b", data):
        line = data.count(b"\n", 0, match.start()) + 1
        yield GuardDefinition(match[1].decode(), "defines", path, line)


def _is_for_rocm(path: str) -> bool:
    """Whether the file or its folder is named for ROCm, such as build-rocm.sh or Dockerfile.rocm."""
    return any(_ROCM_WORD.search(re.sub(r"[_.-]", " ", part)) for part in path.split("/"))


def _flags(text: str) -> Iterator[str]:
    """Macros that the text defines by a flag."""
    for macro, value in _FLAG.findall(text):
        if value.lower() not in _OFF:  # -DUSE_ROCM=OFF is a setting of CMake
            yield macro


# Python


def _python_definitions(path: str, data: bytes) -> Iterator[Setting]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from _text_definitions(path, data.decode("utf-8", "replace"))
        return
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node, is_macro_list in _nvidia_nodes(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
            continue
        for macro in _flags(node.value):
            yield GuardDefinition(macro, "defines", path, node.lineno)
        yield from string_definitions(path, node.lineno, node.value)
        macro = node.value.partition("=")[0]
        if is_macro_list and re.fullmatch(MACRO.decode(), macro):
            yield GuardDefinition(macro, "defines", path, node.lineno)


def _nvidia_nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, bool]]:
    """Nodes that run on NVIDIA machines, and whether each is in a list of macros such as `define_macros`."""
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, is_macro_list = stack.pop()
        yield node, is_macro_list
        if isinstance(node, (ast.If, ast.IfExp)):
            value = runs_on_nvidia(node.test)
            parts: list[ast.AST] = [node.test]
            body = node.body if isinstance(node.body, list) else [node.body]
            orelse = node.orelse if isinstance(node.orelse, list) else [node.orelse]
            parts += body if value is not False else []
            parts += orelse if value is not True else []
            stack += [(part, is_macro_list) for part in parts]
            continue
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And) and runs_on_nvidia(node.values[0]) is False:
            continue
        stack += [(child, is_macro_list or _names_macros(node, child)) for child in ast.iter_child_nodes(node)]


def _names_macros(node: ast.AST, child: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg is not None and _LIST_OF_MACROS.search(node.arg) is not None
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and child is node.value:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return any(_LIST_OF_MACROS.search(_last_name(target)) for target in targets)
    if isinstance(node, ast.Call) and child is not node.func:
        # define_macros.append(("USE_ROCM", None)), and two strings of a command: "-D", "USE_ROCM"
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        return _LIST_OF_MACROS.search(_last_name(owner)) is not None
    if isinstance(node, (ast.List, ast.Tuple)):
        index = node.elts.index(child) if child in node.elts else 0
        previous = node.elts[index - 1] if index else None
        return isinstance(previous, ast.Constant) and previous.value in ("-D", "/D", "--define-macro")
    return False


def runs_on_nvidia(test: ast.expr) -> bool | None:
    """The value of a condition on NVIDIA machines, judged by its names; None if it says nothing about ROCm."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = runs_on_nvidia(test.operand)
        return None if value is None else not value
    if isinstance(test, ast.BoolOp):
        values = [runs_on_nvidia(value) for value in test.values]
        decisive = isinstance(test.op, ast.Or)
        return decisive if decisive in values else None if None in values else not decisive
    text = ast.unparse(test)
    if not _ROCM_WORD.search(text.replace("_", " ")) or "hasattr" in text:
        return None
    return _comparison_on_nvidia(test) if isinstance(test, ast.Compare) else False


def _comparison_on_nvidia(test: ast.Compare) -> bool | None:
    """`hip is not None` and `backend == "rocm"` are false on NVIDIA machines; `hip is None` and `!=` are true."""
    if len(test.ops) != 1:
        return None
    right = test.comparators[0]
    is_off = isinstance(right, ast.Constant) and right.value in (None, False, 0)
    if isinstance(test.ops[0], (ast.Is, ast.Eq, ast.In)):
        return is_off
    return not is_off if isinstance(test.ops[0], (ast.IsNot, ast.NotEq, ast.NotIn)) else None


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


# CMake


def _cmake_definitions(path: str, data: bytes) -> Iterator[Setting]:
    """If the file does not parse, its lines are searched as text."""
    try:
        listed = list(commands(data))
    except CMakeFoldError:
        yield from _text_definitions(path, data.decode("utf-8", "replace"))
        if ROCM_SWITCH in data:
            yield SwitchSetting(path, 1)
        return
    branches: list[bool | None] = []  # the value of each open condition on NVIDIA machines
    for command in listed:
        arguments = [argument.decode("utf-8", "replace") for argument in command.arguments]
        if command.name == b"if":
            branches.append(_cmake_condition(arguments))
        elif command.name == b"elseif" and branches:
            branches[-1] = _cmake_condition(arguments)
        elif command.name == b"else" and branches:
            branches[-1] = None if branches[-1] is None else not branches[-1]
        elif command.name == b"endif" and branches:
            branches.pop()
        elif False not in branches:
            line = data.count(b"\n", 0, command.start) + 1
            yield from _cmake_command(path, line, command.name, arguments)


def _cmake_command(path: str, line: int, name: bytes, arguments: list[str]) -> Iterator[Setting]:
    texts = [text for text in arguments if not _GENERATOR.search(text)]
    if b"definition" in name or "COMPILE_DEFINITIONS" in texts:
        for text in texts:
            macro = text.strip('"').partition("=")[0].removeprefix("-D")
            if re.fullmatch(MACRO.decode(), macro):
                yield GuardDefinition(macro, "defines", path, line)
    for text in texts:
        for macro in (*_flags(text), *_IN_GENERATOR.findall(text)):
            yield GuardDefinition(macro, "defines", path, line)
        yield from string_definitions(path, line, text)  # file(WRITE config.h "#define USE_ROCM 0")
    if name in (b"set", b"list", b"foreach"):  # a list of macros, or of their names, for a later command
        for text in texts[1:]:
            if match := re.fullmatch(rf'"?({MACRO.decode()})(?:=.*)?', text):
                yield GuardDefinition(match[1], "defines", path, line)
    if name not in _READING_COMMANDS and _sets_switch(name, [text.strip('"') for text in arguments]):
        yield SwitchSetting(path, line)


def _sets_switch(name: bytes, arguments: list[str]) -> bool:
    """Whether a command may set USE_ROCM to anything but off; `set(USE_${X} ON)` may."""
    if name in (b"set", b"option", b"cmake_dependent_option"):
        first = arguments[0] if arguments else ""
        pattern = re.escape(first).replace(r"\$\{", "\0{")
        is_switch = first == ROCM_SWITCH.decode() or (
            first.startswith("USE_") and re.fullmatch(re.sub("\0\\{[^}]*\\}", ".*", pattern), "USE_ROCM") is not None
        )
        values = arguments[1:2] if name == b"set" else arguments[2:3]
        return is_switch and any(value.lower() not in _OFF | {"0", ""} for value in values)
    if b"definition" in name or b"compile" in name or name in (b"set_target_properties", b"set_property"):
        return False  # the same word is a macro there
    return ROCM_SWITCH.decode() in arguments


def _cmake_condition(arguments: list[str]) -> bool | None:
    """The value of an if() on NVIDIA machines; None if it says nothing about ROCm, or has parentheses."""
    if "(" in arguments:
        return None
    alternatives: list[bool | None] = []
    for alternative in " ".join(arguments).split(" OR "):
        values = [_cmake_term(term) for term in alternative.split(" AND ")]
        alternatives.append(False if False in values else None if None in values else True)
    return True if True in alternatives else None if None in alternatives else False


def _cmake_term(term: str) -> bool | None:
    if not _ROCM_WORD.search(term.replace("_", " ")):
        return None
    return term.strip().startswith("NOT ")


# Other build files


def _text_definitions(path: str, text: str) -> Iterator[Setting]:
    """Lines of a shell script, makefile or settings file, without those under a ROCm condition."""
    is_setting_file = _CMAKE_SETTING_FILES.search(path) is not None
    for number, code in _nvidia_lines(text):
        for macro in _flags(code):
            yield GuardDefinition(macro, "defines", path, number)
        for macro in (*_TEXT_LIST.findall(code), *_OTHER_BUILDERS.findall(code)):
            yield GuardDefinition(macro, "defines", path, number)
        yield from string_definitions(path, number, code)
        if is_setting_file and _CMAKE_SETTING.search(code):
            yield SwitchSetting(path, number)


def _nvidia_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines without comments; `if` and `case` are followed line by line."""
    branches: list[bool] = []  # whether each open condition is for ROCm
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"(?:^|\s)#(?!\s*define\s).*", "", line)
        if opened := _OPENS.match(code):
            is_rocm = _ROCM_WORD.search(opened[1].replace("_", " ")) is not None
            if re.match(r"^\s*el", code) and branches:
                branches.pop()
            branches.append(is_rocm and not re.search(r"!|-z|ifn|not", code))
        elif branches and _CLOSES.match(code):
            branches.pop()
        elif branches and re.match(r"^\s*else\b", code):
            branches[-1] = False
        elif branches and re.match(r"^\s*[\w*\"'|]+\)", code):  # a branch of `case`
            branches[-1] = _ROCM_WORD.search(code) is not None
        if not any(branches):
            yield number, code
