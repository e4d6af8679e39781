"""HTML and SVG as a tree: every text and every attribute is escaped and made harmless when the tree is written.

There is no way to put ready-made markup into it, so that nothing which a host sent can become any.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from bringup.report.harmless import harmless

_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Letters that no XML document may hold (XML 1.0, production 2)."""
_VOID = frozenset({"meta", "br", "hr", "col"})
"""Elements of HTML that have no end tag (HTML Living Standard, 13.1.2)."""
_SVG = frozenset({"rect", "line", "path", "circle", "polyline", "polygon", "stop"})
"""Elements of SVG that are written without an end tag where they are empty."""


@dataclass(frozen=True, slots=True)
class Node:
    """One element."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    children: tuple[Content, ...]


Content = Node | str
"""An element, or text as it is to be read."""


@dataclass(frozen=True, slots=True)
class Style(Node):
    """A style sheet of our own: its text is the only one that is written as it is."""


def element(name: str, /, *children: Content | None, **attributes: str | float | None) -> Node:
    """Return an element; `class_` and `font_size` become "class" and "font-size", None leaves an attribute out."""
    told = tuple((_attribute(key), _value(value)) for key, value in attributes.items() if value is not None)
    return Node(name, told, tuple(child for child in children if child is not None))


def style(sheet: str) -> Style:
    """Return a style sheet; raises ValueError where it could end the element, which none of ours does."""
    if "<" in sheet:
        raise ValueError("a style sheet of our own holds a '<'")
    return Style("style", (), (sheet,))


def number(value: float) -> str:
    """Return a coordinate in as few letters as it needs."""
    text = f"{value:.1f}"
    return text.removesuffix(".0")


def render(node: Content) -> str:
    """Write a tree."""
    return "".join(_written(node))


def _written(node: Content) -> Iterator[str]:
    if isinstance(node, str):
        yield _safe(node, quote=False)
        return
    attributes = "".join(f' {name}="{_safe(value, quote=True)}"' for name, value in node.attributes)
    if not node.children and node.name in _VOID | _SVG:
        yield f"<{node.name}{attributes}{'/' if node.name in _SVG else ''}>"
        return
    yield f"<{node.name}{attributes}>"
    if isinstance(node, Style):
        yield from (child for child in node.children if isinstance(child, str))
    else:
        yield from _all(node.children)
    yield f"</{node.name}>"


def _all(children: Iterable[Content]) -> Iterator[str]:
    for child in children:
        yield from _written(child)


def _safe(text: str, *, quote: bool) -> str:
    return escape(_NOT_XML.sub("\ufffd", harmless(text)), quote=quote)


def _attribute(key: str) -> str:
    return key.removesuffix("_").replace("_", "-") if key != "viewBox" else key


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else number(value)
