"""Provides two receivers for the alerts of runs: a webhook, and a command that stores its input."""

import http.server
import json
import sys
import threading
import time


BUSY = ("slow_rank", "stall")  # in tests of real runs, these alerts depend on how busy the machine is


def kinds_told(told):
    """Returns the kinds of the alerts that a command got, without those that a busy machine causes."""
    return [kind for _, given in told() if (kind := json.loads(given)["kind"]) not in BUSY]


class Hook(http.server.ThreadingHTTPServer):
    """Receives posts. Waits `seconds` and answers each with the next status of `answers`, or with 200 if none is
    left. Calls `on_post` for each post, and keeps those answered with 200 in `posts`."""

    def __init__(self, *answers):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.posts, self.requests, self.seconds, self.on_post = list(answers), [], [], 0.0, lambda post: None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def told(self):
        """Returns the posts that were answered with 200, without those that a busy machine causes."""
        return [post for post in self.posts if post["kind"] not in BUSY]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/hook?secret=7"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append(self.path)
        self.server.on_post(json.loads(body))
        time.sleep(self.server.seconds)
        code = self.server.answers.pop(0) if self.server.answers else 200
        if code == 200:
            self.server.posts.append(json.loads(body))
        self.send_response(code)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def do_GET(self):
        self.server.requests.append("GET " + self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def keeper(tmp_path, body="pass"):
    """Returns a command that appends its arguments and its input to a file, and the function that reads the file."""
    file = tmp_path / "told.jsonl"
    script = tmp_path / "keep.py"
    script.write_text(f"import json, sys\nsaid = [sys.argv[1:], sys.stdin.read()]\nopen({str(file)!r}, 'a').write(json.dumps(said) + '\\n')\n{body}\n")
    return [sys.executable, str(script)], lambda: [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def make_spiking_rows(file, vocabulary, calm, wild, length=24):
    """Writes `calm` equal rows, which a model soon memorises, and then `wild` rows of random tokens, at which the
    loss jumps."""
    import random

    source = random.Random(5)
    rows = [[7] * length] * calm + [[source.randrange(vocabulary) for _ in range(length)] for _ in range(wild)]
    file.write_text("".join(json.dumps({"input_ids": ids, "labels": ids}) + "\n" for ids in rows))
    return file
