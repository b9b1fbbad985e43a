"""A time stamp by OpenSSL's own authority on loopback, checked by OpenSSL."""

import shutil
import subprocess
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

import modelsel
from exam_tests.conftest import guess
from modelsel.core.errors import ConfigurationError
from modelsel_exam.sit import ExamSession
from tests.extras import needs

needs("rfc3161_client")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl")

SETTINGS = """
[tsa]
default_tsa = tsa_config
[tsa_config]
serial = serial
signer_cert = tsa.pem
signer_key = tsa.key
certs = ca.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
[stamping]
extendedKeyUsage = critical,timeStamping
"""


def openssl(folder: Path, *words: str, data: bytes = b"") -> bytes:
    done = subprocess.run(["openssl", *words], cwd=folder, input=data, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Its address, and the folder with its root certificate."""
    folder = tmp_path / "authority"
    folder.mkdir()
    (folder / "tsa.cnf").write_text(SETTINGS)
    (folder / "serial").write_text("01\n")
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=root")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "tsa.key", "-out", "tsa.csr", "-subj", "/CN=stamps")
    sign = ("x509", "-req", "-in", "tsa.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "tsa.pem")
    openssl(folder, *sign, "-extfile", "tsa.cnf", "-extensions", "stamping")

    class Stamps(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            (folder / "query").write_bytes(self.rfile.read(int(self.headers["Content-Length"])))
            openssl(folder, "ts", "-reply", "-config", "tsa.cnf", "-queryfile", "query", "-out", "reply")
            self.send_response(200)
            self.end_headers()
            self.wfile.write((folder / "reply").read_bytes())

        def log_message(self, *words: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Stamps)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/", folder
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_openssl_finds_the_stamp_good_and_another_statement_not(
    exam: Callable[..., ExamSession], authority: tuple[str, Path], tmp_path: Path
) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    address, root = authority
    found = modelsel.verify(modelsel.certify(made.folder, tmp_path / "certificate.zip", stamp=address))
    assert found["faults"] == []
    assert any("openssl ts -verify" in one for one in found["unknown"])
    with zipfile.ZipFile(tmp_path / "certificate.zip") as archive:
        for name in ("certificate.json", "stamp.tsr"):
            (tmp_path / name).write_bytes(archive.read(name))
    check = ["ts", "-verify", "-in", "stamp.tsr", "-data", "certificate.json", "-CAfile", str(root / "ca.pem")]
    openssl(tmp_path, *check)
    (tmp_path / "certificate.json").write_bytes((tmp_path / "certificate.json").read_bytes() + b" ")
    with pytest.raises(AssertionError):
        openssl(tmp_path, *check)


def test_no_stamp_no_certificate(exam: Callable[..., ExamSession], tmp_path: Path) -> None:
    made = exam(release="full")
    made.answer(guess(made), "ann")
    for address in ("http://127.0.0.1:9/", "file:///etc/passwd"):
        with pytest.raises(ConfigurationError):
            modelsel.certify(made.folder, tmp_path / "certificate.zip", stamp=address)
    assert not (tmp_path / "certificate.zip").exists()
