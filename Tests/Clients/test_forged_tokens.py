"""Tokens that no issuer gave out, held against the real server in production, in every way a token can come in."""

import hashlib
import hmac
import json
import time

import pytest
from cryptography.hazmat.primitives import serialization

from event_client import Events
from hearth_server import Hearth
from key_folder import KeyFolder, OwnKey
from signing import AUDIENCE, ISSUER, ECKey, HMACKey, RSAKey, base64url, jwks, token
from signing import claims as outside_claims
from wire_client import Wire

OWN_ISSUER, OWN_AUDIENCE = "https://securetoken.google.com/party", "party"
CUSTOM_AUDIENCE = (
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
)
RULES = '{"rules":{"u":{"$u":{".read":"auth.uid == $u",".write":"auth.uid == $u"}}}}'
OUTSIDE, STRANGER = RSAKey("out-1"), RSAKey("stranger")


class Party:
    """A server with a key folder whose every key the test has, and one user."""

    def __init__(self, folder):
        self.data = folder / "data"
        self.keys = KeyFolder(self.data)
        (folder / "rules.json").write_text(RULES)
        (folder / "outside.json").write_text(jwks(OUTSIDE))
        self.server = Hearth(
            "--project",
            "party",
            "--rules",
            str(folder / "rules.json"),
            "--jwks",
            str(folder / "outside.json"),
            "--token-issuer",
            ISSUER,
            "--token-audience",
            AUDIENCE,
            dev=False,
            data=self.data,
            log=folder / "log",
        )
        self.secret = (self.data / "admin-secret").read_text().strip()
        made = self.call("signUp", email="ann@example.com", password="long enough")
        self.uid, self.given = made["localId"], made["idToken"]
        self.refresh_token = made["refreshToken"]

    def call(self, method, **body):
        answer = self.post(method, body)
        assert answer.status == 200, answer.text
        return answer.json

    def post(self, method, body):
        return self.server.request("POST", f"/v1/accounts:{method}?key=any", body)

    @property
    def admin(self):
        return {"Authorization": f"Bearer {self.secret}"}

    def claims(self, **changes):
        now = int(time.time())
        made = {
            "iss": OWN_ISSUER,
            "aud": OWN_AUDIENCE,
            "sub": self.uid,
            "user_id": self.uid,
            "auth_time": now,
            "iat": now,
            "exp": now + 3600,
            "firebase": {"sign_in_provider": "password", "identities": {}},
        }
        made.update(changes)
        return {name: value for name, value in made.items() if value is not None}

    def signed(self, key=None, header=None, **changes):
        return token(key or self.keys.current, self.claims(**changes), **(header or {}))


@pytest.fixture(scope="module")
def party(tmp_path_factory):
    party = Party(tmp_path_factory.mktemp("forged"))
    with party.server:
        yield party


def by_hmac(secret, algorithm, kid, payload):
    digest = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}[algorithm]
    head = {"alg": algorithm, "typ": "JWT", "kid": kid}
    text = ".".join(base64url(json.dumps(part).encode()) for part in (head, payload))
    return f"{text}.{base64url(hmac.new(secret, text.encode(), digest).digest())}"


def access_claims(party, **changes):
    now = int(time.time())
    made = {
        "iss": OWN_ISSUER,
        "aud": "hearth-admin",
        "sub": "ci@party.hearth.local",
        "key_id": "k1",
        "iat": now,
        "exp": now + 3600,
    }
    made.update(changes)
    return made


def spelled(text, part, change):
    parts = text.split(".")
    parts[part] = change(parts[part])
    return ".".join(parts)


