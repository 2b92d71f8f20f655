"""Finds, in source code, texts for people that no translator would ever see."""

import ast
import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NAMES = frozenset({"Viva Voce"})
"""What is called the same in every language."""

_FILE_PATTERNS = re.compile(r"\*?\.\w+")
_SETTERS = frozenset(
    {
        "DeviceChooser",
        "ElidedChoice",
        "ElidedLabel",
        "EngineError",
        "Notice",
        "QAction",
        "QCheckBox",
        "QFileDialog",
        "QGroupBox",
        "QLabel",
        "QLineEdit",
        "QListWidgetItem",
        "QMenu",
        "QMessageBox",
        "QPushButton",
        "QRadioButton",
        "QToolButton",
        "addAction",
        "addButton",
        "addItem",
        "addItems",
        "addMenu",
        "addTab",
        "drawText",
        "insertItem",
        "setAccessibleDescription",
        "setAccessibleName",
        "setDetailedText",
        "setHeaderLabels",
        "setInformativeText",
        "setItemText",
        "setLabelText",
        "setNameFilter",
        "setNameFilters",
        "setPlaceholderText",
        "setPlainText",
        "setPrefix",
        "setSpecialValueText",
        "setStatusTip",
        "setSuffix",
        "setTabText",
        "setText",
        "setTitle",
        "setToolTip",
        "setWhatsThis",
        "setWindowTitle",
        "set_placeholder",
        "showText",
        "show_message",
    }
)
"""Functions, methods and classes that show what they are given."""
_TITLED = frozenset({"Entry", "Switch", "Choice"})
"""Entries of menus: their first argument is shown, others are names and keys."""
_TRANSLATORS = frozenset({"tr", "tr_n"})
_MADE_OF_PARTS = (
    ast.JoinedStr,
    ast.FormattedValue,
    ast.BinOp,
    ast.BoolOp,
    ast.Tuple,
    ast.List,
    ast.Starred,
    ast.ListComp,
    ast.GeneratorExp,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """A text that is not translated, or not as it should be."""

    line: int
    text: str


def untranslated(source: str) -> tuple[Finding, ...]:
    """Return literals of two letters or more that are shown without `tr` or `tr_n`.

    Names are followed to where the same function or module sets them, and calls to what functions
    of the same module return.
    """
    tree = ast.parse(source)
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    module = _Scope(_names(tree.body), {})
    for function in functions:
        module.functions.setdefault(function.name, []).append(function)
    inside = {id(node) for function in functions for node in ast.walk(function)}
    outside = [node for node in ast.walk(tree) if id(node) not in inside]
    found = set()
    for nodes in (outside, *(list(ast.walk(function)) for function in functions)):
        scope = module.within(nodes)
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        for shown in (shown for call in calls for shown in _shown(call)):
            found |= {Finding(text.lineno, str(text.value)) for text in scope.texts(shown)}
    return tuple(sorted(found, key=lambda finding: (finding.line, finding.text)))


def ill_translated(source: str) -> tuple[Finding, ...]:
    """Return calls of `tr` and `tr_n` that a translation cannot work with.

    These are texts put together before they are translated, and braces without a value or values
    without braces.
    """
    found = []
    for call in ast.walk(ast.parse(source)):
        if not isinstance(call, ast.Call) or _name(call) not in _TRANSLATORS:
            continue
        is_counted = _name(call) == "tr_n"
        given = {keyword.arg for keyword in call.keywords} | ({"n"} if is_counted else set())
        for text in call.args[: 2 if is_counted else 1]:
            if isinstance(text, ast.JoinedStr | ast.BinOp | ast.Call):
                found.append(Finding(call.lineno, f"put together: {ast.unparse(text)}"))
            elif isinstance(text, ast.Constant) and None not in given and given:
                fields = {name for _, name, _, _ in string.Formatter().parse(str(text.value))}
                wanted = {name for name in fields if name is not None}
                if wanted - given or (given - wanted - {"n"}):
                    found.append(Finding(call.lineno, f"other values: {text.value!r}"))
            elif isinstance(text, ast.Constant) and "{" in str(text.value):
                found.append(Finding(call.lineno, f"no values: {text.value!r}"))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where names and functions are looked up, and those that are being followed already."""

    names: dict[str, list[ast.expr]]
    functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]]
    followed: frozenset[str] = frozenset()

    def within(self, nodes: Sequence[ast.AST]) -> "_Scope":
        return _Scope({**self.names, **_names(nodes)}, self.functions, self.followed)

    def texts(self, node: ast.AST) -> Iterator[ast.Constant]:
        """Return the literals for people that an expression may come to."""
        match node:
            case ast.Constant(value=str()) if _is_for_people(node):
                yield node
            case ast.Call():
                yield from self._texts_of_call(node)
            case ast.Name(id=name) if name not in self.followed:
                for value in self.names.get(name, []):
                    yield from self._following(name).texts(value)
            case ast.Dict(values=parts):
                yield from self._texts_of_all(parts)
            case ast.Subscript(value=value):
                yield from self.texts(value)
            case ast.IfExp(body=body, orelse=orelse):
                yield from self._texts_of_all([body, orelse])
            case _ if isinstance(node, _MADE_OF_PARTS):
                yield from self._texts_of_all(list(ast.iter_child_nodes(node)))

    def _texts_of_call(self, call: ast.Call) -> Iterator[ast.Constant]:
        name = _name(call)
        match call.func:
            case _ if name in _TRANSLATORS:
                return
            # "…".format(x), {…: "…"}.get(x, "…"), TEXTS.get(x), ", ".join([…])
            case ast.Attribute(value=ast.Constant() | ast.Dict() | ast.JoinedStr() as owner):
                yield from self._texts_of_all([owner, *call.args])
            case ast.Attribute(value=ast.Name(id=owner)) if owner != "self":
                yield from self.texts(call.func.value)
            case _ if f"{name}()" not in self.followed:
                for function in self.functions.get(name, []):
                    nodes = list(ast.walk(function))
                    scope = self._following(f"{name}()").within(nodes)
                    results = [node.value for node in nodes if isinstance(node, ast.Return)]
                    yield from scope._texts_of_all([value for value in results if value])

    def _texts_of_all(self, nodes: Sequence[ast.AST]) -> Iterator[ast.Constant]:
        for node in nodes:
            yield from self.texts(node)

    def _following(self, name: str) -> "_Scope":
        return _Scope(self.names, self.functions, self.followed | {name})


def _names(nodes: Sequence[ast.AST]) -> dict[str, list[ast.expr]]:
    values: dict[str, list[ast.expr]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            values.setdefault(node.target.id, []).append(node.value)
    return values


def _shown(call: ast.Call) -> list[ast.expr]:
    if _name(call) in _TITLED:
        return call.args[:1]
    if _name(call) in _SETTERS:
        # The topic of a notice is for programs.
        named = (keyword.value for keyword in call.keywords if keyword.arg != "topic")
        return [*call.args, *named]
    return []


def _name(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def _is_for_people(node: ast.Constant) -> bool:
    text = _FILE_PATTERNS.sub("", str(node.value))
    return sum(sign.isalpha() for sign in text) >= 2 and node.value not in NAMES
