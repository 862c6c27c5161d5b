"""Reverse every sign of a backward, one at a time: a check of gradients that is worth anything notices each."""

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType

import pytest

SWAP = {ast.Add: ast.Sub, ast.Sub: ast.Add}


class ReverseSign(ast.NodeTransformer):
    """Reverse the sign number ``which`` of a function: + and -, += and -=, a minus in front, or what is returned."""

    def __init__(self, which: int) -> None:
        self.left = which
        self.what = ""

    def _here(self, node: ast.AST) -> bool:
        self.left -= 1
        if self.left == -1:
            self.what = ast.unparse(node)
        return self.left == -1

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in SWAP and self._here(node):
            return ast.BinOp(node.left, SWAP[type(node.op)](), node.right)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in SWAP and self._here(node):
            return ast.AugAssign(node.target, SWAP[type(node.op)](), node.value)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return node.operand if isinstance(node.op, ast.USub) and self._here(node) else node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for i, part in enumerate(parts):
            if self._here(node):
                parts[i] = ast.UnaryOp(ast.USub(), part)
        if isinstance(node.value, ast.Tuple):
            return ast.Return(ast.Tuple(parts, ast.Load()))
        return ast.Return(parts[0])


def with_sign_reversed(function: FunctionType, which: int) -> tuple[FunctionType, str] | None:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    reverse = ReverseSign(which)
    tree = ast.fix_missing_locations(reverse.visit(tree))
    if not reverse.what:
        return None
    module = sys.modules[function.__module__]
    scope: dict[str, FunctionType] = {}
    exec(compile(tree, f"<{function.__qualname__}, sign {which}>", "exec"), module.__dict__, scope)
    return scope[function.__name__], reverse.what


def every_reversed_sign_is_noticed(
    owner: object, name: str, check: Callable[[], float], least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hold ``check`` to notice each of the signs, ``least`` or more, in the function ``name`` of ``owner``."""
    function = getattr(owner, name)
    which = 0
    while (reversed_ := with_sign_reversed(function, which)) is not None:
        monkeypatch.setattr(owner, name, reversed_[0])
        try:
            error = check()
        except (ValueError, IndexError):  # GradientError, or arrays that no longer fit together
            pass
        else:
            assert error > 1e-7, f"nobody noticed the sign in {reversed_[1]} reversed"
        which += 1
    assert which >= least
    monkeypatch.undo()
    assert check() <= 1e-7
