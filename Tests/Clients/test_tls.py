"""TLS as clients meet it in production: versions, ciphers, certificates and their replacement."""

import json
import signal
import socket
import ssl
import subprocess
import urllib.request

import pytest

from certificates import Holder, Identity
from hearth_server import BINARY, Hearth
from key_updates import KeyUpdates
from secure_socket import SecureSocket
from wire_client import Wire


@pytest.fixture
def identity(tmp_path):
    return Identity(tmp_path)


@pytest.fixture
def header_timeout():
    """Longer than a busy machine keeps a client waiting."""
    return "10m"


@pytest.fixture
def server(identity, header_timeout, tmp_path):
    flags = [*identity.flags, "--header-timeout", header_timeout, "--log-format", "json"]
    with Hearth(*flags, data=tmp_path / "data", log=tmp_path / "log", dev=False) as server:
        yield server


def trusting(identity, **settings):
    """A client that trusts the root alone."""
    context = ssl.create_default_context(cafile=str(identity.root))
    for name, value in settings.items():
        setattr(context, name, value)
    return context


def connect(server, context, host="localhost"):
    plain = socket.create_connection(("127.0.0.1", server.port), timeout=120)
    return context.wrap_socket(plain, server_hostname=host)


def ask(connection, host="db.example.com", path="/.health/live"):
    """(head, body) of an answer, on a connection that stays."""
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
    while len(body) < int(lines["Content-Length"]):
        body += connection.recv(65536)
    return head.decode(), body


def serial(connection):
    certificate = connection.getpeercert()
    return int(certificate["serialNumber"], 16)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_current_versions_are_taken_and_the_chain_is_served(server, identity, version):
    context = trusting(identity, minimum_version=version, maximum_version=version)
    # Only the root is trusted, so the one in between has to come from the server.
    with connect(server, context) as connection:
        assert connection.version() == version.name.replace("_", ".")
        assert ask(connection, "localhost")[0].startswith("HTTP/1.1 200 ")


CIPHERS = {
    "AESGCM+ECDHE": True,
    "CHACHA20+ECDHE": True,
    "ECDHE+AES128+SHA1": False,
    "ECDHE+AES256+SHA384": False,
    "kRSA+AESGCM": False,
    "DHE+AESGCM": False,
    "aNULL": False,
    "eNULL": False,
}


@pytest.mark.parametrize("kind", ["ec", "rsa"])
def test_of_version_1_2_only_what_version_1_3_has_too_is_taken(kind, tmp_path):
    identity = Identity(tmp_path, kind=kind)
    taken = {}
    with Hearth(*identity.flags, data=tmp_path / "data", dev=False) as server:
        for cipher in CIPHERS:
            context = trusting(identity, maximum_version=ssl.TLSVersion.TLSv1_2)
            context.set_ciphers(f"{cipher}:@SECLEVEL=0")
            try:
                with connect(server, context) as connection:
                    taken[cipher] = ask(connection, "localhost")[0].startswith("HTTP/1.1 200 ")
            except (ssl.SSLError, ConnectionError):
                taken[cipher] = False
    assert taken == CIPHERS