def flipped(text):
    """The same bytes, if bits behind the last one did not count."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + alphabet[alphabet.index(text[-1]) + 1]


def hmac_forgeries():
    """HS256, 384 and 512 with everything public about the server's key as the secret."""
    secrets = {
        "the PEM": lambda key: key.public_pem,
        "the PEM without its last line break": lambda key: key.public_pem.strip(),
        "the DER": lambda key: key.private.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        ),
        "the JWK": lambda key: json.dumps(key.jwk).encode(),
        "the JWK without spaces": lambda key: json.dumps(key.jwk, separators=(",", ":")).encode(),
        "the modulus": lambda key: key.jwk["n"].encode(),
        "nothing": lambda key: b"",
    }
    for algorithm in ("HS256", "HS384", "HS512"):
        for name, secret in secrets.items():
            yield f"{algorithm} by {name}", lambda p, s=secret, a=algorithm: by_hmac(
                s(p.keys.current), a, p.keys.current.id, p.claims()
            )


FORGED = {
    # The algorithm.
    "alg none": lambda p: p.signed(header={"alg": "none"}).rsplit(".", 1)[0] + ".",
    "alg none with a signature": lambda p: p.signed(header={"alg": "none"}),
    "alg None": lambda p: p.signed(header={"alg": "None"}).rsplit(".", 1)[0] + ".",
    "alg nOnE with a signature": lambda p: p.signed(header={"alg": "nOnE"}),
    "alg of an unsigned token and no kid": lambda p: p.signed(
        header={"alg": "none", "kid": None}
    ).rsplit(".", 1)[0]
    + ".",
    "alg RS512 over RS256": lambda p: p.signed(header={"alg": "RS512"}),
    "alg PS256 over RS256": lambda p: p.signed(header={"alg": "PS256"}),
    "alg ES256 over RSA": lambda p: p.signed(header={"alg": "ES256"}),
    "alg rs256": lambda p: p.signed(header={"alg": "rs256"}),
    "alg that is a list": lambda p: p.signed(header={"alg": ["RS256"]}),
    "no alg": lambda p: p.signed(header={"alg": None}),
    **dict(hmac_forgeries()),
    # The key.
    "no signature": lambda p: p.signed().rsplit(".", 1)[0] + ".",
    "a stranger's key under our kid": lambda p: p.signed(STRANGER, {"kid": p.keys.current.id}),
    "a stranger's key": lambda p: p.signed(STRANGER),
    "a P-256 key under our kid": lambda p: p.signed(ECKey(p.keys.current.id)),
    "the kid of another key of ours": lambda p: p.signed(header={"kid": p.keys.superseded.id}),
    "no kid": lambda p: p.signed(header={"kid": None}),
    "an empty kid": lambda p: p.signed(header={"kid": ""}),
    "a kid that is a number": lambda p: p.signed(header={"kid": 7}),
    "a kid with a path": lambda p: p.signed(header={"kid": "../../keys/signing-keys.json"}),
    "a kid of an empty file": lambda p: by_hmac(b"", "HS256", "../../../dev/null", p.claims()),
    "a kid with a query": lambda p: p.signed(header={"kid": "x' OR '1'='1"}),
    "a kid with a NUL": lambda p: p.signed(header={"kid": p.keys.current.id + "\0"}),
    "a kid with a line break": lambda p: p.signed(header={"kid": p.keys.current.id + "\n"}),
    "a kid that is too long": lambda p: p.signed(header={"kid": "k" * 300}),
    "a key that verifies no more": lambda p: p.signed(p.keys.retired),
    "jku": lambda p: p.signed(STRANGER, {"jku": "https://evil.example/jwks"}),
    "jku over a good signature": lambda p: p.signed(header={"jku": "https://evil.example/jwks"}),
    "x5u": lambda p: p.signed(STRANGER, {"x5u": "https://evil.example/cert"}),
    "x5c": lambda p: p.signed(STRANGER, {"x5c": ["MIIB"]}),
    "jwk": lambda p: p.signed(STRANGER, {"jwk": STRANGER.jwk}),
    "jwk under our kid": lambda p: p.signed(
        STRANGER, {"jwk": {**STRANGER.jwk, "kid": p.keys.current.id}, "kid": p.keys.current.id}
    ),
    "crit": lambda p: p.signed(header={"crit": ["exp"]}),
    "crit that is empty": lambda p: p.signed(header={"crit": ["b64"], "b64": False}),
    "zip": lambda p: p.signed(header={"zip": "DEF"}),
    # The form.
    "another typ": lambda p: p.signed(header={"typ": "at+jwt"}),
    "no typ": lambda p: p.signed(header={"typ": None}),
    "padding": lambda p: p.signed() + "==",
    "padding within": lambda p: spelled(p.signed(), 1, lambda part: part + "="),
    "the alphabet of plain base64": lambda p: spelled(
        p.signed(x="\u00ff\u00fe\u00fd" * 9), 1, lambda part: part.replace("-", "+").replace("_", "/") + "+"
    ),
    "a space": lambda p: spelled(p.signed(), 0, lambda part: part[:4] + " " + part[4:]),
    "hidden bits": lambda p: spelled(p.signed(), 2, flipped),
    "trailing characters": lambda p: p.signed() + "AAAA",
    "a trailing dot": lambda p: p.signed() + ".",
    "four parts": lambda p: p.signed() + ".AAAA",
    "five parts, as if encrypted": lambda p: p.signed() + ".AAAA.AAAA",
    "two parts": lambda p: p.signed().rsplit(".", 1)[0],
    "a changed claim": lambda p: spelled(
        p.signed(), 1, lambda _: base64url(json.dumps(p.claims(sub="bob")).encode())
    ),
    "a cut signature": lambda p: p.signed()[:-4],
    "claims that are a list": lambda p: token(p.keys.current, [p.claims()]),
    "far too long": lambda p: p.signed(x="x" * 20_000),
    # The claims.
    "exp that is a text": lambda p: p.signed(exp=str(int(time.time()) + 3600)),
    "exp with a fraction": lambda p: p.signed(exp=time.time() + 3600.5),
    "exp that is huge": lambda p: p.signed(exp=1e300),
    "exp that is beyond 64 bits": lambda p: p.signed(exp=2**64 + 10),
    "exp that is negative": lambda p: p.signed(exp=-1),
    "exp that is true": lambda p: p.signed(exp=True),
    "no exp": lambda p: p.signed(exp=None),
    "iat in the future": lambda p: p.signed(iat=int(time.time()) + 120),
    "nbf in the future": lambda p: p.signed(nbf=int(time.time()) + 120),
    "auth_time in the future": lambda p: p.signed(auth_time=int(time.time()) + 120),
    "no iat": lambda p: p.signed(iat=None),
    "another aud": lambda p: p.signed(aud="other"),
    "no aud": lambda p: p.signed(aud=None),
    "a number as aud": lambda p: p.signed(aud=7),
    "another iss": lambda p: p.signed(iss="https://securetoken.google.com/partyx"),
    "no iss": lambda p: p.signed(iss=None),
    "the iss of the outside issuer": lambda p: p.signed(iss=ISSUER, aud=AUDIENCE),
    "no sub": lambda p: p.signed(sub=None, user_id=None),
    "an empty sub": lambda p: p.signed(sub="", user_id=None),
    "a sub that is too long": lambda p: p.signed(sub="x" * 129, user_id=None),
    "a user_id that is not the sub": lambda p: p.signed(user_id="bob"),
    "a sub without an account": lambda p: p.signed(sub="nobody", user_id="nobody"),
    "iat of before the account": lambda p: p.signed(iat=1_000_000_000, auth_time=1_000_000_000),
    # Tokens for something else.
    "a custom token": lambda p: p.signed(aud=CUSTOM_AUDIENCE, uid=p.uid),
    "a custom token among other audiences": lambda p: p.signed(aud=[OWN_AUDIENCE, CUSTOM_AUDIENCE]),
    "a session cookie": lambda p: p.signed(iss="https://session.firebase.google.com/party"),
    "the session cookie that the server gave": lambda p: session_cookie(p),
    "an access token as if of a user": lambda p: token(
        p.keys.current, access_claims(p, sub=p.uid), typ="at+jwt"
    ),
    "an access token of no service account": lambda p: token(
        p.keys.current, access_claims(p), typ="at+jwt"
    ),
    "an access token of another typ": lambda p: token(p.keys.current, access_claims(p)),
    "an access token of the outside issuer": lambda p: token(
        OUTSIDE, access_claims(p), typ="at+jwt"
    ),
    "an access token of a stranger": lambda p: token(
        STRANGER, access_claims(p), typ="at+jwt", kid=p.keys.current.id
    ),
    "an ID token that says it is an access token": lambda p: p.signed(
        aud="hearth-admin", typ="at+jwt", key_id="k1", sub="ci@party.hearth.local", user_id=None
    ),
    "a refresh token": lambda p: p.refresh_token,
    "an ID token of ours by the outside key": lambda p: p.signed(OUTSIDE),
    "a database-secret token by our PEM": lambda p: by_hmac(
        p.keys.current.public_pem,
        "HS256",
        None,
        {"v": 0, "d": {"uid": p.uid}, "iat": int(time.time()), "admin": True},
    ),
    "owner": lambda p: "owner",
    "a part of the admin secret": lambda p: p.secret[:-1],
}

