"""Asks servers for completions: servers that answer correctly, send wrong answers, are slow, or end and restart."""

import json
import math
import random
import socket
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import PROGRAM

sys.path[:0] = [str(PROGRAM.parent), str(Path(__file__).parent.parent / "support")]
from certificates import make_certificates
from completions_server import Server
from mutated import mutated
from ringmaster_rows import rollout_server
from ringmaster_rows.report import Failure
from ringmaster_rows.rollout_server import RolloutServer
from ringmaster_rows.served import InvalidAnswer, Wanted, completions_in

ASKED = {"step": 3, "weights": "/weights", "prompts": [[5, 6, 7], [8, 9]], "n": 3, "max_tokens": 4, "temperature": 1.0, "top_k": 0, "top_p": 1.0,
         "seed": 40, "stop_ids": [1], "vocabulary": 16, "log_probabilities": True}


class Table:
    """Stands in for a model: its completions depend only on the prompt and the seed."""

    version = "default"

    def load(self, folder, version="default"):
        self.folder, self.version = folder, version

    def continued(self, prompt, seed, asked):
        source = random.Random(f"{prompt} {seed}")
        ids = [source.randrange(2, 16) for _ in range(source.randint(1, asked["max_tokens"]))]
        if len(ids) < asked["max_tokens"]:
            ids[-1] = 1
        return ids, [-source.random() for _ in ids]


class Said:
    def __init__(self):
        self.warnings = []

    def warning(self, text):
        self.warnings.append(text)


@pytest.fixture
def serve(monkeypatch):
    """Returns serve(lie, dialect) -> Server; pauses between attempts are short."""
    monkeypatch.setattr(rollout_server, "PAUSES", (0.05, 0.1))
    servers = []

    def run(lie=None, dialect="sglang", **settings):
        servers.append(Server(dialect, lie, model=Table(), **settings))
        return servers[-1]

    yield run
    for server in servers:
        server.__exit__()


def ask(port, timeout=5, command="", asked=ASKED, **settings):
    said = Said()
    client = RolloutServer({"url": f"http://127.0.0.1:{port}", "timeout": timeout, "reload_command": command, **settings}, said)
    return client.rollouts(asked), said.warnings


def failure(port, **settings):
    begun = time.monotonic()
    with pytest.raises(Failure) as found:
        ask(port, **settings)
    return str(found.value), found.value.hint, time.monotonic() - begun


@pytest.mark.parametrize("dialect", ["sglang", "vllm"])
def test_completions_come_as_they_were_sampled_after_the_weights_are_loaded(serve, dialect):
    server = serve(dialect=dialect)
    found, warnings = ask(server.port)
    by_prompt = {tuple(asked["prompt"]): choices for asked, choices in server.answers}
    expected = [choice for prompt in ASKED["prompts"] for choice in by_prompt[tuple(prompt)]]
    assert found["completions"] == [choice["token_ids"] for choice in expected] and len(expected) == 6
    assert found["log_probabilities"] == [choice["logprobs"]["token_logprobs"] for choice in expected]
    assert server.loaded == ["/weights"] and not warnings
    assert sorted(asked["seed"] for asked, _ in server.answers) == [40, 43], "a seed for each completion"
    again, _ = ask(server.port, asked={**ASKED, "log_probabilities": False})
    assert again == {"completions": found["completions"], "log_probabilities": None}
    assert server.answers[-1][0].get("logprobs") is None


def test_older_servers_give_token_ids_in_place_of_texts(serve):
    def without_ids(handler, path, answer):
        for choice in answer.get("choices", []):
            del choice["token_ids"], choice["prompt_token_ids"]
        return answer

    server = serve(without_ids)
    expected, _ = ask(serve().port)
    assert ask(server.port)[0] == expected


def change(**values):
    """Returns a function that replaces these fields of the second completion."""
    def lie(handler, path, answer):
        if path == "/v1/completions":
            choice = answer["choices"][1]
            for key, value in values.items():
                choice[key] = value(choice) if callable(value) else value
        return answer
    return lie


