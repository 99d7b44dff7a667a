"""Launches and stops the example by keyboard, guided only by what AT-SPI events announce, as for a user with a screen reader.

    screen_reader.py BIN

Runs with a separate session bus and X server (see test_screen_reader.py), and prints the
announcements. It never reads the application's tree, so a control that gets the focus without an
event ends the test."""

import os
import subprocess
import sys
import time

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

EVENTS = ("object:state-changed:focused", "object:property-change:accessible-name", "object:property-change:accessible-description",
          "object:property-change:accessible-value", "window:activate")
MOST_TABS = 80


class Silence(Exception):
    pass


class ScreenReader:
    def __init__(self):
        self.heard = []
        self.listener = Atspi.EventListener.new(self.hear)
        for event in EVENTS:
            self.listener.register(event)

    def hear(self, event):
        if event.type.startswith("object:state-changed") and not event.detail1:
            return
        kind = "change" if "property-change" in event.type else "window" if event.type.startswith("window") else "focus"
        try:
            said = kind, event.source.get_role_name(), event.source.get_name() or "", event.source.get_description() or ""
        except GLib.Error:
            return  # the control no longer exists
        self.heard.append(said)
        if kind != "change" or said[1] == "frame":
            print(f"{time.monotonic():10.2f}  {kind:7} {said[1]:14} {said[2][:100]!r} {said[3][:60]!r}", flush=True)

    def wait(self, wanted, seconds, since=0):
        """Returns the first announcement after `since` that is wanted."""
        end = time.monotonic() + seconds
        context = GLib.MainContext.default()
        while True:
            while context.iteration(False):
                pass
            for said in self.heard[since:]:
                if wanted(said):
                    return said
            if time.monotonic() > end:
                return None
            time.sleep(0.01)

    def press(self, key):
        """Presses a key; returns the number of announcements before it."""
        before = len(self.heard)
        subprocess.run(["xdotool", "key", "--clearmodifiers", key], check=True)
        return before

    def tab_to(self, name):
        """Presses Tab until the focus is announced for a control whose name begins with the given text."""
        passed = []
        for _ in range(MOST_TABS):
            said = self.wait(lambda one: one[0] == "focus", 3, self.press("Tab"))
            if said is None:
                raise Silence(f"Tab after {passed[-1:]} was not announced")
            passed.append(said[2])
            if not said[2]:
                raise Silence(f"a {said[1]} after {passed[-2:-1]} has no name")
            if said[2].startswith(name):
                return said
        raise Silence(f"{name} was not among {passed}")

    def expect(self, wanted, seconds, what, since=0):
        said = self.wait(wanted, seconds, since)
        if said is None:
            raise Silence(f"nothing said {what}")
        return said


def main(bin_folder):
    reader = ScreenReader()
    manager = subprocess.Popen(["openbox"])  # gives the keyboard focus to a new window, as on any desktop
    time.sleep(1)  # a window that opens before openbox runs gets no focus
    app = subprocess.Popen([os.path.join(bin_folder, "ringmaster-gui")], env={**os.environ, "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1"})
    try:
        reader.expect(lambda said: said[0] == "window", 30, "that the window is open")  # tables announce a row before the window is active
        reader.tab_to("Try the example")
        before = reader.press("space")
        reader.expect(lambda said: said[0] == "focus", 30, "where the focus went with the example", before)
        reader.tab_to("Launch on")
        before = reader.press("space")
        reader.expect(lambda said: said[0] in ("focus", "window"), 30, "that the dialog is open", before)
        reader.tab_to("Launch")
        before = reader.press("space")
        verdict = lambda text: lambda said: said[1] == "frame" and said[2].startswith(text)  # noqa: E731
        reader.expect(verdict("Running"), 240, "that the run is training", before)
        reader.tab_to("Stop and save")
        before = reader.press("space")
        reader.expect(verdict("Stopped"), 120, "that the run has stopped", before)
        print(f"heard {len(reader.heard)} announcements")
    finally:
        app.terminate()
        app.wait(20)
        manager.terminate()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Silence as silence:
        sys.exit(f"silence: {silence}")
