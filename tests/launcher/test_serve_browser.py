"""Tests the page of `ringmaster serve` in headless Chromium: what it shows of live runs, and what it must not do."""

import hashlib
import json
import os
import pathlib
import shutil
import time

import pytest

from browser import CHROMIUM, Browser
from conftest import make_incomplete_run, make_run
from test_serve_command import Served

HOSTILE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>window.owned = 1</script><b onmouseover=alert(2)>bold"
CHARTS = ["Loss", "Tokens per second", "Step time", "Exposed communication", "Peak memory", "Gradient norm", "Learning rate"]
INK = """(() => { let least = 1e9;
  for (const plot of document.querySelectorAll('#charts .plot')) {
    const canvas = [...plot.querySelectorAll('canvas')].map((one) => {
      const data = one.getContext('2d').getImageData(0, 0, one.width, one.height).data;
      let drawn = 0; for (let at = 3; at < data.length; at += 4) drawn += data[at] > 0; return drawn; });
    least = Math.min(least, Math.max(0, ...canvas)); }
  return least; })()"""


def append(run, steps, ranks=2, loss=2.0):
    first = 1 + max(json.loads(line)["step"] for line in (run / "events/rank-00000.jsonl").read_text().splitlines() if '"step"' in line and '"type":"step"' in line)
    for rank in range(ranks):
        with open(run / f"events/rank-{rank:05}.jsonl", "a") as events:
            for step in range(first, first + steps):
                value = loss if step < first + steps - 1 else None
                events.write(json.dumps({"type": "step", "t": time.time(), "rank": rank, "step": step, "loss": value, "lr": 1e-4, "tokens": 8192, "step_s": 0.5,
                                         "exposed_comm_s": 0.1, "compute_s": 0.4, "peak_memory_bytes": 1 << 21, "grad_norm": 1.0, "tokens_per_s": 16384}) + "\n")
    return first + steps - 1


def keep_running(run):
    state = json.loads((run / "run.json").read_text())
    stat = pathlib.Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()
    state.update(state="running", ended=0, writer={"host": os.uname().nodename, "pid": os.getpid(), "start_time": int(stat[19]),
                                                   "boot_id": pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()})
    (run / "run.json").write_text(json.dumps(state))


def contents(folder):
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    assert shutil.which(CHROMIUM), "packaging/setup --tests installs Chromium"
    folder = tmp_path_factory.mktemp("browsed") / "runs"
    make_run(folder / "mine", 2, 40)
    make_incomplete_run(folder / "early")
    make_run(folder / HOSTILE, 1, 12)
    with open(folder / HOSTILE / "events/rank-00000.jsonl", "a") as events:
        events.write(json.dumps({"type": "error", "t": time.time(), "rank": 0, "message": SCRIPT, "where": SCRIPT}) + "\n")
    return folder


@pytest.fixture(scope="module")
def served(runs):
    server = Served("--all", "--runs-dir", runs)
    yield server
    server.end()


@pytest.fixture(scope="module")
def browser():
    tab = Browser()
    yield tab
    tab.close()


@pytest.fixture(autouse=True)
def nothing_leaves_the_machine(browser, served):
    browser.requests.clear()
    browser.errors.clear()
    yield
    strange = [url for url in browser.requests if not url.startswith((f"http://{served.url.netloc}/", "about:", "data:"))]
    assert browser.requests and strange == [] and browser.dialogs == [] and browser.errors == []


def address(served, name=""):
    from urllib.parse import quote
    return served.url._replace(fragment=quote(name)).geturl() if name else served.url.geturl()


def titles(browser):
    return browser.ask("[...document.querySelectorAll('#charts h2')].map((one) => one.textContent)")


def test_the_list_names_every_run_as_text(served, browser):
    browser.open(address(served))
    browser.wait("document.querySelectorAll('#list a').length === 3")
    names = browser.ask("[...document.querySelectorAll('#list strong')].map((one) => one.textContent)")
    assert sorted(names) == sorted(["early", "mine", HOSTILE]) and browser.ask("document.images.length") == 0


