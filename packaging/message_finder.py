"""Finds, in source code, every message that people may meet: errors, notices and reasons."""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeVar

from message_source import (
    Module,
    Scope,
    assigned,
    bind,
    called,
    calls,
    deeper,
    name_of,
    parameters,
    read_module,
)
from message_words import TRANSPARENT, placeholder

_N = TypeVar("_N", bound=ast.AST)
_ROOT_ERROR = "EngineError"
# Where each part stands among the positional arguments; all of them can be keywords, too.
_PARTS: Mapping[str, Mapping[str, int]] = {
    "Notice": {"severity": 0, "message": 1, "advice": 2},
    "StreamNotice": {"message": 0},
    "PlayChanged": {"message": 3},
    "UtteranceChanged": {"message": 6},
    "SpanMarked": {"message": 4},
    "Captured": {"message": 2},
    "Hole": {"message": 3},
    "Check": {"is_ok": 1, "message": 2, "advice": 3},
}
_NAMED_OTHERWISE = {
    ("SpanMarked", "message"): "reason",
    ("Captured", "message"): "reason",
    ("Hole", "message"): "why",
    ("Check", "message"): "text",
}
_MAX_ALTERNATIVES = 8
_MAX_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Message:
    """One text for people, and where the code has it.

    Args:
        kind: class that carries it.
        severity: "error", "warning" or "info"; "reason" for what stands at a marked stretch.
        text: what happened and why; what is known only then stands in «».
        advice: what to do; may be empty.
        command: the command line that does it; may be empty.
        path: of the module, from the root.
        line: in it.
    """

    kind: str
    severity: str
    text: str
    advice: str
    command: str
    path: str
    line: int


def find_messages(root: Path, packages: Sequence[str] = ("engine", "app")) -> tuple[Message, ...]:
    """Return all messages of packages, in order of path and line."""
    return _Finder(root, packages).find()


