#!/usr/bin/env python3
"""Writes docs/python-api.md: every name of the Python package with its signature and docstring.

Needs the package: PYTHONPATH=build/python scripts/python_reference.py > docs/python-api.md"""

import inspect
import re

HEAD = """# tile_tune: reference

Written by `scripts/python_reference.py` from the package's docstrings; [python.md](python.md) is the tutorial. Shapes are
in elements, times in the unit that a name ends with (`median_ns`, `seconds`).
"""


def described(name, value):
    """A title, and the lines of the docstring without it: what is C++ has its signature in the first line."""
    lines = inspect.getdoc(value).splitlines()
    first = lines[0].replace("collections.abc.", "").replace("tile_tune._core.", "").replace("self, ", "")
    if isinstance(value, property):
        return (name + first.removeprefix("(self)"), lines[2:]) if first.startswith("(self) ->") else (name, lines)
    if first.startswith(name + "("):
        return first.replace("(self)", "()"), lines[2:]
    try:
        # What arguments are is in the text; their types are in the package.
        signature = inspect.signature(value)
        signature = signature.replace(parameters=[parameter.replace(annotation=parameter.empty)
                                                  for parameter in signature.parameters.values()])
        signature = re.sub(r"-> '_?(\w+)'", r"-> \1", str(signature)).replace("typing.", "").replace(" -> Any", "")
        return name + re.sub(r"tile_tune\.\w+\.|pathlib\.", "", signature).replace("(self, ", "("), lines
    except (TypeError, ValueError):
        return name, lines


def members_of(value):
    """Documented methods and properties of a class's own."""
    for name, member in vars(value).items():
        if (not name.startswith("_") or name == "__call__") and inspect.getdoc(member):
            if callable(member) or isinstance(member, property):
                yield name, member


def indented(title, lines, depth):
    return [" " * depth + title, *(" " * (depth + 4) + line for line in lines)]


def entry(name, value):
    if not inspect.isclass(value):
        return "\n".join(line.rstrip() for line in indented(*described(name, value), 0))
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    text = indented(f"class {name}" + (f"({', '.join(bases)})" if bases else ""), inspect.getdoc(value).splitlines(), 0)
    for member, what in members_of(value):
        text += ["", *indented(*described(member, what), 4)]
    return "\n".join(line.rstrip() for line in text)


def section(title, module, names):
    parts = [f"## {title}", *(f"```text\n{entry(name, getattr(module, name))}\n```" for name in names)]
    return "\n\n".join(parts)


def render():
    import tile_tune
    from tile_tune import _compile, edsl, tc
    modules = ("edsl", "tc")
    return "\n".join([
        HEAD,
        section("tile_tune", tile_tune, sorted((name for name in tile_tune.__all__ if name not in modules),
                                               key=lambda name: (name[0].isupper(), name))),
        "",
        section("tile_tune.tc", tc, ["define", "Library", "Function"]),
        "",
        "What `tile_tune.compile()` returns, and `tc.Function` and functions of the eDSL are:",
        "",
        f"```text\n{entry('Function', _compile.Function)}\n```",
        "",
        section("tile_tune.edsl", edsl, edsl.__all__),
        "",
    ])


if __name__ == "__main__":
    print(render(), end="")