EXPIRED = {
    "exp in the past": lambda p: p.signed(exp=int(time.time()) - 60),
    "exp that is now": lambda p: p.signed(exp=int(time.time())),
    "exp of the year 1970": lambda p: p.signed(exp=0),
}


def session_cookie(party):
    body = {"idToken": party.given, "validDuration": "3600"}
    answer = party.server.request(
        "POST", "/v1/projects/party:createSessionCookie", body, headers=party.admin
    )
    assert answer.status == 200, answer.text
    return answer.json["sessionCookie"]


def test_the_tokens_that_these_forgeries_start_from_are_good(party):
    """Else the refusals below could have any reason."""
    for good in [
        party.given,
        party.signed(),
        party.signed(party.keys.superseded),
        party.signed(party.keys.next),
        party.signed(aud=["other", OWN_AUDIENCE]),
    ]:
        assert party.server.get(f"/u/{party.uid}.json?auth={good}").status == 200
        with Wire(party.server.port, ns="default") as client:
            assert client.request("auth", cred=good)[0]["s"] == "ok"
        with Events(party.server.port, ns="default") as client:
            assert client.ask("auth", token=good) == {"ok": True, "uid": party.uid}
        assert party.call("lookup", idToken=good)["users"][0]["localId"] == party.uid
    outside = token(OUTSIDE, outside_claims("ann"))
    assert party.server.get(f"/u/ann.json?auth={outside}").status == 200


