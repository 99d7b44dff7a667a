"""Asks a server of completions for a step's rollouts: gives it the current weights, then sends each
prompt as token ids, so that nothing is tokenized twice. The server may be slow, restart, or send
any answer; a step ends with its completions, or with an error that names the reason."""

import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from .report import UNREACHABLE, Failure
from .served import InvalidAnswer, Wanted, completions_in, parsed

AT_ONCE = 16  # requests at the same time
PATIENT_WITH_LIES = 3  # attempts that may end with an answer that does not fit the request
PAUSES = (0.5, 15.0)  # seconds between attempts: the first, and the longest
MOST_BYTES = 1 << 20  # maximum bytes of an answer without completions
LONGEST_KEY = 8192  # maximum characters of an API key
SHORTEST_SECRET = 8  # characters; a shorter key is not masked, because it may occur in any text
HIDDEN = "[removed]"
SEEDS = 2**31


class Unavailable(Exception):
    """The server cannot be reached, is not ready, or broke the connection: retry until the timeout."""


class Refusal(Exception):
    """The server understands the request and refuses it, so that a retry would not help."""

    def __init__(self, what, status=0, hint=""):
        super().__init__(what)
        self.status, self.hint = status, hint


class Address:
    """Says where the server is, and how to make requests to it. The API key is sent to this server
    alone; no text that leaves this module contains it."""

    def __init__(self, url, key_variable="", key_file="", ca_file=""):
        self.url, parts = url.rstrip("/"), urlsplit(url)
        self.is_tls = parts.scheme == "https"
        self.host, self.port, self.path = parts.hostname, parts.port or (443 if self.is_tls else 80), parts.path.rstrip("/")
        self.key = api_key(key_variable, key_file)
        self.trust = trusted(ca_file) if self.is_tls else None

    def headers(self):
        known = {"Content-Type": "application/json", "Accept": "application/json"}
        return {**known, "Authorization": f"Bearer {self.key}"} if self.key else known

    def without_key(self, text):
        """Returns a text of the server with the API key masked: the server may repeat what it was
        sent. Masks before the text is cut."""
        return text.replace(self.key, HIDDEN) if len(self.key) >= SHORTEST_SECRET else text

    def repeats_key(self, answer):
        return len(self.key) >= SHORTEST_SECRET and self.key.encode() in answer


def api_key(variable, file):
    """Returns the API key, or an empty text if neither setting names one. No error message contains
    it."""
    if not variable and not file:
        return ""
    where = f"the environment variable {variable}" if variable else file
    try:
        if variable:
            key = os.environ[variable]
        else:
            with open(file, encoding="utf-8") as stream:
                key = stream.read(LONGEST_KEY + 2)
    except KeyError:
        raise Failure("is not set, and the server's API key is to be its value", where,
                      f"set it where the run is started: export {variable}=…", UNREACHABLE) from None
    except (OSError, ValueError) as error:
        raise Failure(f"the server's API key cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}", where, "", UNREACHABLE) from None
    key = key.strip()
    if not 1 <= len(key) <= LONGEST_KEY or not all("!" <= letter <= "~" for letter in key):
        raise Failure(f"does not hold an API key: 1 to {LONGEST_KEY} visible characters of ASCII on one line", where)
    return key


def trusted(ca_file):
    """Returns the context that checks the server's certificate and name: with the CAs of the file,
    or those of the system, which OpenSSL's SSL_CERT_FILE and SSL_CERT_DIR replace."""
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise Failure(f"holds no certificates of CAs: {reason_of(error)}", ca_file, "name a PEM file in trl.vllm_server_ca_file") from error


def reason_of(error):
    """Returns OpenSSL's message without its codes and source locations."""
    return str(getattr(error, "verify_message", None) or getattr(error, "reason", None) or error.strerror or error)[:200]