def logs(value):
    return change(logprobs=lambda choice: {"token_logprobs": [value] * len(choice["token_ids"])})


def whole(function):
    return lambda handler, path, answer: function(answer) if path == "/v1/completions" else answer


LIES = {
    "an id outside the vocabulary": (change(token_ids=[16]), "16, which the model does not know"),
    "a negative id": (change(token_ids=[-1]), "-1, which the model does not know"),
    "an id that is no number": (change(token_ids=["5"]), "5, which the model does not know"),
    "an id that is true": (change(token_ids=[True]), "True, which the model does not know"),
    "an id of many digits": (change(token_ids=[10**60]), "which the model does not know"),
    "no ids": (change(token_ids=None, logprobs={"tokens": ["a"], "token_logprobs": [-1.0]}), "without token ids"),
    "no token": (change(token_ids=[]), "0 tokens"),
    "too many tokens": (change(token_ids=[5] * 5), "5 tokens, not 1 to 4"),
    "another prompt": (change(prompt_token_ids=[5, 6]), "of another prompt"),
    "tokens after a stop": (change(token_ids=[1, 5]), "goes on after a stop token"),
    "a stop without its token": (change(token_ids=[5], finish_reason="stop"), "ended at the token 5"),
    "an aborted completion": (change(finish_reason="abort"), "ended by 'abort'"),
    "NaN": (logs(math.nan), "holds NaN"),
    "an infinite log-probability": (logs(-math.inf), "holds -Infinity"),
    "a positive log-probability": (logs(0.5), "a log-probability is 0.5"),
    "a log-probability that is text": (logs("-1"), "a log-probability is -1"),
    "no log-probabilities": (change(logprobs=None), "as many log-probabilities"),
    "too few log-probabilities": (change(token_ids=[5, 6], finish_reason="length", logprobs={"token_logprobs": [-1.0]}), "as many log-probabilities"),
    "too few completions": (whole(lambda answer: {**answer, "choices": answer["choices"][:2]}), "does not hold 3 completions"),
    "too many completions": (whole(lambda answer: {**answer, "choices": answer["choices"] * 2}), "does not hold 3 completions"),
    "one index twice": (change(index=0), "not numbered from 0"),
    "a list": (whole(lambda answer: [answer]), "no JSON object"),
    "deep nesting": (whole(lambda answer: {"a": json.loads("[" * 500 + "]" * 500)}), "does not hold 3"),
    "other weights": (whole(lambda answer: {**answer, "metadata": {"weight_version": "7"}}), "of other weights: 7"),
    "a reload that failed": (lambda handler, path, answer: {**answer, "success": False} if "update" in path else answer, "does not say that it succeeded"),
    "no model": (lambda handler, path, answer: {"data": []} if "models" in path else answer, "names no model"),
}


@pytest.mark.parametrize("lie, said", LIES.values(), ids=LIES)
def test_each_lie_is_named_after_three_attempts(serve, lie, said):
    server = serve(lie)
    what, hint, _ = failure(server.port)
    assert said in what and "(3 times)" in what and "resume" in hint
    assert server.served["/update_weights_from_disk"] == 3, "each attempt hands over the weights again"


def test_a_lie_that_ends_is_forgiven(serve):
    count = []

    def twice(handler, path, answer):
        if path == "/v1/completions" and len(count) < 2:
            count.append(1)
            answer["choices"] = []
        return answer

    found, warnings = ask(serve(twice).port)
    assert found == ask(serve().port)[0] and 1 <= len(warnings) <= 2 and "next attempt" in warnings[0]


def answers(status, content=b"", path="/v1/completions", **headers):
    def lie(handler, asked, answer):
        if asked != path:
            return answer
        return handler.respond(status, content, **headers)
    return lie


def test_what_the_server_refuses_is_not_tried_again(serve):
    server = serve(answers(400, b'{"message": "prompt is too long"}'))
    what, _, seconds = failure(server.port)
    assert "answers 400" in what and "prompt is too long" in what and server.served["/v1/completions"] <= 2 and seconds < 2


