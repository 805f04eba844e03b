"""Every snippet of docs/python.md runs, in its order."""

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

import tile_tune

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"


def snippets():
    for match in re.finditer(r"^```(python|pycon)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL):
        yield match[1], match[2], PAGE.read_text()[:match.start()].count("\n") + 2


def test_snippets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tile_tune.tuning("off", database=tmp_path / "tuning.db")
    # Searches are for values here: a few trials show as much as many seconds.
    from tile_tune import _tune
    search = _tune.tune
    monkeypatch.setattr(tile_tune, "tune", lambda *a, seconds, **more: search(*a, trials=1, **more))
    monkeypatch.setattr(_tune, "tune", lambda *a, seconds, trials=None, **more: search(*a, trials=1, **more))
    names, kinds = {}, set()
    for kind, text, line in snippets():
        kinds.add(kind)
        if kind == "python":
            exec(compile("\n" * (line - 1) + text, str(PAGE), "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(text, names, "snippet", str(PAGE), line)
        said = []
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.append)
        if said:
            pytest.fail("".join(said))
    assert kinds == {"python", "pycon"}


def test_the_reference_is_what_the_package_says():
    spec = importlib.util.spec_from_file_location("python_reference", ROOT / "scripts" / "python_reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert (ROOT / "docs" / "python-api.md").read_text() == reference.render()
