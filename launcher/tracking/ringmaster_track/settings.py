"""Reads RUN/tracking/settings.json: what the configuration says about trackers, without secrets.

    {"id": "9f…", "run": "llama-2026-11-21", "base_dir": "/home/ann", "output_dir": "/home/ann/out",
     "trackers": {"wandb": "node", "mlflow": "launcher"}, "keys": {"wandb_project": "p", …},
     "parameters": {"learning_rate": 1e-4, …}}
"""
from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from .files import read_regular
from .masking import REMOVED

MOST_BYTES = 8 << 20


@dataclass
class Settings:
    run_dir: Path
    id: str
    run: str
    base_dir: str = ""
    output_dir: str = ""
    keys: dict = field(default_factory=dict)
    parameters: dict = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Returns the folder for a tracker's files on this machine, if nothing names another place."""
        return self.run_dir / "tracking"

    def text(self, key: str) -> str | None:
        """Returns the value of a key that is text and not empty."""
        value = self.keys.get(key)
        return value if isinstance(value, str) and value else None

    def name(self, own_key: str) -> str:
        """Returns the run's name for a tracker: the value of `own_key`, else of the first other name key in
        axolotl's order, else the run directory's name."""
        for key in (own_key, "wandb_name", "mlflow_run_name", "trackio_run_name"):
            if self.text(key):
                return self.text(key)
        return self.run

    def export(self, prefixes) -> None:
        """Sets the environment variables that axolotl sets: one for every key that has one of these prefixes and
        holds text, named like the key in capitals."""
        for key in self.keys:
            value = self.text(key)
            if value and key.startswith(tuple(prefixes)) and REMOVED not in value:
                os.environ[key.upper()] = value

    def secret(self, key: str) -> str | None:
        """Returns a secret from the run's config.yaml; the copy of that file on a node has no
        secrets."""
        text = read_regular(self.run_dir / "config.yaml", MOST_BYTES) or b""
        found = re.search(rf"(?m)^{re.escape(key)}:[ \t]*[\"']?([^\s\"'#]+)", text.decode("utf-8", "replace"))
        return found.group(1) if found and found.group(1) not in (REMOVED, "null", "~") else None


def load(file: Path, run_dir: Path) -> Settings:
    """Reads the settings. Raises ValueError if the file does not hold any."""
    text = read_regular(file, MOST_BYTES)
    if text is None:
        raise ValueError(f"{file} is missing or too large")
    try:
        values = json.loads(text)
    except RecursionError:
        raise ValueError(f"{file} is nested too deeply") from None
    if not isinstance(values, dict):
        raise ValueError(f"{file} is not an object")
    text_of = lambda key: values[key] if isinstance(values.get(key), str) else ""  # noqa: E731
    table_of = lambda key: values[key] if isinstance(values.get(key), dict) else {}  # noqa: E731
    return Settings(run_dir, text_of("id") or run_dir.name, text_of("run") or run_dir.name,
                    text_of("base_dir"), text_of("output_dir"), table_of("keys"), table_of("parameters"))


def asked(file: Path) -> list[str]:
    """Returns the names of the trackers that the file asks for."""
    text = read_regular(file, MOST_BYTES)
    trackers = json.loads(text).get("trackers", {}) if text else {}
    return [name for name in trackers if isinstance(name, str)]