def test_what_the_server_says_controls_no_terminal(serve):
    what, _, _ = failure(serve(answers(400, b"\x1b[2Jred\nalert")).port)
    assert what.endswith(": [2Jred alert") or what.endswith(":  [2Jred alert")


def test_no_redirection_is_followed(serve):
    other = serve()
    server = serve(answers(307, Location=f"http://127.0.0.1:{other.port}/v1/completions"))
    what, hint, _ = failure(server.port)
    assert "leads to another place" in what and "vllm_server_host" in hint and not other.served


def test_a_huge_answer_is_not_read(serve):
    def endless(handler, path, answer):
        if path != "/v1/completions":
            return answer
        handler.send_response(200)
        handler.end_headers()
        try:
            while True:
                handler.wfile.write(b"[" * 65536)
        except OSError:
            pass

    what, _, seconds = failure(serve(endless).port)
    assert "is longer than" in what and seconds < 4


@pytest.mark.parametrize("in_body", [False, True])
def test_a_server_that_drips_gets_no_more_time(serve, in_body):
    def drip(handler, path, answer):
        if path != "/v1/completions":
            return answer
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n" + b"\r\n" * in_body)
        try:
            while True:
                handler.wfile.write(b" " if in_body else b"a: b\r\n")
                time.sleep(0.1)
        except OSError:
            pass

    what, hint, seconds = failure(serve(drip).port, timeout=1)
    assert "gave no completions within 1 s" in what and "vllm_server_timeout" in hint and 0.8 < seconds < 2


def test_a_server_that_is_not_there_is_waited_for(serve):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    threading.Timer(0.5, lambda: serve(port=port)).start()
    found, warnings = ask(port)
    assert found == ask(serve().port)[0] and "refused" in warnings[0]
    what, _, seconds = failure(1, timeout=1)
    assert "gave no completions within 1 s" in what and seconds < 1.5


def test_a_server_that_breaks_off_or_is_busy_is_asked_again(serve):
    for fault in (lambda handler, path, answer: handler.connection.close(), answers(503, b"loading"), answers(429)):
        faults = iter([fault] * 2)

        def lie(handler, path, answer):
            return next(faults, lambda handler, path, answer: answer)(handler, path, answer) if path == "/v1/completions" else answer

        assert ask(serve(lie).port)[0]["completions"]


def test_old_weights_are_never_used(serve, tmp_path):
    server = serve(dialect="none")
    what, hint, _ = failure(server.port)
    assert "no endpoint that loads the present weights" in what and "vllm_reload_command" in hint
    assert "/v1/completions" not in server.served
    note = tmp_path / "note"
    found, _ = ask(server.port, command=f'echo "$RINGMASTER_WEIGHTS $RINGMASTER_SERVER $RINGMASTER_STEP" > {note}')
    assert note.read_text() == f"/weights http://127.0.0.1:{server.port} 3\n" and len(found["completions"]) == 6
    what, _, _ = failure(server.port, command="exit 7")
    assert "ended with status 7" in what
    assert "did not end in time" in failure(server.port, command="sleep 30", timeout=1)[0]


def test_the_parser_takes_no_text_for_an_answer():
    wanted = Wanted([1], 1, 4, 16, frozenset([1]), False)
    for body in (b"", b"\xff\xfe", b"[" * 100_000, b'{"choices": [', b'{"choices": {"0": 1}}', b'{"choices": [1]}', b"1" * 5000,
                 b'{"choices": [{"token_ids": {}, "finish_reason": "stop"}]}'):
        with pytest.raises(InvalidAnswer):
            completions_in(body, wanted)
    asks = Wanted([1], 1, 4, 16, frozenset([1]), True)
    body = '{"choices": [{"token_ids": [1], "finish_reason": "stop", "logprobs": {"token_logprobs": [%s]}}]}'
    assert completions_in(body % "-1", asks) == [([1], [-1.0])]
    with pytest.raises(InvalidAnswer, match="a log-probability is -inf"):
        completions_in(body % "-1e999", asks)