@pytest.mark.parametrize("made", FORGED.values(), ids=FORGED.keys())
def test_a_forged_token_is_refused_wherever_it_comes_in(party, made):
    forged = made(party)
    quoted = forged.replace("+", "%2B").replace("/", "%2F").replace(" ", "%20")
    for answer in [
        party.server.get(f"/u/{party.uid}.json?auth={quoted}"),
        party.server.get(f"/u/{party.uid}.json?access_token={quoted}"),
        party.server.get(
            f"/u/{party.uid}.json", headers={"Authorization": f"Bearer {forged}"}
        ),
        party.server.put(f"/u/{party.uid}.json?auth={quoted}", 1),
        party.server.get(f"/.settings/rules.json?auth={quoted}"),
        party.server.get(f"/.accounts/keys.json?auth={quoted}"),
    ]:
        assert answer.status == 401, answer.text
        assert set(answer.json) == {"error"}
        assert forged not in answer.text
    with Wire(party.server.port, ns="default") as client:
        for action in ("auth", "gauth"):
            assert client.request(action, cred=forged)[0]["s"] == "invalid_token"
        # The connection goes on, signed out.
        assert client.request("p", p=f"/u/{party.uid}", d=3)[0]["s"] == "permission_denied"
    with Events(party.server.port, ns="default") as client:
        assert client.ask("auth", token=forged)["error"] == "invalid_token"
        assert client.ask("get", path=f"/u/{party.uid}")["error"] == "permission_denied"
    refused = party.post("lookup", {"idToken": forged})
    assert refused.status == 400
    code = refused.json["error"]["message"]
    assert code in ("INVALID_ID_TOKEN", "TOKEN_EXPIRED", "USER_NOT_FOUND"), code
    listed = party.server.get(
        "/v1/projects/party/accounts:batchGet", headers={"Authorization": f"Bearer {forged}"}
    )
    assert listed.status == 401, listed.text


