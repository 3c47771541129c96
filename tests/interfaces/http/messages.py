"""Every refusal that a page can show, read from the source: what the pages reach, and what is raised there.

The calls are followed by name. Where it is not known whose method is called, every class counts that a module on the
way knows, so that rather too much is found than too little.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from dolmen.interfaces.http.web.pages import SURROUNDINGS

SOURCE = Path(__file__).parents[3] / "src"
HTTP = "dolmen.interfaces.http"
AROUND = (
    f"{HTTP}.limits",
    f"{HTTP}.body",
    *(f"dolmen.store.repositories.{each}" for each in ("people", "proofs", "oauth")),
)
"""What stands around pages and below them without their naming it."""
ERRORS = {"DolmenError": 1, "OAuthError": 1, "Refusal": 1}
"""Where their message stands among the arguments."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Module:
    """What a file defines and knows."""

    name: str
    tree: ast.Module
    package: bool

    @cached_property
    def functions(self) -> dict[str, Function]:
        return {each.name: each for each in self.tree.body if isinstance(each, Function)}

    @cached_property
    def classes(self) -> dict[str, dict[str, Function]]:
        return {
            each.name: {inner.name: inner for inner in each.body if isinstance(inner, Function)}
            for each in self.tree.body
            if isinstance(each, ast.ClassDef)
        }

    @cached_property
    def constants(self) -> dict[str, ast.expr]:
        found: dict[str, ast.expr] = {}
        for each in self.tree.body:
            if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
                found[each.targets[0].id] = each.value
            elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name) and each.value is not None:
                found[each.target.id] = each.value
        return found

    @cached_property
    def imports(self) -> dict[str, tuple[str, str]]:
        """Name here: module, and name there."""
        return {
            alias.asname or alias.name: (each.module or "", alias.name)
            for each in ast.walk(self.tree)
            if isinstance(each, ast.ImportFrom) and (each.module or "").startswith("dolmen")
            for alias in each.names
        }


@cache
def module(name: str) -> Module | None:
    for path, package in ((name.replace(".", "/") + ".py", False), (name.replace(".", "/") + "/__init__.py", True)):
        if (SOURCE / path).is_file():
            return Module(name, ast.parse((SOURCE / path).read_text(encoding="utf-8")), package)
    return None


def found(where: Module, name: str) -> tuple[Module, str] | Module | None:
    """What a name stands for: a module, or a name of the module that defines it."""
    if name in where.functions or name in where.classes or name in where.constants:
        return where, name
    if name not in where.imports:
        return None
    source, there = where.imports[name]
    inner = module(f"{source}.{there}")
    if inner is not None:
        return inner
    outer = module(source)
    return None if outer is None else found(outer, there)


def roots() -> Iterator[str]:
    """Every module that makes pages, and what stands around them; everything else is found from there."""
    yield from AROUND
    for path in sorted((SOURCE / HTTP.replace(".", "/")).rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        made = module(name)
        if made is not None and (path.parent.name == "web" or ("page" in made.imports and path.parent.name == "oauth")):
            yield name


@dataclass
class Reached:
    """The functions that the pages come to."""

    functions: dict[int, tuple[Module, Function]] = field(default_factory=dict)
    modules: dict[str, Module] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)

    def grow(self) -> Reached:
        for name in roots():
            root = module(name)
            assert root is not None, name
            for function in (
                *root.functions.values(),
                *(each for all in root.classes.values() for each in all.values()),
            ):
                self._add(root, function)
        size = -1
        while size != len(self.functions):
            size = len(self.functions)
            for where, function in list(self.functions.values()):
                self._follow(where, function)
            for known in self._visible():
                for methods in known.classes.values():
                    for name, function in methods.items():
                        if name in self.methods:
                            self._add(known, function)
        return self

    def _visible(self) -> Iterator[Module]:
        names = {source for each in self.modules.values() for source, _ in each.imports.values()} | set(self.modules)
        for name in sorted(names):
            known = module(name)
            if known is not None and not name.startswith("dolmen.store"):
                yield known
                if known.package:
                    yield from (each for name, _ in known.imports.values() if (each := module(name)) is not None)

    def _add(self, where: Module, function: Function) -> None:
        self.functions.setdefault(id(function), (where, function))
        self.modules.setdefault(where.name, where)

    def _follow(self, where: Module, function: Function) -> None:
        for node in ast.walk(function):
            if isinstance(node, ast.Name):
                self._take(found(where, node.id))
            elif isinstance(node, ast.Attribute):
                base = found(where, node.value.id) if isinstance(node.value, ast.Name) else None
                if isinstance(base, Module):
                    self._take(found(base, node.attr))
                else:
                    self.methods.add(node.attr)

    def _take(self, what: tuple[Module, str] | Module | None) -> None:
        if what is None or isinstance(what, Module):
            return
        where, name = what
        if name in where.functions:
            self._add(where, where.functions[name])
        for method in ("__init__", "__post_init__", "__call__"):
            if name not in ERRORS and method in where.classes.get(name, {}):
                self._add(where, where.classes[name][method])


