"""No secret goes on record: a canary in every place where one could come in, and none in anything that is written."""

import logging
import random
import re
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.record.folder import RunFolder
from modelsel.record.redact import RedactingFilter, Redactor
from modelsel.reporting import page

CANARY = "cAnArY-7f3a9/9"
QUOTED = "cAnArY-7f3a9%2F9"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql+psycopg://me:{QUOTED}@db.example/mlflow",
        f"connect failed: 'https://user:{QUOTED}@host:5000/api'",
        f"http://host/?token={CANARY}&x=1",
        f"AWS_SECRET_ACCESS_KEY={CANARY}",
        f"dataset.password={CANARY}",
        f"it said {CANARY}!",
    ],
)
def test_a_known_secret_is_hidden_wherever_it_stands(text):
    redactor = Redactor.of(f"postgresql://me:{QUOTED}@db/x")
    assert "cAnArY" not in redactor.text(text)


def test_what_is_no_secret_stays():
    text = "sqlite:////home/me/runs/mlflow.db?timeout=60 https://host:5000/a@b monkey=1 key=user pruner.alpha=0.1"
    assert Redactor.of(text).text(text) == text
    settings = {"identity": {"key": "user"}, "uri": None, "uri_env": "MLFLOW_URI", "token": "${oc.env:TOKEN}"}
    assert Redactor().data(settings) == settings


ADDRESS = re.compile(r"(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s:/@'\"]*:)[^\s/'\"]+(?=@)")
SETTING = re.compile(
    r"(?i)(\b[\w.-]*(?:token|secret|password|passwd|pwd|api[_-]?key|access[_-]?key|signature|sig)=)[^\s&'\",;}\])]+"
)
PIECES = (
    "token", "secret", "password", "passwd", "pwd", "api", "access", "key", "api_key", "signature", "sig", "_", "-", "=", "==",
    "://", ":", "@", "/", "a", "Z", "1", "é", "ſ", "K", "toKen", "SIG", ".", "+", "x", "*", "&", ";", "}", "]", " ", "'", '"',
    ",", "\n",
)  # fmt: skip


def test_what_is_looked_for_where_it_may_stand_is_what_is_found_everywhere():
    """Texts put together of what addresses and settings are made of, hidden by patterns that try every place."""
    draw = random.Random(0)
    texts = ["".join(draw.choices(PIECES, k=draw.randint(1, 14))) for _ in range(5000)]
    expected = [SETTING.sub(r"\1***", ADDRESS.sub(r"\1***", text)) for text in texts]
    assert [Redactor().text(text) for text in texts] == expected
    assert sum(text != hidden for text, hidden in zip(texts, expected)) > 100


def test_a_password_that_is_a_plain_word_is_hidden_only_alone():
    assert Redactor(("postgres",)).text("postgresql://x postgres") == "postgresql://x ***"


@given(st.text(min_size=6), st.text(), st.text())
def test_a_value_known_to_be_secret_never_gets_through(secret, before, after):
    shown = Redactor((secret,)).text(f"{before} {secret} {after}")
    if secret.strip() and secret not in f"{before} *** {after}" and secret not in "***":
        assert secret not in shown


def test_log_records_and_tracebacks_are_redacted():
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter(Redactor((CANARY,))))
    log = logging.Logger("test")
    log.addHandler(handler)
    try:
        raise ValueError(f"connection to {CANARY} failed")
    except ValueError:
        log.exception("with %s", CANARY)
    assert "cAnArY" not in stream.getvalue()
    assert "Traceback" in stream.getvalue()


def test_a_canary_in_environment_address_override_and_reason_is_in_no_file(finished, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_DB_PASSWORD", CANARY)
    uri = f"postgresql://me:{QUOTED}@db/x"
    config = {**finished.config, "tracking": {"kind": "sqlite", "uri": uri}, "dataset": {"path": f"s3://k:{QUOTED}@b/x.csv"}}
    failures = ({"id": "0", "status": "error", "reason": f"OperationalError: password={CANARY} for {uri}"},)
    winner = {**finished.outcome.winner, "parameters": {"note": CANARY}}
    whole = replace(
        finished,
        config=config,
        outcome=finished.outcome.but(failures=failures, winner=winner),
        selection=replace(finished.selection, reasons=(CANARY, *finished.selection.reasons[1:])),
        audit={
            "state": "warn",
            "ledger": {"url": uri, "entries": 1, "intact": True, "head": "x"},
            "test_sets": [],
            "flags": [],
        },
        command=("modelsel", "run", f"tracking.uri={uri}"),
    )
    folder = RunFolder.create(tmp_path, "canary", Redactor.of(uri))
    folder.save(whole)
    page.write(folder)
    written = [path for path in folder.path.rglob("*") if path.is_file()]
    assert len(written) >= 6
    assert not [path.name for path in written if b"cAnArY" in path.read_bytes()]