class _Finder:
    def __init__(self, root: Path, packages: Sequence[str]) -> None:
        paths = [path for name in packages for path in sorted((root / name).rglob("*.py"))]
        self._modules = {
            str(path.relative_to(root)): read_module(path, str(path.relative_to(root)))
            for path in paths
        }
        self._errors = self._error_names()
        self._sites: dict[str, list[tuple[ast.Call, Scope]]] = {}
        self._all_calls: list[tuple[ast.Call, Scope]] = []
        for module in self._modules.values():
            for call, function in calls(module.tree):
                scope = Scope(module, function)
                self._all_calls.append((call, scope))
                self._sites.setdefault(called(call), []).append((call, scope))

    def find(self) -> tuple[Message, ...]:
        found: dict[Message, None] = {}
        for call, scope in self._all_calls:
            name = called(call)
            if name in self._errors or name in _PARTS:
                for bound in self._bound(_argument(call, name, "message"), scope):
                    found.update(dict.fromkeys(self._messages(call, name, bound)))
        return tuple(sorted(found, key=lambda m: (m.path, m.line, m.text, m.advice)))

    def _messages(self, call: ast.Call, name: str, scope: Scope) -> Iterator[Message]:
        message = _argument(call, name, "message")
        is_ok = _argument(call, name, "is_ok")
        if message is None or (isinstance(is_ok, ast.Constant) and is_ok.value is True):
            return
        severity = self._severity(call, name, scope)
        advice, command = (_argument(call, name, part) for part in ("advice", "command"))
        advices = self._resolve(advice, scope) if advice is not None else [""]
        commands = self._resolve(command, scope) if command is not None else [""]
        for text in self._resolve(message, scope):
            if text:
                yield Message(
                    name,
                    severity,
                    text,
                    " / ".join(dict.fromkeys(a for a in advices if a)),
                    commands[0],
                    scope.module.path,
                    call.lineno,
                )

    def _severity(self, call: ast.Call, name: str, scope: Scope) -> str:
        if name in ("SpanMarked", "Captured", "Hole"):
            return "reason"
        if name == "StreamNotice":
            return "info"
        given = _argument(call, name, "severity")
        if isinstance(given, ast.Name) and given.id in scope.bindings:
            given = scope.bindings[given.id][0]
        return given.attr.lower() if isinstance(given, ast.Attribute) else "error"

    def _bound(self, message: ast.expr | None, scope: Scope) -> Iterator[Scope]:
        """Yield the scope once for each call that gives a message which is a mere parameter."""
        function = scope.function
        if not (isinstance(message, ast.Name) and function and message.id in parameters(function)):
            yield scope
            return
        sites = self._sites.get(function.name, [])
        own = [site for site in sites if site[1].module is scope.module]
        for call, outer in own or sites:
            bindings = bind(function, call, outer)
            given = bindings.get(message.id)
            if given is not None:
                for further in self._bound(given[0], given[1]):
                    bound = {name: (value, further) for name, (value, _) in bindings.items()}
                    # The text stands where it was written.
                    yield Scope(scope.module, function, bound, scope.depth)

    def _resolve(self, expr: ast.expr, scope: Scope) -> list[str]:
        """Return the texts that an expression can be."""
        if scope.depth > _MAX_DEPTH:
            return [placeholder(expr)]
        match expr:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.Constant(value=None):
                return [""]
            case ast.JoinedStr(values=values):
                return _joined([self._resolve_part(value, scope) for value in values])
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return _joined([self._resolve(left, scope), self._resolve(right, scope)])
            case ast.IfExp(body=body, orelse=orelse):
                return _unique([*self._resolve(body, scope), *self._resolve(orelse, scope)])
            case ast.BoolOp(values=values):
                return _unique([text for value in values for text in self._resolve(value, scope)])
            case ast.Name(id=name):
                return self._resolve_name(name, expr, scope)
            case ast.Call():
                return self._resolve_call(expr, scope)
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                kept = [t for v in scope.module.kept.get(attr, ()) for t in self._resolve(v, scope)]
                return _unique([text for text in kept if text]) or [placeholder(expr)]
            case ast.Subscript(value=ast.Name(id=name)):
                return self._values(name, scope) or [placeholder(expr)]
            case _:
                return [placeholder(expr)]

    def _resolve_part(self, part: ast.expr, scope: Scope) -> list[str]:
        if not isinstance(part, ast.FormattedValue):
            return self._resolve(part, scope)
        value = part.value
        if isinstance(value, ast.Call) and called(value) == "format_bytes":
            number = self._number(value.args[0], scope)
            if number is not None:
                return [f"{number / 1e9:.0f} GB" if number >= 1e9 else f"{number / 1e6:.0f} MB"]
        number = self._number(value, scope)
        if number is not None:
            return [format(number, _format_spec(part))]
        texts = self._resolve(value, scope)
        is_told = all("«" not in text or " " in text.partition("«")[0] for text in texts)
        is_choice = isinstance(value, ast.Name | ast.IfExp | ast.BoolOp)
        return texts if is_told and is_choice else [placeholder(value)]

    def _number(self, expr: ast.expr, scope: Scope) -> float | None:
        """Return the value of a constant number, or of one through another; None if it is none."""
        match expr:
            case ast.Constant(value=int() | float() as value):
                return value
            case ast.Name(id=name) if name.lstrip("_").isupper():
                constant, owner = self._constant(name, scope)
                return None if constant is None else self._number(constant, Scope(owner))
            case ast.BinOp(left=left, op=ast.Div() | ast.Mult() as sign, right=right):
                first, second = self._number(left, scope), self._number(right, scope)
                if first is None or second is None:
                    return None
                return first / second if isinstance(sign, ast.Div) else first * second
            case _:
                return None

    def _resolve_name(self, name: str, expr: ast.expr, scope: Scope) -> list[str]:
        if name in scope.bindings:
            value, outer = scope.bindings[name]
            return self._resolve(value, deeper(outer, scope.depth))
        if scope.function is not None:
            values = assigned(scope.function, name)
            if values:
                inner = deeper(scope, scope.depth)
                return _unique([text for value in values for text in self._resolve(value, inner)])
            if name in parameters(scope.function):
                return [placeholder(expr)]
        constant, owner = self._constant(name, scope)
        if constant is None:
            return [placeholder(expr)]
        return self._resolve(constant, Scope(owner, None, {}, scope.depth + 1))

    def _resolve_call(self, call: ast.Call, scope: Scope) -> list[str]:
        name = called(call)
        if name in ("tr", "tr_n"):
            text = call.args[1 if name == "tr_n" else 0]
            return [t.replace("{", "«").replace("}", "»") for t in self._resolve(text, scope)]
        match call.func:
            case ast.Attribute(value=ast.Name(id=table), attr="get") if table.lstrip("_").isupper():
                default = self._resolve(call.args[1], scope) if len(call.args) > 1 else []
                return _unique([*self._values(table, scope), *default]) or [placeholder(call)]
            case ast.Attribute(value=value, attr=attr) if attr in TRANSPARENT:
                texts = self._resolve(value, scope)
                return [t[:1].upper() + t[1:] for t in texts] if attr == "capitalize" else texts
        function, owner = self._function(name, scope)
        if function is None:
            return [placeholder(call)]
        inner = Scope(owner, function, bind(function, call, scope), scope.depth + 1)
        returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return)]
        return _unique([t for value in returned if value for t in self._resolve(value, inner)])

    def _values(self, table: str, scope: Scope) -> list[str]:
        constant, owner = self._constant(table, scope)
        if not isinstance(constant, ast.Dict):
            return []
        inner = Scope(owner, None, {}, scope.depth + 1)
        return _unique([text for value in constant.values for text in self._resolve(value, inner)])

    def _constant(self, name: str, scope: Scope) -> tuple[ast.expr | None, Module]:
        return self._defined(name, scope, lambda module: module.constants)

    def _function(self, name: str, scope: Scope) -> tuple[ast.FunctionDef | None, Module]:
        return self._defined(name, scope, lambda module: module.functions)

    def _defined(
        self, name: str, scope: Scope, defined: Callable[[Module], Mapping[str, _N]]
    ) -> tuple[_N | None, Module]:
        """Return what a name stands for, and the module that says so."""
        for original, module in ((name, scope.module), *self._imported(name, scope)):
            if original in defined(module):
                return defined(module)[original], module
        return None, scope.module

    def _imported(self, name: str, scope: Scope) -> Iterator[tuple[str, Module]]:
        """Yield the name and the module that a name may be imported from."""
        source, original = scope.module.imports.get(name, ("", ""))
        for path in (f"{source.replace('.', '/')}.py", f"{source.replace('.', '/')}/__init__.py"):
            module = self._modules.get(path)
            if module is not None:
                yield original, module

    def _error_names(self) -> frozenset[str]:
        bases = {
            node.name: {name_of(base) for base in node.bases}
            for module in self._modules.values()
            for node in ast.walk(module.tree)
            if isinstance(node, ast.ClassDef)
        }
        known = {_ROOT_ERROR}
        while more := {name for name, of in bases.items() if of & known} - known:
            known |= more
        return frozenset(known)


def _argument(call: ast.Call, name: str, part: str) -> ast.expr | None:
    keyword = _NAMED_OTHERWISE.get((name, part), part)
    for given in call.keywords:
        if given.arg == keyword:
            return given.value
    place = _PARTS.get(name, {"message": 0}).get(part)
    return call.args[place] if place is not None and place < len(call.args) else None


def _joined(parts: Sequence[Sequence[str]]) -> list[str]:
    return _unique(["".join(choice) for choice in list(product(*parts))[:_MAX_ALTERNATIVES]])


def _unique(texts: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _format_spec(part: ast.FormattedValue) -> str:
    spec = part.format_spec
    values = spec.values if isinstance(spec, ast.JoinedStr) else []
    return "".join(str(v.value) for v in values if isinstance(v, ast.Constant))
