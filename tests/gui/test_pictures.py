"""Tests that every page, dialog and box of the app is in the pictures (pages.txt and demo_dialogs.cpp), which
gui_readable_test checks in each language."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = {file: file.read_text() for file in (ROOT / "gui").rglob("*") if file.suffix in (".cpp", ".h")}
DIALOGS = (ROOT / "tests/gui/demo_dialogs.cpp").read_text()
# demo_dialogs.cpp does not have to draw these: three base classes, and restartsBox, which needs a run over several machines.
ELSEWHERE = {"FittedDialog", "MachineDialog", "QuestionDialog", "restartsBox"}
NAMED = {"CommandPalette": "commandPalette"}  # dialogs that demo_dialogs.cpp finds by their object's name


def test_every_page_is_drawn():
    pages = set(re.findall(r'addPage\(u"(\w+)"_s', SOURCES[ROOT / "gui/app/main_window.cpp"]))
    lines = [line.split("|") for line in (ROOT / "tests/gui/pages.txt").read_text().splitlines() if not line.startswith("#")]
    assert len(pages) > 8 and pages == {page for _, page, *_ in lines}


def test_every_dialog_is_drawn():
    bases, dialogs = {"QDialog"}, set()
    for _ in range(3):  # dialogs derive from dialogs
        dialogs |= {name for text in SOURCES.values() for name, base in re.findall(r"class (\w+) : public (\w+)", text) if base in bases}
        bases |= dialogs
    assert len(dialogs) > 9
    assert not {name for name in dialogs - ELSEWHERE if not re.search(rf"\b{NAMED.get(name, name)}\b", DIALOGS)}


def test_every_box_is_drawn():
    boxes = {name for text in SOURCES.values() for name in re.findall(r'box\.setObjectName\(u"(\w+)"_s\)', text)}
    assert len(boxes) > 4
    assert not {name for name in boxes - ELSEWHERE if f'"{name}"' not in DIALOGS}
