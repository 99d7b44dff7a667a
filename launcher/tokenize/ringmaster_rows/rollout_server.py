"""Asks a server of completions for a step's rollouts: hands it the present weights, then sends each prompt as token ids. Nothing is
tokenized again. The server may be slow, restart, or answer anything; a step ends with its completions or with the reason."""

import http.client
import json
import os
import secrets
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from .report import UNREACHABLE, Failure
from .served import Lie, Wanted, completions_in, parsed

AT_ONCE = 16  # requests
PATIENT_WITH_LIES = 3  # attempts that may end with an answer which is not what was asked for
PAUSES = (0.5, 15.0)  # seconds between attempts: the first, and the longest
MOST_BYTES = 1 << 20  # of an answer that holds no completions
SEEDS = 2**31


class Away(Exception):
    """The server cannot be reached, is not ready, or broke the connection: to be tried again until the time is over."""


class Refusal(Exception):
    """The server understands the request and refuses it: trying again would not help."""

    def __init__(self, what, status=0, hint=""):
        super().__init__(what)
        self.status, self.hint = status, hint


class Connections:
    """Sends requests until a deadline. All connections are broken off at the deadline, so that a server that answers a byte a second
    gets no more time than one that does not answer. Follows no redirection and no proxy."""

    def __init__(self, host, port, deadline):
        self.host, self.port, self.deadline = host, port, deadline
        self._open, self._lock, self._over = set(), threading.Lock(), False
        self._alarm = threading.Timer(self.left(), self.abandon)
        self._alarm.daemon = True

    def __enter__(self):
        self._alarm.start()
        return self

    def __exit__(self, *_):
        self._alarm.cancel()
        self.abandon()

    def abandon(self):
        with self._lock:
            self._over = True
            for line in self._open:
                break_off(line)

    def left(self):
        return max(0.01, self.deadline - time.monotonic())

    def ask(self, method, path, question=None, longest=MOST_BYTES):
        """Returns the body of a good answer. Raises Away, Refusal or Lie."""
        connection, line = http.client.HTTPConnection(self.host, self.port, timeout=self.left()), None
        try:
            connection.connect()
            line = connection.sock  # http.client forgets it once it has read an answer's head
            with self._lock:
                if self._over:
                    raise Away("the time is over")
                self._open.add(line)
            body = None if question is None else json.dumps(question).encode()
            connection.request(method, path, body, {"Content-Type": "application/json", "Accept": "application/json"})
            response = connection.getresponse()
            answer = response.read(longest + 1)
        except OSError as error:
            raise Away(f"{path}: {error.strerror or error}"[:200]) from error
        except (http.client.HTTPException, ValueError) as error:
            raise Away(f"{path}: {type(error).__name__}: {error}"[:200]) from error
        finally:
            with self._lock:
                self._open.discard(line)
            if line:
                break_off(line)
            connection.close()
        if len(answer) > longest:
            raise Lie(f"the answer to {path} is longer than {longest} bytes")
        return judged(path, response.status, response.getheader("Location"), answer)


