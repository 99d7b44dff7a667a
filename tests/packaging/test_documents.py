"""Tests that manual pages, desktop entry and AppStream metadata are valid and describe what the programs accept."""

import os
import pathlib
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest

BIN = pathlib.Path(os.environ["RINGMASTER_BIN"])
PACKAGING = pathlib.Path(__file__).resolve().parents[2] / "packaging"
APP = "io.github.ringmaster.Ringmaster"
PAGES = sorted(PACKAGING.glob("man/*.1"))


def words(page):
    """Returns the text of a manual page without roff's markup."""
    text = page.read_text().replace(r"\-", "-").replace(r"\fI", "").replace(r"\fR", "")
    return re.sub(r'^\.[A-Z]+ ?|"', "", text, flags=re.MULTILINE)


def help_of(program, *arguments):
    done = subprocess.run([BIN / program, *arguments, "--help"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def options_in(text):
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text))


def commands():
    return re.findall(r"^  ([a-z]+) ", help_of("ringmaster"), flags=re.MULTILINE)


def test_every_command_and_option_of_the_command_line_is_in_its_page():
    page = words(PACKAGING / "man/ringmaster.1")
    assert len(commands()) >= 9
    for command in [name for name in commands() if name != "ringmaster"]:
        assert re.search(rf"^{command}\b", page, flags=re.MULTILINE), command
        missing = options_in(help_of("ringmaster", command)) - options_in(page)
        assert not missing, (command, missing)


@pytest.mark.parametrize("program", ["ringmaster-engine", "ringmaster-agent", "ringmaster-tokenize", "ringmaster-gui"])
def test_every_option_of_a_program_is_in_its_page(program):
    page = options_in(words(PACKAGING / f"man/{program}.1"))
    assert options_in(help_of(program)) <= page, options_in(help_of(program)) - page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_all_its_parts_and_no_warning(page):
    for part in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"):
        assert re.search(rf"^\.SH {part}$", page.read_text(), flags=re.MULTILINE), part
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"})
    assert done.returncode == 0 and done.stderr == ""


def test_the_desktop_entry_and_the_metadata_are_valid():
    checks = [["desktop-file-validate", PACKAGING / f"desktop/{APP}.desktop"],
              ["appstreamcli", "validate", "--no-net", PACKAGING / f"desktop/{APP}.metainfo.xml"]]
    for check in checks:
        done = subprocess.run(check, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_desktop_entry_metadata_icon_and_mime_type_name_each_other():
    entry = (PACKAGING / f"desktop/{APP}.desktop").read_text()
    metadata = xml.parse(PACKAGING / f"desktop/{APP}.metainfo.xml").getroot()
    mime = xml.parse(PACKAGING / f"desktop/{APP}.xml").getroot()
    kind = mime[0].get("type")
    assert f"Icon={APP}\n" in entry and f"MimeType={kind};\n" in entry
    assert metadata.findtext("id") == APP and metadata.findtext("launchable") == f"{APP}.desktop"
    assert metadata.findtext("provides/mediatype") == kind


def test_a_file_manager_tells_an_axolotl_file_from_other_yaml(tmp_path):
    packages = tmp_path / "share/mime/packages"
    packages.mkdir(parents=True)
    shutil.copy("/usr/share/mime/packages/freedesktop.org.xml", packages)
    shutil.copy(PACKAGING / f"desktop/{APP}.xml", packages)
    subprocess.run(["update-mime-database", tmp_path / "share/mime"], check=True, capture_output=True)
    files = {"example.yaml": (PACKAGING.parent / "resources/example/example.yaml").read_text(), "short.yml": "base_model: x\n",
             "compose.yaml": "services:\n  web:\n    image: x\n", "other.yml": "# notes\nmy_base_model: x\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
        done = subprocess.run(["gio", "info", "-a", "standard::content-type", tmp_path / name], capture_output=True, text=True, check=True,
                              env={**os.environ, "XDG_DATA_DIRS": str(tmp_path / "share"), "XDG_DATA_HOME": str(tmp_path / "none")})
        kind = done.stdout.split("content-type: ")[1].split()[0]
        assert kind == ("text/x-axolotl-config" if "\nbase_model:" in "\n" + content else "application/x-yaml"), (name, kind)