def test_a_completed_run_whose_events_end_early_is_incomplete_in_the_list_and_on_its_page(served, browser):
    browser.open(address(served))
    browser.wait("document.querySelectorAll('#list a').length === 3")
    states = browser.ask("Object.fromEntries([...document.querySelectorAll('#list a')].map((one) => [one.children[0].textContent, one.children[1].textContent]))")
    assert states["early"] == "incomplete" and states[HOSTILE] == "completed"
    browser.open(address(served, "early"))
    browser.wait("document.querySelector('#state').textContent.startsWith('incomplete')")
    assert "end at step 5" in browser.ask("document.querySelector('#verdict').textContent")


def test_charts_are_drawn_and_grow_while_the_run_does(served, browser, runs):
    keep_running(runs / "mine")
    browser.open(address(served, "mine"))
    # The browser may still show the page of another run, because only the fragment of the address changes.
    browser.wait("document.querySelector('#state').textContent.startsWith('running') && document.querySelectorAll('#charts .plot canvas').length > 13")
    assert titles(browser)[:7] == CHARTS
    assert {"Reward", "Clipped ratios", "Gap to the sampling server"} <= set(titles(browser))
    assert browser.ask(INK) > 100
    browser.wait("document.querySelector('#figures dd').textContent.startsWith('40')")
    browser.ask("window.stays = true")
    last = append(runs / "mine", 40)
    browser.wait(f"document.querySelector('#figures dd').textContent.startsWith('{last}')")
    assert browser.ask("window.stays") and browser.ask("document.querySelector('#state').textContent").startswith("running")
    # The last step's loss is not a number, so the list and every chart show an alert.
    browser.wait("document.querySelector('#lines').textContent.includes('alert: The loss is not a number at step 80.')")
    assert browser.ask("document.querySelectorAll('#charts .plot .alert').length") >= 7


def test_what_a_hostile_run_says_is_text(served, browser):
    browser.open(address(served, HOSTILE))
    browser.wait(f"document.querySelector('#lines').textContent.includes({json.dumps(SCRIPT)})")
    assert browser.ask("document.querySelector('#title').textContent") == HOSTILE == browser.ask("document.title")
    assert browser.ask("[document.images.length, document.querySelectorAll('#run b, #lines script').length, typeof window.owned]") == [0, 0, "undefined"]


def test_nothing_there_changes_a_run(served, browser, runs):
    before = contents(runs)
    browser.open(address(served, "mine"))
    browser.wait("document.querySelectorAll('#charts .plot canvas').length > 13")
    assert browser.ask("[...document.querySelectorAll('form, input, button, textarea, select, [contenteditable]')].filter((one) => one.offsetParent).length") == 0
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        for path in ("", "runs", "run/mine", "live/mine", "app.js"):
            status = browser.ask(f"fetch('{path}', {{method: '{method}', body: 'x'}}).then((answer) => answer.status).catch(() => 0)")
            assert status in (0, 404, 405), (method, path, status)
    assert contents(runs) == before


def test_without_the_token_nothing_is_shown(served, browser):
    for root in ("/", "/" + "0" * 32 + "/", served.root + "x/"):
        browser.open(f"http://{served.url.netloc}{root}")
        browser.wait("document.readyState === 'complete'")
        text = browser.ask("document.documentElement.innerText")
        assert "mine" not in text and "img" not in text and browser.ask("document.scripts.length") == 0


def test_it_fits_a_phone(served, browser):
    browser.resize(390, 844, mobile=True)
    browser.open(address(served, "mine"))
    browser.wait("document.querySelectorAll('#charts .plot canvas').length > 13")
    assert browser.ask("document.documentElement.scrollWidth") <= 390
    browser.resize(1200, 900)