class Connections:
    """Sends requests until a deadline, at which all connections are closed. A server that sends one
    byte per second thus gets no more time than one that does not answer. Follows no redirection
    and no proxy."""

    def __init__(self, address, deadline):
        self.address, self.deadline = address, deadline
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
        """Returns the body of a successful answer. Raises Unavailable, Refusal or InvalidAnswer."""
        connection, line = http.client.HTTPConnection(self.address.host, self.address.port, timeout=self.left()), None
        try:
            line = self.connect(connection)
            body = None if question is None else json.dumps(question).encode()
            connection.request(method, self.address.path + path, body, self.address.headers())
            response = connection.getresponse()
            answer = response.read(longest + 1)
        except ssl.SSLCertVerificationError as error:
            raise Refusal(f"the server's certificate is not trusted: {reason_of(error)}", 0,
                          "name the PEM file of its CA in trl.vllm_server_ca_file, or correct the name in trl.vllm_server_base_url") from error
        except ssl.SSLError as error:
            if error.reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST"):
                raise Refusal("the server does not speak TLS on this port", 0, "write http:// in trl.vllm_server_base_url, or name the port with TLS") from error
            raise Unavailable(f"{path}: TLS: {reason_of(error)}") from error
        except OSError as error:
            raise Unavailable(f"{path}: {error.strerror or error}"[:200]) from error
        except (http.client.HTTPException, ValueError) as error:
            raise Unavailable(self.address.without_key(f"{path}: {type(error).__name__}: {error}")[:200]) from error
        finally:
            line = line or connection.sock
            with self._lock:
                self._open.discard(line)
            if line:
                break_off(line)
            connection.close()
        if len(answer) > longest:
            raise InvalidAnswer(f"the answer to {path} is longer than {longest} bytes")
        if response.status == 200 and self.address.repeats_key(answer):
            raise InvalidAnswer(f"the answer to {path} repeats the API key")
        said, location = (self.address.without_key(text) for text in (answer.decode("utf-8", "replace"), str(response.getheader("Location"))))
        return answer if response.status == 200 else refused(path, response.status, location, said[:300].strip())

    def connect(self, connection):
        """Opens the connection, with TLS if the address asks for it. Returns its socket, because
        http.client drops it after it has read an answer's header, although the socket must be
        closed at the deadline."""
        connection.connect()
        line = connection.sock
        with self._lock:
            if self._over:
                raise Unavailable("the time is over")
            self._open.add(line)
        if self.address.trust:
            secured = self.address.trust.wrap_socket(line, server_hostname=self.address.host, do_handshake_on_connect=False)
            with self._lock:  # TLS replaces the connection's socket object
                self._open.discard(line)
                if self._over:
                    break_off(secured)
                    raise Unavailable("the time is over")
                self._open.add(secured)
            line = connection.sock = secured
            secured.do_handshake()
        return line


def printable(error):
    """Returns the error's text on one line, without control characters: it may hold text of the
    server."""
    return "".join(letter if letter.isprintable() else " " for letter in str(error))


def break_off(line):
    try:
        socket.socket.shutdown(line, socket.SHUT_RDWR)  # a TLS socket must not be closed here, because another thread may be reading from it
    except OSError:
        pass  # the server has already closed the connection


def refused(path, status, location, said):
    """Raises Unavailable for an answer after which the request is worth another attempt, else Refusal."""
    if 300 <= status < 400:
        raise Refusal(f"{path} leads to another place, {location[:100]!r}, which is not followed", status,
                      "name the server itself in trl.vllm_server_base_url, or in trl.vllm_server_host and trl.vllm_server_port")
    if status in (401, 403):
        raise Refusal(f"{path} answers {status}: the API key is missing or wrong: {said}", status,
                      "name the server's key by trl.vllm_server_api_key_env or trl.vllm_server_api_key_file")
    if status in (408, 425, 429) or status >= 500:
        raise Unavailable(f"{path} answers {status}: {said}")
    raise Refusal(f"{path} answers {status}: {said}", status)


