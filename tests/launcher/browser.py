"""Drives headless Chromium over pipes with the DevTools protocol, without a driver or a port."""

import itertools
import json
import os
import select
import subprocess
import tempfile
import time

CHROMIUM = "/usr/bin/chromium"


class Browser:
    """Drives one tab. `requests` holds the address of everything that the page asked for, `dialogs` the texts of its
    dialogs, `errors` its exceptions."""

    def __init__(self, width=1200, height=900):
        self.profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.back, theirs_out = os.pipe()
        words = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--no-default-browser-check", f"--user-data-dir={self.profile.name}", "about:blank"]

        def lay_pipes():  # Chromium reads commands from descriptor 3 and answers on 4
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lay_pipes, close_fds=False)
        os.close(theirs_in)
        os.close(theirs_out)
        self.left, self.ids, self.session = b"", itertools.count(1), None
        self.requests, self.dialogs, self.errors = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def resize(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def _read(self, seconds):
        while b"\0" not in self.left:
            if not select.select([self.back], [], [], seconds)[0]:
                return None
            more = os.read(self.back, 1 << 20)
            assert more, "Chromium has ended"
            self.left += more
        text, self.left = self.left.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        method, given = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(given["request"]["url"])
        elif method == "Network.webSocketCreated":
            self.requests.append(given["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs.append(given["message"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(given["exceptionDetails"]["text"])

    def call(self, method, **given):
        number = next(self.ids)
        message = {"id": number, "method": method, "params": given, **({"sessionId": self.session} if self.session else {})}
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + 60
        while time.monotonic() < end:
            answer = self._read(1)
            if answer is None:
                continue
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)
        raise TimeoutError(method)

    def open(self, url):
        self.call("Page.navigate", url=url)

    def ask(self, expression):
        """Returns the value of a JavaScript expression; waits for a promise."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def wait(self, expression, seconds=30):
        """Waits until the expression is true; returns its value."""
        end = time.monotonic() + seconds
        while True:
            found = self.ask(expression)
            if found:
                return found
            assert time.monotonic() < end, f"waited {seconds} s for {expression}: {self.ask('document.body.innerText')[:500]}"
            time.sleep(0.05)

    def picture(self, file):
        import base64
        with open(file, "wb") as out:
            out.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.back)
        self.profile.cleanup()
