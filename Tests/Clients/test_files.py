"""Files that are read again: rules, and the TLS identity."""

import contextlib
import os
import signal
import socket
import ssl
import subprocess

import pytest

from hearth_server import Hearth
from secure_socket import SecureSocket

OPEN = '{"rules":{".read":true,".write":true}}'
CLOSED = '{"rules":{".read":false}}'


def replace(path, text):
    """As an editor saves: a new file takes the old one's place."""
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    draft.rename(path)


@pytest.mark.parametrize("wake", ["change", "SIGHUP"])
def test_a_rules_file_is_read_again_and_a_bad_one_changes_nothing(tmp_path, wake):
    rules = tmp_path / "rules.json"
    rules.write_text(CLOSED)
    flags = ["--rules", str(rules)]
    with Hearth(*flags, dev=False, data=tmp_path / "data", log=tmp_path / "log") as server:

        def reload(text):
            replace(rules, text)
            if wake == "SIGHUP":
                server.process.send_signal(signal.SIGHUP)

        assert server.get("/a.json").status == 401
        reload(OPEN)
        server.await_log("rules read again")
        assert server.put("/a.json", 1).status == 200
        reload('{"rules":{\n  ".read": "nobody",\n  ".write": 5}}')
        server.await_log("the rules in force stay")
        server.await_log(f"{rules}:2:13: ")
        server.await_log(f"{rules}:3:")
        assert server.get("/a.json").json == 1
        rules.unlink()
        if wake == "SIGHUP":
            server.process.send_signal(signal.SIGHUP)
            server.await_log("No such file")
        assert server.get("/a.json").json == 1
        reload(CLOSED)
        server.await_log("rules read again")
        assert server.get("/a.json").status == 401


def test_rules_of_its_own_win_over_a_changed_file(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text(CLOSED)
    with Hearth("--rules", str(rules), data=tmp_path / "data", log=tmp_path / "log") as server:
        own = server.request("PUT", "/.settings/rules.json?ns=own", raw=OPEN.encode())
        assert own.status == 200
        replace(rules, CLOSED + "\n")
        server.await_log("rules read again")
        assert server.get("/a.json?ns=own").status == 200
        assert server.get("/a.json?ns=other").status == 401


def identity(folder, name):
    """A self-signed certificate for localhost whose subject is `name`."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        + ["-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost"]
        + ["-keyout", f"{key}.draft", "-out", f"{certificate}.draft"],
        check=True,
        capture_output=True,
    )
    os.rename(f"{key}.draft", key)
    os.rename(f"{certificate}.draft", certificate)
    return certificate, key


def context(certificate):
    return ssl.create_default_context(cafile=str(certificate))


def https(port, trust, target="/a.json"):
    with socket.create_connection(("127.0.0.1", port), timeout=120) as plain:
        with trust.wrap_socket(plain, server_hostname="localhost") as peer:
            peer.sendall(
                f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
            )
            answer = b""
            while piece := peer.recv(65536):
                answer += piece
            subject = dict(pair[0] for pair in peer.getpeercert()["subject"])
            return int(answer.split()[1]), subject["commonName"]


def test_https_and_wss_share_the_port_and_a_new_certificate_comes_with_sighup(tmp_path):
    certificate, key = identity(tmp_path, "first")
    trust = context(certificate)
    flags = ["--tls-cert", str(certificate), "--tls-key", str(key)]
    with Hearth(*flags, log=tmp_path / "log") as server:
        assert server.address.startswith("https://")
        assert https(server.port, trust) == (200, "first")
        with SecureSocket(f"wss://localhost:{server.port}/.ws?v=5&ns=demo", trust) as client:
            assert '"t":"h"' in client.recv()
            # Plain text on the port gets no answer and ends no other connection.
            with socket.create_connection(("127.0.0.1", server.port), timeout=120) as plain:
                plain.sendall(b"GET /a.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                with contextlib.suppress(ConnectionResetError):
                    assert b"200" not in plain.recv(4096)

            key.write_text("nonsense")
            server.process.send_signal(signal.SIGHUP)
            server.await_log("the TLS certificate in force stays")
            assert https(server.port, trust) == (200, "first")

            identity(tmp_path, "second")
            server.process.send_signal(signal.SIGHUP)
            server.await_log("TLS certificate and key read again")
            assert https(server.port, context(certificate)) == (200, "second")
            with pytest.raises(ssl.SSLError):
                https(server.port, trust)
            # The connection that was open goes on under the old one.
            client.send('{"t":"c","d":{"t":"p","d":{}}}')
            assert '"t":"o"' in client.recv()
