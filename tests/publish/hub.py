"""Stands in for the Hugging Face hub: answers the requests with which the hub's client creates a repository and uploads files, and
keeps the files. Large files arrive over git-lfs's protocol, as on the real hub."""

import base64
import contextlib
import hashlib
import http.server
import json
import threading

TOKEN = "hf_a_token_that_may_write"


class Hub:
    def __init__(self):
        self.repositories, self.files, self.stored, self.messages = {}, {}, {}, []


def handler_of(hub):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def answer(self, value, status=200):
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def body(self):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))

        def may_write(self):
            return self.headers.get("Authorization") == f"Bearer {TOKEN}"

        def address(self):
            return f"http://{self.headers['Host']}"

        def do_PUT(self):
            content = self.body()
            assert hashlib.sha256(content).hexdigest() == self.path.rpartition("/")[2]
            hub.stored[self.path.rpartition("/")[2]] = content
            self.answer({})

        def do_GET(self):
            self.answer({"error": "Not found"}, 404)

        def do_POST(self):
            body = self.body()
            if not self.may_write():
                return self.answer({"error": "Invalid username or password."}, 401)
            if self.path == "/api/validate-yaml":
                return self.answer({"errors": [], "warnings": []})
            if self.path == "/api/repos/create":
                asked = json.loads(body)
                name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
                hub.repositories[name] = asked
                return self.answer({"url": f"{self.address()}/{name}"})
            if "/preupload/" in self.path:
                files = json.loads(body)["files"]
                mode = lambda path: "lfs" if path.endswith(".safetensors") else "regular"
                return self.answer({"files": [{"path": file["path"], "uploadMode": mode(file["path"]), "shouldIgnore": False} for file in files]})
            if self.path.endswith("/info/lfs/objects/batch"):
                objects = [{**wanted, "actions": {"upload": {"href": f"{self.address()}/store/{wanted['oid']}", "header": {}}}}
                           for wanted in json.loads(body)["objects"]]
                return self.answer({"transfer": "basic", "objects": objects})
            assert "/commit/" in self.path, self.path
            name = self.path.removeprefix("/api/models/").partition("/commit/")[0]
            for line in body.decode().splitlines():
                entry = json.loads(line)
                value = entry["value"]
                if entry["key"] == "header":
                    hub.messages.append(value["summary"])
                elif entry["key"] == "file":
                    hub.files[name, value["path"]] = base64.b64decode(value["content"])
                else:
                    assert entry["key"] == "lfsFile", entry
                    hub.files[name, value["path"]] = hub.stored[value["oid"]]
            return self.answer({"success": True, "commitOid": "a" * 40, "commitUrl": f"{self.address()}/{name}/commit/{'a' * 40}", "hookOutput": ""})

    return Handler


@contextlib.contextmanager
def running_hub():
    hub = Hub()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(hub))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        server.shutdown()
