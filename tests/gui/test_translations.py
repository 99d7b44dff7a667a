"""Tests that every text of the app is translated: none is unfinished or missing, and placeholders and plural forms are
kept."""

import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LUPDATE = os.environ.get("RINGMASTER_LUPDATE") or shutil.which("lupdate6") or "/usr/lib/qt6/bin/lupdate"
LANGUAGES = {"en": 2, "de": 2, "ja": 1, "zh_CN": 1}  # number of plural forms; the English file holds only texts with plural forms


@pytest.fixture(scope="module", params=LANGUAGES)
def updated(request, tmp_path_factory):
    """Returns (language, messages) after lupdate has read the sources again. Works on a copy, so the file in the tree does not
    change."""
    language = request.param
    copy = tmp_path_factory.mktemp("ts") / f"ringmaster_{language}.ts"
    shutil.copy(ROOT / "translations" / copy.name, copy)
    only = ["-pluralonly"] if language == "en" else []
    subprocess.run([LUPDATE, "-silent", "-no-obsolete", "-locations", "none", *only, "-I", ROOT, ROOT / "gui", ROOT / "launcher/ssh/finding.cpp", ROOT / "launcher/backends/preview.cpp", ROOT / "engine/plan/attention_kernels.cpp", ROOT / "engine/events/run_reason.cpp", ROOT / "launcher/base/progress.cpp", "-ts", copy], check=True)
    messages = [(context.findtext("name"), message)
                for context in ElementTree.parse(copy).getroot().iter("context") for message in context.iter("message")]
    assert len(messages) > (3 if language == "en" else 200)
    return language, messages


def forms(message):
    translation = message.find("translation")
    return [form.text or "" for form in translation.findall("numerusform")] or [translation.text or ""]


def test_no_text_is_unfinished_or_empty(updated):
    language, messages = updated
    missing = [f"{context}: {message.findtext('source')}" for context, message in messages
               if message.find("translation").get("type") or not all(forms(message))]
    assert not missing, f"{language}: " + "; ".join(missing)


def test_placeholders_stay(updated):
    language, messages = updated
    for context, message in messages:
        source = message.findtext("source")
        wanted = sorted(set(re.findall(r"%L?\d|%n", source)))
        for form in forms(message):
            got = sorted(set(re.findall(r"%L?\d|%n", form)))
            assert got == wanted or (message.get("numerus") and set(wanted) - set(got) <= {"%n"}), (
                f"{language}, {context}: {source!r} -> {form!r}")


def test_steps_and_phases_have_texts():
    """Checks that every code that a long task reports, in C++ or Python, and every phase of a rank has a text that the
    app translates."""
    texts = re.findall(r'^    \{"([a-z-]+)", ', (ROOT / "launcher/base/progress.cpp").read_text(), re.M)
    steps = [file.read_text() for suffix in ("cpp", "py") for file in (ROOT / "launcher").rglob(f"*.{suffix}")]
    phases = [file.read_text() for file in (ROOT / "engine").rglob("*.cpp")]
    reported = {code for text in steps
                for code in re.findall(r'(?:report\(\{|progress\(|report\.progress, |ProgressStep(?: \w+)?\{)"([^"]+)', text)}
    named = {code for text in phases for code in re.findall(r'PhaseEvent\{"([^"]+)', text)}
    assert len(reported) > 20 and len(named) > 5
    assert reported | named <= set(texts), (reported | named) - set(texts)


def test_every_way_in_the_app_is_of_a_known_code():
    ways = re.findall(r'\{"([a-z-]+)", QT_TRANSLATE_NOOP\("AppWays"', (ROOT / "gui/session/app_ways.cpp").read_text())
    known = [(ROOT / file).read_text() for file in ("launcher/ssh/finding.cpp", "engine/events/run_reason.cpp")]
    assert len(ways) > 10 and not [code for code in ways if not any(f'{{"{code}", QT_' in text for text in known)]


def test_plurals_have_every_form(updated):
    language, messages = updated
    for context, message in messages:
        if message.get("numerus"):
            assert len(forms(message)) == LANGUAGES[language], f"{language}, {context}: {message.findtext('source')}"


def test_german_has_one_word_for_a_machine():
    """Checks that the German app, help and findings always call a machine "Rechner". A second word would give one thing two
    names."""
    texts = [ROOT / "translations/ringmaster_de.ts", *(ROOT / "resources/help").glob("*.de.md"), *(ROOT / "resources/findings").glob("*.md")]
    assert len(texts) > 100
    assert not [f"{file.name}: {line}" for file in texts for line in file.read_text().splitlines() if re.search("[Mm]aschine(n|)\\b", line)]


def test_exposed_communication_has_one_name(updated):
    """Checks that no text calls exposed communication "overhead". With two names, users would take it for two figures."""
    _, messages = updated
    assert not [source for _, message in messages if "overhead" in (source := message.findtext("source")).lower()]


def test_axes_of_a_mesh_have_their_words(updated):
    """Checks that texts such as "ring 8" and "ulysses 4" are translated: each language has a word for the ring, and writes
    Ulysses as a name."""
    language, messages = updated
    axis = re.compile(r"\b(ring|ulysses) %\d")
    of_axes = [(message.findtext("source"), form) for _, message in messages for form in forms(message) if axis.search(message.findtext("source"))]
    assert language == "en" or len(of_axes) >= 5
    assert not [form for _, form in of_axes if axis.search(form)]
    untranslated = re.compile(r'(?<!tr\()u?"[^"]*\b(ring|ulysses|expert) %')
    assert not [file.name for file in (ROOT / "gui").rglob("*.cpp") if untranslated.search(file.read_text())]