KEY = "sk-local-0123456789abcdef"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return make_certificates(tmp_path_factory.mktemp("tls"))


def over_tls(server, ca_file="", path=""):
    return {"url": f"https://127.0.0.1:{server.port}{path}", "ca_file": str(ca_file)}


def test_completions_come_over_tls_from_a_server_whose_ca_is_named(serve, certificates):
    expected, _ = ask(serve().port)
    server = serve(certificate=certificates / "server.pem", prefix="/base")
    found, warnings = ask(server.port, **over_tls(server, certificates / "ca.pem", "/base/"))
    assert found == expected and not warnings and server.loaded == ["/weights"]


def test_the_systems_cas_are_trusted_and_ssl_cert_file_replaces_them(serve, certificates, monkeypatch):
    server = serve(certificate=certificates / "server.pem")
    found, hint, seconds = failure(server.port, **over_tls(server))
    assert "the server's certificate is not trusted" in found and "vllm_server_ca_file" in hint and seconds < 3
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates / "ca.pem"))
    assert len(ask(server.port, **over_tls(server))[0]["completions"]) == 6


@pytest.mark.parametrize("certificate, ca, what", [("server", "stranger", "is not trusted"), ("elsewhere", "ca", "IP address mismatch")])
def test_a_wrong_certificate_is_refused_at_once_and_gets_no_key(serve, certificates, monkeypatch, certificate, ca, what):
    monkeypatch.setenv("SERVER_KEY", KEY)
    server = serve(certificate=certificates / f"{certificate}.pem")
    found, hint, seconds = failure(server.port, key_variable="SERVER_KEY", **over_tls(server, certificates / f"{ca}.pem"))
    assert what in found and "not trusted" in found and seconds < 3 and not server.served
    assert "vllm_server_ca_file" in hint and "attempt" not in found


def test_a_server_without_tls_or_with_no_ca_in_the_file_is_named(serve, certificates):
    server = serve()
    found, hint, seconds = failure(server.port, **over_tls(server, certificates / "ca.pem"))
    assert "does not speak TLS" in found and "http://" in hint and seconds < 3
    for file in (certificates / "nowhere.pem", certificates / "server.txt"):
        with pytest.raises(Failure, match="holds no certificates") as raised:
            ask(server.port, **over_tls(server, file))
        assert raised.value.where == str(file)


@pytest.mark.parametrize("lie", ["silence", "drip"])
def test_the_deadline_holds_during_the_handshake(certificates, lie):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def answer():
            line, _ = listener.accept()
            with line:
                for _ in range(100):
                    time.sleep(0.1)
                    try:
                        line.sendall(b"\x16\x03\x03\x40\x00" if lie == "drip" and _ == 0 else b"\x02" if lie == "drip" else b"")
                    except OSError:
                        return

        threading.Thread(target=answer, daemon=True).start()
        found, _, seconds = failure(listener.getsockname()[1], timeout=1, url=f"https://127.0.0.1:{listener.getsockname()[1]}",
                                    ca_file=str(certificates / "ca.pem"))
    assert "gave no completions within 1 s" in found and seconds < 2.5


def test_the_api_key_comes_from_the_environment_or_a_file(serve, monkeypatch, tmp_path):
    server = serve(key=KEY)
    found, hint, _ = failure(server.port)
    assert "answers 401" in found and "vllm_server_api_key_env" in hint
    monkeypatch.setenv("SERVER_KEY", KEY)
    expected, _ = ask(server.port, key_variable="SERVER_KEY")
    (tmp_path / "key").write_text(KEY + "\n")
    assert ask(server.port, key_file=str(tmp_path / "key"))[0] == expected and len(expected["completions"]) == 6