def printable(error):
    """Returns the error's text on one line. It may hold what the server said, and must not control a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in str(error))


def break_off(line):
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the server has closed it


def judged(path, status, location, answer):
    if status == 200:
        return answer
    said = answer[:300].decode("utf-8", "replace").strip()
    if 300 <= status < 400:
        raise Refusal(f"{path} leads to another place, {str(location)[:100]!r}, which is not followed", status,
                      "name the server itself in trl.vllm_server_host and trl.vllm_server_port")
    if status in (408, 425, 429) or status >= 500:
        raise Away(f"{path} answers {status}: {said}")
    raise Refusal(f"{path} answers {status}: {said}", status)


class RolloutServer:
    def __init__(self, settings, report):
        self.host, self.port, self.seconds = settings["host"], settings["port"], settings["timeout"]
        self.command, self.report = settings["reload_command"], report
        self.where = f"server http://{self.host}:{self.port}"
        self.token = secrets.token_hex(4)  # names this process's weights: another run may use the server too

    def rollouts(self, asked):
        """Returns {"completions", "log_probabilities"} of all prompts, as the engine reads them."""
        deadline, lies, pause = time.monotonic() + self.seconds, 0, PAUSES[0]
        while True:
            try:
                with Connections(self.host, self.port, deadline) as connections:
                    return self.attempt(asked, connections)
            except Refusal as refusal:
                raise Failure(printable(refusal), self.where, refusal.hint) from refusal
            except Lie as error:
                lies, problem = lies + 1, printable(error)
            except Away as error:
                problem = printable(error)
            if lies == PATIENT_WITH_LIES:
                raise Failure(f"{problem} ({lies} times)", self.where, "look at the server's log, then resume the run")
            if deadline - time.monotonic() <= pause:
                raise Failure(f"gave no completions within {self.seconds} s: {problem}", self.where,
                              "start the server, or raise trl.vllm_server_timeout; then resume the run", UNREACHABLE)
            self.report.warning(f"{self.where}: {problem}; the next attempt is in {pause:g} s")
            time.sleep(pause)
            pause = min(2 * pause, PAUSES[1])

    def attempt(self, asked, connections):
        """Hands over the weights, each time: a server that has failed may have been started anew, with old ones."""
        version = self.load(asked, connections)
        model = named_model(connections.ask("GET", "/v1/models"))
        requests = [(request_of(asked, model, place), wanted_of(asked, place, version)) for place in range(len(asked["prompts"]))]

        def answered(request):
            question, wanted = request
            return completions_in(connections.ask("POST", "/v1/completions", question, wanted.longest()), wanted)

        with ThreadPoolExecutor(AT_ONCE) as threads:
            answers = [threads.submit(answered, request) for request in requests]
            try:
                found = [completion for answer in answers for completion in answer.result()]
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                connections.abandon()  # the other requests would keep the threads until the deadline
                raise
        return {"completions": [ids for ids, _ in found],
                "log_probabilities": [values for _, values in found] if asked["log_probabilities"] else None}

    def load(self, asked, connections):
        """Makes the server load the weights. Returns their version, if the server says it with its answers."""
        folder, version = asked["weights"], f"ringmaster-{self.token}-{asked['step']}"
        if self.command:
            return self.run_command(asked, connections)
        try:
            question = {"model_path": folder, "flush_cache": True, "weight_version": version}
            if parsed(connections.ask("POST", "/update_weights_from_disk", question)).get("success") is not True:
                raise Lie("/update_weights_from_disk does not say that it succeeded")
            return version
        except Refusal as refusal:
            if refusal.status not in (404, 405):
                raise
        try:
            connections.ask("POST", "/collective_rpc", {"method": "reload_weights", "kwargs": {"weights_path": folder}})
            connections.ask("POST", "/reset_prefix_cache", {})
        except Refusal as refusal:
            if refusal.status not in (404, 405):
                raise
            raise Refusal("the server has no endpoint that loads the present weights, and with old ones the run would learn something else",
                          refusal.status, "use SGLang, or vLLM with VLLM_SERVER_DEV_MODE=1, or set trl.vllm_reload_command") from refusal
        return ""

    def run_command(self, asked, connections):
        surroundings = {**os.environ, "RINGMASTER_WEIGHTS": asked["weights"], "RINGMASTER_SERVER": f"http://{self.host}:{self.port}",
                        "RINGMASTER_STEP": str(asked["step"])}
        try:
            done = subprocess.run(self.command, shell=True, stdin=subprocess.DEVNULL, stdout=2, env=surroundings,
                                  timeout=connections.left(), check=False)
        except subprocess.TimeoutExpired as error:
            raise Away("trl.vllm_reload_command did not end in time") from error
        if done.returncode != 0:
            raise Lie(f"trl.vllm_reload_command ended with status {done.returncode}; what it printed is in the log of rank 0")
        return ""


def named_model(body):
    """Returns the name of the server's first model, which requests have to name."""
    models = parsed(body).get("data")
    name = models[0].get("id") if isinstance(models, list) and models and isinstance(models[0], dict) else None
    if not isinstance(name, str) or len(name) > 4096:
        raise Lie("/v1/models names no model")
    return name


def request_of(asked, model, place):
    """Names every setting: servers take those that are missing from the model's generation_config.json."""
    request = {"model": model, "prompt": asked["prompts"][place], "n": asked["n"], "max_tokens": asked["max_tokens"],
               "temperature": asked["temperature"], "top_p": asked["top_p"], "top_k": asked["top_k"] or -1, "min_p": 0.0,
               "repetition_penalty": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0,
               "seed": (asked["seed"] + place * asked["n"]) % SEEDS, "stop_token_ids": asked["stop_ids"], "stream": False,
               "return_token_ids": True, "return_tokens_as_token_ids": True}
    return {**request, "logprobs": 0} if asked["log_probabilities"] else request


def wanted_of(asked, place, version):
    return Wanted(asked["prompts"][place], asked["n"], asked["max_tokens"], asked["vocabulary"], frozenset(asked["stop_ids"]),
                  asked["log_probabilities"], version)
