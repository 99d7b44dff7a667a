"""Tests ringmaster serve: only those who have the page's address can read it, and nobody can write."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from urllib.parse import urlsplit

import pytest
from conftest import BIN, make_incomplete_run, make_run, run


class Served:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([str(BIN / "ringmaster"), "serve", "--json", *map(str, arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        self.url = urlsplit(json.loads(self.process.stdout.readline())["address"])
        self.root = self.url.path

    def ask(self, path, method="GET", host=None, origin=None, root=None, body=None):
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=30)
        headers = {"Host": host or self.url.netloc, **({"Origin": origin} if origin else {})}
        connection.request(method, (self.root if root is None else root) + path, headers=headers, body=body)
        return connection.getresponse()

    def text(self, path):
        return self.ask(path).read().decode()

    def raw(self, request, wait=True):
        """Sends the bytes unchanged; returns the first line of the answer."""
        with socket.create_connection((self.url.hostname, self.url.port), timeout=30) as connection:
            connection.sendall(request)
            return connection.recv(4096).split(b"\r\n")[0].decode("latin-1") if wait else None

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "runs"
    make_run(folder / "mine", 2, 5)
    make_run(folder / "<b>other", 1, 3)
    return folder


@pytest.fixture(scope="module")
def served(runs):
    server = Served("--all", "--runs-dir", runs)
    yield server
    assert server.process.poll() is None and server.end() == 0


def test_the_page_and_its_parts_come_with_the_token_only(served):
    assert served.url.hostname == "127.0.0.1" and len(served.root) == 34
    for path in ("", "app.js", "style.css", "dygraph.js", "dygraph.css", "runs", "run/mine"):
        answer = served.ask(path)
        assert answer.status == 200 and len(answer.read()) > 20, path
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] == "no-referrer" and answer.headers["X-Content-Type-Options"] == "nosniff"
        for root in ("/", "/" + "0" * 32 + "/", served.root[:-2] + "/", served.root[:-1] + "0/", "//", served.root.upper()):
            assert served.ask(path, root=root).status == 404, (path, root)
    assert served.ask("", root=served.root[:-1]).status == 404


def test_the_page_names_nothing_elsewhere(served):
    for path in ("", "app.js", "style.css"):
        text = served.text(path).replace("http://www.w3.org", "")
        assert "http://" not in text and "https://" not in text and "//cdn" not in text
        assert "innerHTML" not in text and "insertAdjacentHTML" not in text


def test_a_strange_host_or_origin_is_refused(served):
    port = served.url.port
    assert served.ask("runs", host=f"localhost:{port}").status == 200
    assert served.ask("runs", origin=f"http://127.0.0.1:{port}").status == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1.evil.example:{port}", f"127.0.0.1:{port + 1}", f":{port}"):
        assert served.ask("runs", host=host).status == 403, host
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port}.evil.example"):
        assert served.ask("runs", origin=origin).status == 403, origin
    assert " 403 " in served.raw(f"GET {served.root}runs HTTP/1.0\r\n\r\n".encode())  # no Host header
    assert " 403 " in served.raw(f"GET {served.root}runs HTTP/1.1\r\nHost: x\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_written(served, runs, method):
    before = {file: os.stat(file).st_mtime_ns for file in runs.rglob("*")}
    assert served.ask("run/mine", method=method, body="x" * 100).status == 405
    assert served.ask("", method=method, root="/").status == 405
    assert {file: os.stat(file).st_mtime_ns for file in runs.rglob("*")} == before


def test_no_path_leads_out_of_the_runs(served, runs):
    (runs.parent / "secret").mkdir()
    make_run(runs.parent / "outside", 1, 2)
    for path in ("run/..", "run/../..", "run/%2e%2e", "run/..%2foutside", "run/%2e%2e%2foutside", "run/../outside", "run/mine/run.json",
                 "run/mine/../../outside", "live/nobody", "live/..%2foutside", "run/", "../runs", "config.yaml", "run/%00", "run/mine%00",
                 "run//etc/passwd", "dygraph/../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "run/" + "a" * 2000):
        assert served.ask(path).status in (400, 403, 404), path


@pytest.mark.parametrize("request_bytes", [b"\r\n\r\n", b"GET\r\n\r\n", b"\0" * 100 + b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                           b"GET / HTTP/1.1\r\n" + b"a: " + b"b" * 20_000 + b"\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
                                           b"GET http://127.0.0.1/ HTTP/1.1\r\nHost: x\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"])
def test_a_request_that_is_none_harms_nothing(served, request_bytes):
    answer = served.raw(request_bytes)
    assert not answer.startswith("HTTP/1.1 200"), answer
    assert served.ask("runs").status == 200


def test_the_figures_are_those_of_the_events(served):
    page = json.loads(served.text("run/mine"))
    assert page["state"] == "completed" and page["step"] == 5 and page["ranks"] == 2
    assert page["loss"] == pytest.approx(4 / 5) and page["tokens_per_s"] == pytest.approx(16384)
    assert page["curves"]["step"] == [1, 2, 3, 4, 5]
    assert page["curves"]["loss"]["mean"] == pytest.approx([4, 2, 4 / 3, 1, 0.8], rel=1e-6)
    assert page["curves"]["exposed"]["high"] == pytest.approx([0.25] * 5)
    listed = {one["name"]: one for one in json.loads(served.text("runs"))}
    assert set(listed) == {"mine", "<b>other"} and "dir" not in listed["mine"]
    assert json.loads(served.text("run/%3Cb%3Eother"))["name"] == "<b>other"


def test_a_completed_run_whose_events_end_early_is_told_as_incomplete(tmp_path):
    make_incomplete_run(tmp_path / "runs/early")
    make_run(tmp_path / "runs/whole")
    server = Served("--all", "--runs-dir", tmp_path / "runs")
    assert {one["name"]: one["incomplete"] for one in json.loads(server.text("runs"))} == {"early": True, "whole": False}
    assert {name: json.loads(server.text("run/" + name))["incomplete"] for name in ("early", "whole")} == {"early": True, "whole": False}
    assert server.end() == 0


def test_silent_clients_do_not_keep_others_out(served):
    address = (served.url.hostname, served.url.port)
    silent = []
    for number in range(1000):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(address)
        silent.append(client)
        if number == 200:
            for begun in silent:
                try:
                    begun.send(b"GET / HTTP/1.1\r\nHo")
                except OSError:
                    pass
    began = time.monotonic()
    assert served.ask("runs").status == 200
    assert time.monotonic() - began < 25
    for client in silent:
        client.close()
    assert served.ask("runs").status == 200


def next_page(stream):
    while True:
        line = stream.readline().decode()
        assert line, "the stream has ended"
        if line.startswith("data: "):
            return json.loads(line[6:])


def test_a_run_that_grows_is_told_live_and_nothing_is_written(tmp_path):
    make_run(tmp_path / "runs/mine", 1, 5)
    make_run(tmp_path / "runs/other", 1, 3)
    server = Served("mine", "--runs-dir", tmp_path / "runs")
    assert [one["name"] for one in json.loads(server.text("runs"))] == ["mine"]
    assert server.ask("run/other").status == 404
    answer = server.ask("live/mine")
    assert answer.status == 200 and answer.headers["Content-Type"] == "text/event-stream"
    assert next_page(answer)["step"] == 5
    events = tmp_path / "runs/mine/events/rank-00000.jsonl"
    steps = [line for line in map(json.loads, events.read_text().splitlines()) if line["type"] == "step"]
    with events.open("a") as file:
        file.write(json.dumps({**steps[-1], "step": 6, "loss": 0.5}) + "\n")
    before = {file: os.stat(file).st_mtime_ns for file in (tmp_path / "runs").rglob("*")}
    while (page := next_page(answer))["step"] != 6:
        pass
    assert page["loss"] == 0.5
    assert server.end() == 0
    assert {file: os.stat(file).st_mtime_ns for file in (tmp_path / "runs").rglob("*")} == before


def test_only_so_many_pages_are_live(served):
    streams = [served.ask("live/mine") for _ in range(65)]
    assert [stream.status for stream in streams] == [200] * 64 + [503]
    assert served.ask("runs").status == 200  # the other threads still answer
    for stream in streams:
        stream.close()


def test_what_cannot_be_served_is_said(tmp_path):
    assert run("serve", "--runs-dir", tmp_path).returncode == 2
    assert run("serve", "nobody", "--runs-dir", tmp_path).returncode == 2
    for address in ("0.0.0.0", "::", "[::]", ""):
        assert run("serve", "--all", "--runs-dir", tmp_path, "--bind", address).returncode == 2, address
    refused = run("serve", "--all", "--runs-dir", tmp_path, "--bind", "192.0.2.1", "--json")
    assert refused.returncode == 3 and json.loads(refused.stdout)["finding"]["code"] == "SERVE-PORT"
