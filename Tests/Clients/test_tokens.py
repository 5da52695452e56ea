"""Signed tokens in production: RS256 and ES256 by a JWKS file, HS256 by its own secret."""

import json

import pytest
from cryptography.hazmat.primitives import serialization
from websockets.exceptions import ConnectionClosed

from hearth_server import Hearth
from signing import AUDIENCE, ISSUER, ECKey, HMACKey, RSAKey, claims, jwks, token
from wire_client import Wire

RULES = '{"rules":{"u":{"$u":{".read":"auth.uid == $u",".write":"auth.uid == $u"}}}}'
RSA, EC, STRANGER = RSAKey("rsa-1"), ECKey("ec-1"), RSAKey("rsa-1")
SECRET = b"0123456789abcdef0123456789abcdef"
PUBLIC_PEM = RSA.private.public_key().public_bytes(
    serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
)


def production(folder, *flags):
    (folder / "rules.json").write_text(RULES)
    (folder / "keys.json").write_text(jwks(RSA, EC))
    return Hearth(
        "--rules",
        str(folder / "rules.json"),
        "--jwks",
        str(folder / "keys.json"),
        "--token-issuer",
        ISSUER,
        "--token-audience",
        AUDIENCE,
        *flags,
        dev=False,
        data=folder / "data",
        log=folder / "log",
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with production(tmp_path_factory.mktemp("tokens")) as server:
        yield server


@pytest.mark.parametrize("key", [RSA, EC], ids=["RS256", "ES256"])
def test_a_signed_token_is_its_user_over_rest_and_wire(server, key):
    signed = token(key, claims("ann"))
    bearer = {"Authorization": f"Bearer {signed}"}
    assert server.put("/u/ann.json", 1, headers=bearer).json == 1
    assert server.get(f"/u/ann.json?auth={signed}").json == 1
    assert server.get(f"/u/ann.json?access_token={signed}").json == 1
    assert server.get("/u/bob.json", headers=bearer).status == 401
    assert server.get("/.settings/rules.json", headers=bearer).status == 401
    with Wire(server.port, ns="default") as client:
        # All in one go: what follows an auth waits for its outcome.
        first = client.send("auth", cred=signed)
        second = client.send("q", p="/u/ann", h="")
        third = client.send("p", p="/u/ann", d=2)
        assert client.reply(first)[0]["d"]["auth"]["uid"] == "ann"
        body, pushes = client.reply(second)
        assert body["s"] == "ok" and pushes[0]["b"] == {"p": "u/ann", "d": 1}
        body, pushes = client.reply(third)
        assert body["s"] == "ok" and pushes[0]["b"] == {"p": "u/ann", "d": 2}


REFUSED = {
    "a key of another issuer": lambda: token(STRANGER, claims("ann")),
    "an unknown kid": lambda: token(RSAKey("rsa-9"), claims("ann")),
    "no kid": lambda: token(RSA, claims("ann"), kid=None),
    "another issuer": lambda: token(RSA, claims("ann", iss="https://evil.example")),
    "another audience": lambda: token(RSA, claims("ann", aud="other")),
    "no issuer": lambda: token(RSA, claims("ann", iss=None)),
    "no audience": lambda: token(RSA, claims("ann", aud=None)),
    "no subject": lambda: token(RSA, claims("ann", sub=None)),
    "no expiry": lambda: token(RSA, claims("ann", exp=None)),
    "an expiry that is no number": lambda: token(RSA, claims("ann", exp="never")),
    "an expiry out of all bounds": lambda: token(RSA, claims("ann", exp=1e300)),
    "issued in the future": lambda: token(RSA, claims("ann", iat=4_000_000_000)),
    "RS256 header over an EC key": lambda: token(RSA, claims("ann"), kid="ec-1"),
    "ES256 header over an RSA key": lambda: token(EC, claims("ann"), kid="rsa-1"),
    "no signature": lambda: token(RSA, claims("ann")).rsplit(".", 1)[0] + ".",
    "alg none": lambda: token(HMACKey(b"x"), claims("ann"), alg="none").rsplit(".", 1)[0] + ".",
    "HS256 by the public key": lambda: token(HMACKey(PUBLIC_PEM, "rsa-1"), claims("ann")),
    "HS256 by nothing": lambda: token(HMACKey(b""), claims("ann")),
    "an embedded key": lambda: token(STRANGER, claims("ann"), jwk=STRANGER.jwk, kid=None),
    "a far subject": lambda: token(RSA, claims("a" * 129)),
    "admin by claim": lambda: token(STRANGER, claims("ann", admin=True)),
    "not a token": lambda: "a.b.c",
    "far too long": lambda: token(RSA, claims("ann", x="x" * 20_000)),
}


@pytest.mark.parametrize("made", REFUSED.values(), ids=REFUSED.keys())
def test_a_bad_token_is_refused(server, made):
    bearer = {"Authorization": f"Bearer {made()}"}
    answer = server.get("/u/ann.json", headers=bearer)
    assert answer.status == 401 and answer.json == {"error": "Could not parse auth token."}
    with Wire(server.port, ns="default") as client:
        assert client.request("auth", cred=made())[0]["s"] == "invalid_token"
        # The connection goes on, signed out.
        assert client.request("p", p="/u/ann", d=3)[0]["s"] == "permission_denied"


def test_an_expired_token_says_so(server):
    old = token(RSA, claims("ann", lifetime=-60))
    answer = server.get(f"/u/ann.json?auth={old}")
    assert answer.status == 401 and answer.json == {"error": "Auth token is expired"}
    with Wire(server.port, ns="default") as client:
        assert client.request("auth", cred=old)[0]["s"] == "expired_token"


def test_a_token_that_expires_on_a_live_connection_is_pushed_and_ends_it(server):
    # Expiry has whole seconds, and is looked at once a second.
    with Wire(server.port, ns="default") as client:
        body, _ = client.request("auth", cred=token(RSA, claims("ann", lifetime=6)))
        assert body["s"] == "ok"
        assert client.push() == {
            "a": "ac",
            "b": {"s": "expired_token", "d": "Auth token is expired"},
        }
        with pytest.raises(ConnectionClosed):
            client.receive()


def test_every_admin_route_is_closed_to_everybody_else(server):
    routes = [
        ("GET", "/.settings/rules.json"),
        ("PUT", "/.settings/rules.json"),
        ("PUT", "/.settings/rules.json?dryRun=true"),
        ("POST", "/.simulate"),
        ("GET", "/.metrics"),
    ]
    body = b'{"op":"read","path":"/","rules":{".read":true}}'
    hmac = token(HMACKey(PUBLIC_PEM, "rsa-1"), claims("ann", admin=True))
    unsigned = token(HMACKey(b"x"), claims("ann"), alg="none").rsplit(".", 1)[0] + "."
    signed = token(RSA, claims("ann", admin=True))
    for method, path in routes:
        data = body if method in ("PUT", "POST") else None
        for credential in [None, "owner", "", hmac, unsigned, signed]:
            headers = {} if credential is None else {"Authorization": f"Bearer {credential}"}
            assert server.request(method, path, raw=data, headers=headers).status in (400, 401)
            if credential:
                mark = "&" if "?" in path else "?"
                for name in ("auth", "access_token"):
                    answer = server.request(method, f"{path}{mark}{name}={credential}", raw=data)
                    assert answer.status in (400, 401), (method, path, credential)


def test_an_override_is_for_the_admin_alone(server):
    bearer = {"Authorization": f"Bearer {token(RSA, claims('ann'))}"}
    override = "?auth_variable_override=%7B%22uid%22:%22bob%22%7D"
    assert server.get(f"/u/bob.json{override}", headers=bearer).status == 401
    assert server.get(f"/u/bob.json{override}").status == 401
    with Wire(server.port, ns="default") as client:
        client.request("auth", cred=token(RSA, claims("ann")), authvar={"uid": "bob"})
        assert client.request("p", p="/u/bob", d=1)[0]["s"] == "permission_denied"
        assert client.request("gauth", cred="owner")[0]["s"] == "invalid_token"


def test_a_replaced_key_file_is_read_again(tmp_path):
    new = ECKey("ec-2")
    with production(tmp_path) as server:
        path = f"/u/ann.json?auth={token(new, claims('ann'))}"
        assert server.get(path).status == 401
        (tmp_path / "keys.json").write_text('{"keys":[')
        server.await_log("token keys in force stay")
        assert "keys.json: is not JSON at byte" in server.log_text
        assert server.get(f"/u/ann.json?auth={token(RSA, claims('ann'))}").status == 200
        (tmp_path / "keys.json").write_text(jwks(new))
        server.await_log("token keys read again")
        assert server.get(path).status == 200
        assert server.get(f"/u/ann.json?auth={token(RSA, claims('ann'))}").status == 401


def test_hs256_tokens_are_taken_only_with_their_own_secret(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET + b"\n")
    with production(tmp_path, "--hs256-secret-file", str(secret)) as server:
        assert server.get(f"/u/ann.json?auth={token(HMACKey(SECRET), claims('ann'))}").status == 200
        wrong = token(HMACKey(SECRET[::-1]), claims("ann"))
        assert server.get(f"/u/ann.json?auth={wrong}").status == 401
        pem = token(HMACKey(PUBLIC_PEM, "rsa-1"), claims("ann"))
        assert server.get(f"/u/ann.json?auth={pem}").status == 401
        assert json.loads(server.get(f"/u/ann.json?auth={token(EC, claims('ann'))}").body) is None
