"""Provides a server of completions for tests. It speaks OpenAI's protocol with token ids, as SGLang and vLLM do,
loads weights from a folder, and samples with transformers. A test may replace a correct answer before it is sent."""

import argparse
import json
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Model:
    def __init__(self):
        self.model, self.folder, self.version, self._lock = None, "", "default", threading.Lock()

    def load(self, folder, version="default"):
        import torch
        import transformers

        with self._lock:
            self.model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
            self.folder, self.version = folder, version

    def continued(self, prompt, seed, asked):
        """Returns (ids, log-probabilities after temperature) of one completion."""
        import torch

        source = torch.Generator().manual_seed(seed)
        ids, logs = [], []
        with self._lock, torch.no_grad():
            while len(ids) < asked["max_tokens"] and not (ids and ids[-1] in asked["stop_token_ids"]):
                at = self.model(input_ids=torch.tensor([prompt + ids])).logits[0, -1].double() / asked["temperature"]
                log_p = at.log_softmax(-1)
                ids.append(torch.multinomial(log_p.exp(), 1, generator=source).item())
                logs.append(log_p[ids[-1]].item())
        return ids, logs


class Server(ThreadingHTTPServer):
    """Serves completions below the path `prefix`. `dialect` is "sglang", "vllm" or "none", which loads no weights.
    `lie(handler, path, answer)` may change the answer, or send bytes itself and return None. `served` counts requests
    by path, and `answers` keeps the correct completions. With `certificate`, a PEM file that includes the private
    key, the server speaks TLS. With `key` it requires this API key."""

    daemon_threads = True

    def __init__(self, dialect="sglang", lie=None, port=0, model=None, certificate=None, key="", prefix=""):
        super().__init__(("127.0.0.1", port), Handler)
        self.dialect, self.lie, self.model, self.key, self.prefix = dialect, lie, model or Model(), key, prefix
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.served, self.loaded, self.answers = {}, [], []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    def handle_error(self, request, client_address):
        if not isinstance(sys.exception(), OSError):  # clients may close connections early
            super().handle_error(request, client_address)

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def parse_request(self):
        if not super().parse_request():
            return False
        self.path = self.path.removeprefix(self.server.prefix) if self.path.startswith(self.server.prefix) else "/elsewhere"
        if self.server.key and self.headers["Authorization"] != f"Bearer {self.server.key}":
            self.rfile.read(int(self.headers["Content-Length"] or 0))
            self.respond(401, {"error": f"wrong key: {self.headers['Authorization']}"})
            return False
        return True

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "served", "object": "model"}]} if self.path == "/v1/models" else None)

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
        offers = {"sglang": {"/update_weights_from_disk": self.update}, "none": {},
                  "vllm": {"/collective_rpc": self.reload, "/reset_prefix_cache": lambda _: {}}}[self.server.dialect]
        offer = {**offers, "/v1/completions": self.complete}.get(self.path)
        self.answer(offer and offer(asked))

    def answer(self, found):
        self.server.served[self.path] = self.server.served.get(self.path, 0) + 1
        if found is None:
            return self.respond(404, {"detail": "Not Found"})
        if self.server.lie:
            found = self.server.lie(self, self.path, found)
        if found is not None:
            self.respond(200, found)

    def respond(self, status, content, **headers):
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def update(self, asked):
        self.server.loaded.append(asked["model_path"])
        self.server.model.load(asked["model_path"], asked["weight_version"])
        return {"success": True, "message": "Succeeded to update model weights.", "num_paused_requests": 0}

    def reload(self, asked):
        assert asked["method"] == "reload_weights"
        self.server.loaded.append(asked["kwargs"]["weights_path"])
        self.server.model.load(asked["kwargs"]["weights_path"])
        return {"results": [None]}

    def complete(self, asked):
        assert asked["model"] == "served" and asked["return_token_ids"] and asked["top_p"] == 1 and asked["top_k"] == -1
        choices = []
        for index in range(asked["n"]):
            ids, logs = self.server.model.continued(asked["prompt"], asked["seed"] + index, asked)
            stopped = ids[-1] in asked["stop_token_ids"]
            logprobs = {"tokens": [f"token_id:{id}" for id in ids], "token_logprobs": logs, "top_logprobs": None, "text_offset": []}
            choices.append({"index": index, "text": "", "logprobs": logprobs if asked.get("logprobs") is not None else None,
                            "finish_reason": "stop" if stopped else "length", "token_ids": ids, "prompt_token_ids": asked["prompt"]})
        self.server.answers.append((asked, choices))
        metadata = {"metadata": {"weight_version": self.server.model.version}} if self.server.dialect == "sglang" else {}
        return {"id": "cmpl-1", "object": "text_completion", "created": int(time.time()), "model": "served", "choices": choices, **metadata}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--dialect", default="sglang")
    asked = parser.parse_args()
    server = Server(asked.dialect, port=asked.port)
    print(f"listening on {server.port}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