@pytest.mark.parametrize("version", ["-tls1", "-tls1_1"])
def test_old_versions_are_refused(server, version):
    done = subprocess.run(
        ["openssl", "s_client", version, "-cipher", "ALL:@SECLEVEL=0"]
        + ["-connect", f"127.0.0.1:{server.port}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0
    assert "no protocols available" not in done.stderr, "the client itself cannot"
    assert "Cipher is (NONE)" in done.stdout
    assert "alert" in done.stderr


def test_browsers_are_reported_to_come_over_tls_alone(server, identity, tmp_path):
    context = trusting(identity)
    with connect(server, context) as connection:
        head, _ = ask(connection, "127.0.0.1")
        assert "Strict-Transport-Security: max-age=31536000" in head
        # Errors too, and on the same connection.
        head, _ = ask(connection, "127.0.0.1", "/a.json?ns=nosuch")
        assert head.startswith("HTTP/1.1 404 ")
        assert "Strict-Transport-Security" in head
        # Else a browser would come over TLS to everything that runs on a developer's machine.
        head, _ = ask(connection, "localhost:9000")
        assert "Strict-Transport-Security" not in head
    with Hearth(data=tmp_path / "plain", dev=False) as plain:
        head = plain.get("/.health/live").headers
        assert "Strict-Transport-Security" not in head


def test_plain_http_on_the_tls_port_hurts_no_client(server, identity):
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            assert b"200" not in plain.recv(4096)
        except ConnectionResetError:
            pass
    with connect(server, trusting(identity)) as connection:
        assert ask(connection, "localhost")[0].startswith("HTTP/1.1 200 ")


def test_a_websocket_over_tls_speaks_the_wire_protocol(server, identity):
    url = f"wss://localhost:{server.port}/.ws?v=5&ns=default"
    with SecureSocket(url, trusting(identity)) as wire:
        hello = json.loads(wire.recv())
        assert hello["d"]["t"] == "h"
        wire.send('{"t":"d","d":{"r":1,"a":"g","b":{"p":"/x"}}}')
        reply = json.loads(wire.recv())
        assert reply["d"]["b"]["s"] == "permission_denied"


def test_sighup_brings_a_new_certificate_to_new_connections_only(server, identity):
    context = trusting(identity)
    first = identity.holder.certificate.serial_number
    with connect(server, context) as old:
        assert serial(old) == first
        assert ask(old, "localhost")[0].startswith("HTTP/1.1 200 ")
        identity.renew(kind="rsa")
        second = identity.holder.certificate.serial_number
        # Not before the signal.
        with pytest.raises(AssertionError):
            with connect(server, context) as early:
                assert serial(early) == second
        server.process.send_signal(signal.SIGHUP)
        server.await_log("TLS certificate and key read again")
        with connect(server, context) as new:
            assert serial(new) == second
            assert ask(new, "localhost")[0].startswith("HTTP/1.1 200 ")
        assert ask(old, "localhost")[0].startswith("HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "broken, text",
    [
        ("certificate", "chain.pem: "),
        ("key", "is not the key of the certificate"),
        ("missing", "No such file"),
        ("encrypted", "is encrypted"),
    ],
)
def test_a_broken_certificate_leaves_the_old_in_force(server, identity, broken, text):
    context = trusting(identity)
    serial_number = identity.holder.certificate.serial_number
    if broken == "certificate":
        identity.chain.write_text("-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n")
    elif broken == "key":
        identity.key.write_bytes(Holder("Other").key_pem())
    elif broken == "encrypted":
        identity.key.write_bytes(identity.holder.key_pem(b"passphrase"))
    else:
        identity.key.unlink()
    server.process.send_signal(signal.SIGHUP)
    server.await_log("the TLS certificate in force stays")
    server.await_log(text)
    with connect(server, context) as connection:
        assert serial(connection) == serial_number


@pytest.mark.parametrize(
    "passphrase, text",
    [(None, "key.pem: is not the key of the certificate"), (b"secret", "key.pem: is encrypted")],
)
def test_a_key_that_cannot_be_used_is_refused_at_the_start(identity, passphrase, text, tmp_path):
    other = Holder("Other") if passphrase is None else identity.holder
    identity.key.write_bytes(other.key_pem(passphrase))
    done = subprocess.run(
        [BINARY, "serve", "--port", "0", "--data-dir", tmp_path / "data", *identity.flags],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1
    assert "cannot use the TLS certificate and key: " in done.stderr
    assert text in done.stderr
    assert done.stdout == ""


# The first bytes of a ClientHello of 512 bytes.
HALF = bytes.fromhex("1603010200" + "01" + "0001fc0303")


def unfinished(server):
    """Fifty connections that say nothing, and fifty that stop in the first message of their handshake."""
    found = [socket.create_connection(("127.0.0.1", server.port), timeout=120) for _ in range(100)]
    for connection in found[50:]:
        connection.sendall(HALF)
    return found


def test_handshakes_that_never_end_hurt_no_client(server, identity):
    others = unfinished(server)
    for _ in range(20):
        with connect(server, trusting(identity)) as connection:
            assert ask(connection, "localhost")[0].startswith("HTTP/1.1 200 ")
    for other in others:
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.recv(1)
        other.close()


def test_records_without_data_are_taken_a_few_a_tick(server, identity, tmp_path):
    """50,000 of them once held the loop for 0.4 s: all that had come were one read."""
    secret = (tmp_path / "data" / "admin-secret").read_text().strip()

    def ticks():
        with connect(server, trusting(identity)) as admin:
            admin.sendall(
                b"GET /.metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                b"Authorization: Bearer " + secret.encode() + b"\r\n\r\n"
            )
            lines = b"".join(iter(lambda: admin.recv(65536), b"")).decode().splitlines()
        return int(next(line for line in lines if line.startswith("hearth_loop_turns_total ")).split()[1])

    with KeyUpdates(server.port) as client:
        updates = client.make(5_000)
        before = ticks()
        client.socket.sendall(updates)
        assert client.ask(b"GET /.health/live HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert ticks() - before >= 5_000 // 8


@pytest.mark.parametrize("header_timeout", ["2s"])
def test_handshakes_that_never_end_are_cut(server):
    for connection in unfinished(server):
        try:
            while connection.recv(4096):
                pass
        except ConnectionResetError:
            pass
        connection.close()


@pytest.mark.parametrize("header_timeout", ["2s"])
def test_a_client_may_trickle_its_handshake_no_longer_than_the_header_timeout(server):
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        hello = HALF + bytes(501)
        connection.settimeout(0.1)
        # All of it would take 51 seconds, and then the server would wait for more.
        with pytest.raises(ConnectionError):
            for byte in hello:
                connection.sendall(bytes([byte]))
                try:
                    if connection.recv(4096) == b"":
                        raise ConnectionError("closed")
                except socket.timeout:
                    pass


def test_the_command_line_speaks_tls_with_an_authority_of_ones_own(server, identity, tmp_path):
    secret = (tmp_path / "data" / "admin-secret").read_text().strip()
    done = subprocess.run(
        [BINARY, "get", "/", "--url", f"https://localhost:{server.port}", "--ca-file", identity.root],
        capture_output=True,
        text=True,
        timeout=120,
        env={"HEARTH_TOKEN": secret},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "null"
