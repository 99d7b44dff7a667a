"""Declares the interface of every tracker."""
from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass

from .masking import masked
from .settings import Settings


@dataclass(frozen=True)
class Problem:
    """Reports why nothing can be sent, and the command or the line of the configuration that
    changes that."""

    kind: str  # client, key or password
    message: str
    fix: str


class Tracker(ABC):
    title = ""  # name as people write it
    client = ""  # package that has to be importable; "" if none is needed
    install = ""  # command that installs the package

    def __init__(self, settings: Settings):
        self.settings = settings

    @property
    def is_local(self) -> bool:
        """Returns whether the tracker keeps a run in files of the machine that sends it."""
        return False

    def without_secrets(self, text: str) -> str:
        return masked(text)

    @abstractmethod
    def problem(self) -> Problem | None:
        """Returns what is not set up on this machine. Imports no client and asks no server."""

    @abstractmethod
    def open(self) -> None:
        """Connects, and learns from the tracker itself which points of this run it has."""

    @abstractmethod
    def send(self, points: list) -> None:
        """Sends the points that the tracker does not have yet. Called with each point once, in
        order."""

    @abstractmethod
    def close(self, state: str) -> None:
        """Writes what is left. `state` is run.json's: completed, failed, stopped, or another if the run continues."""


def is_true(value) -> bool:
    return str(value).strip().lower() in ("true", "1", "yes", "on")


def variable(name: str) -> str | None:
    return os.environ.get(name) or None


def flat(parameters: dict, prefix: str = "") -> dict:
    """Returns nested tables as one level with dotted names; lists stay."""
    out = {}
    for name, value in parameters.items():
        if isinstance(value, dict) and value:
            out.update(flat(value, f"{prefix}{name}."))
        else:
            out[prefix + name] = value
    return out