def test_a_key_that_cannot_be_had_is_named_without_its_text(serve, monkeypatch, tmp_path):
    server = serve()
    for text in ("two words", "line\nline2", "", "ключ", "x" * 9000):
        (tmp_path / "key").write_text(text)
        with pytest.raises(Failure, match="API key") as raised:
            ask(server.port, key_file=str(tmp_path / "key"))
        assert raised.value.where == str(tmp_path / "key") and (not text or text not in str(raised.value))
    (tmp_path / "key").write_bytes(b"\xff\xfe")
    for settings, where in (({"key_file": str(tmp_path / "key")}, "key"), ({"key_file": str(tmp_path / "none")}, "none"),
                            ({"key_variable": "SURELY_NOT_SET"}, "SURELY_NOT_SET")):
        with pytest.raises(Failure) as raised:
            ask(server.port, **settings)
        assert where in raised.value.where
    assert not server.served


def test_no_text_repeats_the_key_that_a_server_sends_back(serve, monkeypatch):
    """The server sends the key at the place where messages are cut off, so that a part of the key could remain."""
    monkeypatch.setenv("SERVER_KEY", KEY)

    def echo(status, location=""):
        def lie(handler, path, answer):
            handler.respond(status, b"x" * 290 + KEY.encode(), Location="y" * 90 + KEY)
        return lie

    def version(handler, path, answer):
        return {**answer, "metadata": {"weight_version": "z" * 70 + KEY}} if path == "/v1/completions" else answer

    for lie in (echo(400), echo(401), echo(302), echo(503), echo(200), version):
        server, said = serve(lie), Said()
        client = RolloutServer({"url": f"http://127.0.0.1:{server.port}", "timeout": 1, "reload_command": "", "key_variable": "SERVER_KEY"}, said)
        with pytest.raises(Failure) as raised:
            client.rollouts(ASKED)
        for text in (raised.value.what, raised.value.hint, raised.value.where, *said.warnings):
            assert KEY[:8] not in text, text
    wrong = serve(key="another key")
    found, hint, _ = failure(wrong.port, key_variable="SERVER_KEY")
    assert "wrong key: Bearer [removed]" in found and KEY[:8] not in found + hint


def test_no_mutation_of_an_answer_does_more_than_lie():
    """For any answer of the server, the parser either returns completions that fit the request or raises
    InvalidAnswer with a short line that names the fault."""
    source, table = random.Random(3), Table()
    good = []
    for logs in (True, False):
        wanted = Wanted([5, 6], 3, 4, 16, frozenset([1]), logs, "ringmaster-1")
        choices = []
        for index in range(3):
            ids, values = table.continued([5, 6], index, {"max_tokens": 4})
            choices.append({"index": index, "text": "", "token_ids": ids, "prompt_token_ids": [5, 6], "finish_reason": "stop" if ids[-1] == 1 else "length",
                            "logprobs": {"tokens": [f"token_id:{id}" for id in ids], "token_logprobs": values}})
        good.append((json.dumps({"choices": choices, "metadata": {"weight_version": "ringmaster-1"}}).encode(), wanted))
    words = [b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-1e999", b"9" * 4400, b"-1", b"1.0", b"[]", b"{}", b"[[", b'"', b"\xff", b"\xed\xa0\x80", b"\x00", b"\n",
             b'"token_ids"', b'"index"', b'"token_id:1"', b'"token_id:\xd9\xa1"', b"2147483648", b"18446744073709551616", b'"\\ud800"', b"[" * 3000, b"99",
             b"7"]
    kept = 0
    for number in range(4000):
        body, wanted = good[number % 2]
        try:
            found = completions_in(mutated(body, words, source, 3), wanted)
        except InvalidAnswer as lie:
            assert len(str(lie)) < 300
            rollout_server.printable(lie).encode()
            continue
        kept += 1
        assert len(found) == 3
        for ids, values in found:
            assert 1 <= len(ids) <= 4 and all(type(id) is int and 0 <= id < 16 for id in ids) and 1 not in ids[:-1]
            assert values is None if not wanted.log_probabilities else len(values) == len(ids)
            assert all(math.isfinite(value) and value <= 1e-5 for value in values or ())
    assert 400 < kept < 3600, "some are still answers, most are not"
