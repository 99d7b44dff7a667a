"""Provides a tiny model and its rows as fixtures, for tests that train for a few seconds."""

import pytest

from ringmaster_runs import kept_model, make_rows


@pytest.fixture(scope="session")
def llama(tmp_path_factory):
    return kept_model(tmp_path_factory.mktemp("llama") / "model", "llama")


@pytest.fixture(scope="session")
def rows_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    make_rows(file, 44)
    return file