def messages() -> dict[str, str]:
    """Message: where it is raised. `{}` stands for what is filled in. Those of the surroundings are not shown as such.

    Raises:
        AssertionError: one that cannot be read from the source.
    """
    reached = Reached().grow().functions.values()
    sinks: dict[str, int] = {}
    """Functions that hand a message of their caller on, and where it stands among their arguments."""
    said: dict[str, str] = {}
    size = -1
    while size != len(sinks):
        size = len(sinks)
        for where, function in reached:
            parameters = [each.arg for each in (*function.args.args, *function.args.kwonlyargs)]
            for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
                name = _called(where, call)
                position = ERRORS.get(name.rpartition(":")[2], sinks.get(name))
                if position is None or len(call.args) <= position or _code(call) in SURROUNDINGS:
                    continue
                message = call.args[position]
                if isinstance(message, ast.Name) and message.id in parameters:
                    sinks[f"{where.name}:{function.name}"] = parameters.index(message.id)
                    continue
                for text in _texts(message, where, function):
                    said[text] = f"{where.name}:{call.lineno}"
    return said


def _called(where: Module, call: ast.Call) -> str:
    """`module:name` of what is called, as far as that is known."""
    match call.func:
        case ast.Name(id=name):
            known = found(where, name)
        case ast.Attribute(value=ast.Name(id=base), attr=name):
            outer = found(where, base)
            known = found(outer, name) if isinstance(outer, Module) else None
        case _:
            return ""
    if isinstance(known, tuple):
        return f"{known[0].name}:{known[1]}"
    # `Limits` is handed a function in that words its refusals.
    return f"{HTTP}.limits:_busy" if name == "_refuse" else ""


def _code(call: ast.Call) -> str:
    first = call.args[0]
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""


def _texts(node: ast.expr, where: Module, function: Function) -> Iterable[str]:
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=parts):
            return ["".join(each.value if isinstance(each, ast.Constant) else "{}" for each in parts)]
        case ast.IfExp(body=one, orelse=other):
            return [*_texts(one, where, function), *_texts(other, where, function)]
        case ast.BinOp(left=left, right=right):
            return [a + b for a in _texts(left, where, function) for b in _texts(right, where, function)]
        case ast.Attribute(attr="message" | "description"):
            return []  # of another error, which was counted where it was raised
        case ast.Name(id=name):
            given = [each.value for each in ast.walk(function) if isinstance(each, ast.Assign) and _gives(each, name)]
            if given:
                return [text for each in given for text in _texts(each, where, function)]
            known = found(where, name)
            if isinstance(known, tuple) and known[1] in known[0].constants:
                return _texts(known[0].constants[known[1]], known[0], function)
    raise AssertionError(f"{where.name}:{node.lineno}: write the message where it is raised, so that it is found")


def _gives(assigned: ast.Assign, name: str) -> bool:
    return any(isinstance(each, ast.Name) and each.id == name for each in assigned.targets)
