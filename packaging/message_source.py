"""Source code as the finder of messages reads it: modules, functions, and who calls them."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Module:
    """A file of source code, and what its top level holds by name."""

    path: str
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    functions: dict[str, ast.FunctionDef] = field(default_factory=dict)
    # Texts that instances hold, by attribute.
    kept: dict[str, list[ast.expr]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: its module, its function, what the parameters are."""

    module: Module
    function: ast.FunctionDef | None = None
    bindings: Mapping[str, tuple[ast.expr, "Scope"]] = field(default_factory=dict)
    depth: int = 0


def read_module(path: Path, name: str) -> Module:
    """Parse a file; `name` is its path from the root."""
    module = Module(name, ast.parse(path.read_text("utf-8")))
    for node in module.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                module.constants[target] = value
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                module.constants[target] = value
            case ast.FunctionDef(name=target):
                module.functions[target] = node
    for node in ast.walk(module.tree):
        match node:
            case ast.ImportFrom(module=str(source), names=names):
                module.imports |= {a.asname or a.name: (source, a.name) for a in names}
            case ast.ClassDef(body=body):
                for inner in body:
                    if isinstance(inner, ast.FunctionDef):
                        module.functions.setdefault(inner.name, inner)
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)],
                value=ast.JoinedStr() | ast.Constant(value=str()) as value,
            ):
                module.kept.setdefault(attr, []).append(value)
    return module


def calls(
    node: ast.AST, function: ast.FunctionDef | None = None
) -> Iterator[tuple[ast.Call, ast.FunctionDef | None]]:
    """Yield every call below a node, with the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        inner = child if isinstance(child, ast.FunctionDef) else function
        if isinstance(child, ast.Call):
            yield child, function
        yield from calls(child, inner)


def called(call: ast.Call) -> str:
    """Return the last part of the name of what is called."""
    return name_of(call.func)


def name_of(node: ast.expr) -> str:
    """Return the last part of a dotted name; "" for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def parameters(function: ast.FunctionDef) -> list[str]:
    """Return the names of all parameters."""
    arguments = function.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def bind(
    function: ast.FunctionDef, call: ast.Call, outer: Scope
) -> dict[str, tuple[ast.expr, Scope]]:
    """Return what each parameter is in a call, and where that stands."""
    names = [name for name in parameters(function) if name not in ("self", "cls")]
    positional = [a.arg for a in function.args.args if a.arg not in ("self", "cls")]
    defaults = dict(zip(reversed(positional), reversed(function.args.defaults), strict=False)) | {
        a.arg: d
        for a, d in zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
        if d
    }
    bound = {name: (value, outer) for name, value in defaults.items()}
    bound |= {name: (value, outer) for name, value in zip(names, call.args, strict=False)}
    return bound | {k.arg: (k.value, outer) for k in call.keywords if k.arg in names}


def assigned(function: ast.FunctionDef, name: str) -> list[ast.expr]:
    """Return all that a function assigns to a name."""
    found: list[ast.expr] = []
    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                found.append(value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=False)
                found += [value for target, value in pairs if name_of(target) == name]
    return found


def deeper(scope: Scope, depth: int) -> Scope:
    """Return a scope one step further from where the search began."""
    return Scope(scope.module, scope.function, scope.bindings, depth + 1)