@pytest.mark.parametrize("made", EXPIRED.values(), ids=EXPIRED.keys())
def test_an_expired_token_is_refused_as_such(party, made):
    old = made(party)
    answer = party.server.get(f"/u/{party.uid}.json?auth={old}")
    assert answer.status == 401 and answer.json == {"error": "Auth token is expired"}
    with Wire(party.server.port, ns="default") as client:
        assert client.request("auth", cred=old)[0]["s"] == "expired_token"
    with Events(party.server.port, ns="default") as client:
        assert client.ask("auth", token=old)["error"] == "expired_token"
    assert party.post("lookup", {"idToken": old}).json["error"]["message"] == "TOKEN_EXPIRED"


def test_a_token_for_data_is_no_refresh_token_and_a_changed_one_is_none(party):
    good = party.refresh_token

    def refresh(text):
        body = {"grantType": "refresh_token", "refreshToken": text}
        return party.server.request("POST", "/securetoken.googleapis.com/v1/token?key=a", body)

    assert refresh(good).json["user_id"] == party.uid
    middle = len(good) // 2
    for forged in [
        party.given,
        good[:-1],
        good + "A",
        good + "=",
        good[:middle] + ("A" if good[middle] != "A" else "B") + good[middle + 1 :],
        "hr2_" + good[4:],
        good[4:],
        "hr1_",
        "hr1_" + base64url(bytes(32) + b'{"u":"%s","p":"password","t":9}' % party.uid.encode()),
    ]:
        answer = refresh(forged)
        assert answer.status == 400
        assert answer.json["error"]["message"] == "INVALID_REFRESH_TOKEN"


def test_custom_tokens_that_no_service_account_signed_let_no_user_in(party):
    now = int(time.time())
    email = "ci@party.hearth.local"
    payload = {
        "iss": email,
        "sub": email,
        "aud": CUSTOM_AUDIENCE,
        "uid": party.uid,
        "iat": now,
        "exp": now + 3600,
    }
    unsigned = token(HMACKey(b"x"), payload, alg="none").rsplit(".", 1)[0] + "."
    for forged in [
        unsigned,
        json.dumps({"uid": party.uid}),
        token(STRANGER, payload),
        token(party.keys.current, payload),
        token(party.keys.current, {**payload, "iss": OWN_ISSUER, "sub": OWN_ISSUER}),
        token(OUTSIDE, payload),
        token(HMACKey(party.keys.current.public_pem), payload),
        party.given,
        party.secret,
        "",
    ]:
        answer = party.post("signInWithCustomToken", {"token": forged, "returnSecureToken": True})
        assert answer.status == 400, answer.text
        assert answer.json["error"]["message"].split(" ")[0] in (
            "INVALID_CUSTOM_TOKEN",
            "MISSING_CUSTOM_TOKEN",
            # It is meant for another receiver.
            "CREDENTIAL_MISMATCH",
        )


def test_nothing_of_a_token_is_in_the_log(party):
    log = party.server.log_text
    assert party.given not in log and party.refresh_token not in log and party.secret not in log


def test_every_key_is_different(party):
    assert len({key.id for key in party.keys.all} | {OwnKey(0).id}) == 5