class RolloutServer:
    def __init__(self, settings, report):
        self.address = Address(settings["url"], *(settings.get(name, "") for name in ("key_variable", "key_file", "ca_file")))
        self.seconds, self.command, self.report = settings["timeout"], settings["reload_command"], report
        self.where = f"server {self.address.url}"
        self.token = secrets.token_hex(4)  # names this process's weights, because another run may use the server too

    def rollouts(self, asked):
        """Returns {"completions", "log_probabilities"} of all prompts, in the form that the engine
        reads."""
        deadline, lies, pause = time.monotonic() + self.seconds, 0, PAUSES[0]
        while True:
            try:
                with Connections(self.address, deadline) as connections:
                    return self.attempt(asked, connections)
            except Refusal as refusal:
                raise Failure(self.shown(refusal), self.where, refusal.hint) from refusal
            except InvalidAnswer as error:
                lies, problem = lies + 1, self.shown(error)
            except Unavailable as error:
                problem = self.shown(error)
            if lies == PATIENT_WITH_LIES:
                raise Failure(f"{problem} ({lies} times)", self.where, "look at the server's log, then resume the run")
            if deadline - time.monotonic() <= pause:
                raise Failure(f"gave no completions within {self.seconds} s: {problem}", self.where,
                              "start the server, or raise trl.vllm_server_timeout; then resume the run", UNREACHABLE)
            self.report.warning(f"{self.where}: {problem}; the next attempt is in {pause:g} s")
            time.sleep(pause)
            pause = min(2 * pause, PAUSES[1])

    def shown(self, error):
        return printable(self.address.without_key(str(error)))

    def attempt(self, asked, connections):
        """Gives the server the weights before each attempt: a server that failed may have restarted
        with old ones."""
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
                connections.abandon()  # otherwise the other requests would keep the threads until the deadline
                raise
        return {"completions": [ids for ids, _ in found],
                "log_probabilities": [values for _, values in found] if asked["log_probabilities"] else None}

    def load(self, asked, connections):
        """Makes the server load the weights. Returns their version if the server's answers name it."""
        folder, version = asked["weights"], f"ringmaster-{self.token}-{asked['step']}"
        if self.command:
            return self.run_command(asked, connections)
        try:
            question = {"model_path": folder, "flush_cache": True, "weight_version": version}
            if parsed(connections.ask("POST", "/update_weights_from_disk", question)).get("success") is not True:
                raise InvalidAnswer("/update_weights_from_disk does not say that it succeeded")
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
        surroundings = {**os.environ, "RINGMASTER_WEIGHTS": asked["weights"], "RINGMASTER_SERVER": self.address.url,
                        "RINGMASTER_STEP": str(asked["step"])}
        try:
            done = subprocess.run(self.command, shell=True, stdin=subprocess.DEVNULL, stdout=2, env=surroundings,
                                  timeout=connections.left(), check=False)
        except subprocess.TimeoutExpired as error:
            raise Unavailable("trl.vllm_reload_command did not end in time") from error
        if done.returncode != 0:
            raise InvalidAnswer(f"trl.vllm_reload_command ended with status {done.returncode}; what it printed is in the log of rank 0")
        return ""


def named_model(body):
    """Returns the name of the server's first model, because requests must name one."""
    models = parsed(body).get("data")
    name = models[0].get("id") if isinstance(models, list) and models and isinstance(models[0], dict) else None
    if not isinstance(name, str) or len(name) > 4096:
        raise InvalidAnswer("/v1/models names no model")
    return name


def request_of(asked, model, place):
    """Sets every sampling parameter, because servers take missing ones from the model's
    generation_config.json."""
    request = {"model": model, "prompt": asked["prompts"][place], "n": asked["n"], "max_tokens": asked["max_tokens"],
               "temperature": asked["temperature"], "top_p": asked["top_p"], "top_k": asked["top_k"] or -1, "min_p": 0.0,
               "repetition_penalty": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0,
               "seed": (asked["seed"] + place * asked["n"]) % SEEDS, "stop_token_ids": asked["stop_ids"], "stream": False,
               "return_token_ids": True, "return_tokens_as_token_ids": True}
    return {**request, "logprobs": 0} if asked["log_probabilities"] else request


def wanted_of(asked, place, version):
    return Wanted(asked["prompts"][place], asked["n"], asked["max_tokens"], asked["vocabulary"], frozenset(asked["stop_ids"]),
                  asked["log_probabilities"], version)
