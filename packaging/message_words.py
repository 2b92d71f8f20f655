"""Names what stands in a message and is known only when it is told."""

import ast
import re

_WORDS = {"strerror": "reason", "exc": "error", "caught": "error", "st_size": "size"}
_UNITS = re.compile(r"_(?:s|ms|bytes|hz)$")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
# What stands for a whole sentence that is told elsewhere.
PASSED_ON = "«what went wrong»"
_SENTENCES = frozenset({"message", "text", "note", "problem", "advice"})
TRANSPARENT = frozenset(
    {"strip", "rstrip", "lstrip", "removeprefix", "removesuffix", "capitalize", "splitlines"}
)


def placeholder(expr: ast.expr) -> str:
    """Return what stands for an expression in the text of a message."""
    if isinstance(expr, ast.Attribute) and expr.attr == "__name__":
        return "«name of a class»"
    if isinstance(expr, ast.Attribute) and expr.attr in _SENTENCES:
        return PASSED_ON if expr.attr != "advice" else "«what to do»"
    match expr:
        case ast.Attribute(value=ast.Name(id="listing"), attr="reason"):
            return PASSED_ON
        # What a child process said, in whole sentences.
        case ast.Subscript(slice=ast.Constant(value="error")):
            return PASSED_ON
        case ast.Subscript(slice=ast.Constant(value="advice")):
            return "«what to do»"
    return f"«{_words(expr)}»"


def _plain(name: str) -> str:
    words = _HUMP.sub(" ", _UNITS.sub("", _WORDS.get(name, name)))
    return words.strip("_").replace("_", " ").lower()


def _words(expr: ast.expr) -> str:
    """Return what an expression stands for, in words."""
    match expr:
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name):
            return _plain(name)
        case ast.Attribute(
            value=ast.Name(id=owner), attr=("name" | "id" | "title" | "value") as attr
        ) if owner != "self":
            return _plain(owner) if attr == "value" else f"{_plain(owner)} {attr}"
        case ast.Attribute(attr=attr):
            return _plain(attr)
        case ast.Call(func=ast.Attribute(attr="join"), args=[joined]):
            return _words(joined)
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in TRANSPARENT:
            return _words(value)
        case ast.Call(func=ast.Name(id="len"), args=[counted]):
            return f"number of {_words(counted)}"
        case ast.Call(func=ast.Name(id="reason_of" | "gpu_reason")):
            return "reason"
        case ast.Call(func=func, args=[value, *_]) if not isinstance(value, ast.Constant):
            del func
            return _words(value)
        case ast.Call(func=func):
            return _words(func)
        case ast.Attribute(value=value) | ast.Subscript(value=value) | ast.Starred(value=value):
            return _words(value)
        case ast.BoolOp(values=[first, *_]) | ast.BinOp(left=first):
            return _words(first)
        case ast.IfExp(body=body):
            return _words(body)
        case ast.GeneratorExp(generators=[first, *_]) | ast.ListComp(generators=[first, *_]):
            return _words(first.iter)
        case ast.List(elts=[*items]) | ast.Tuple(elts=[*items]) if items:
            return _words(items[0])
        case _:
            return "value"
