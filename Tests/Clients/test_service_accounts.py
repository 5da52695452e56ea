"""Service accounts in production: PyPI's firebase-admin, unchanged, over TLS, with a key file of `hearth service-account`."""

import base64
import gzip
import json
import os
import queue
import threading
import time
import urllib.error
import urllib.request

import firebase_admin
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from firebase_admin import auth, credentials, db
from google.auth.exceptions import RefreshError

from command_line import hearth
from production_server import GRANT, NUMBER, Production, assertion, base64url, self_signed

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    production = Production(tmp_path_factory.mktemp("production"))
    with production.server:
        production.put_rules()
        yield production


@pytest.fixture
def sdk(production, monkeypatch):
    """Makes apps of the SDK, with the key in a file; nothing else tells it of the server but the authority."""
    for name in list(os.environ):
        if name.startswith(("FIREBASE_", "GOOGLE_")) or name == "DATABASE_EMULATOR_HOST":
            monkeypatch.delenv(name)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(production.certificate))
    apps = []

    def make(file, **options):
        app = firebase_admin.initialize_app(
            credentials.Certificate(str(file)),
            options={"databaseURL": production.address, **options},
            name=f"service-{next(NUMBER)}",
        )
        apps.append(app)
        return app

    yield make
    for app in apps:
        firebase_admin.delete_app(app)


# The key file.


def test_a_key_file_is_private_and_is_never_overwritten(production):
    file = production.create("file")
    assert file.stat().st_mode & 0o777 == 0o600
    account = json.loads(file.read_text())
    assert account["type"] == "service_account"
    # No host below it can exist, and what needs a project is refused by the SDKs themselves.
    assert account["universe_domain"] == "hearth.invalid" and "project_id" not in account
    assert account["client_email"] == "file@demo.hearth.local"
    assert account["token_uri"] == f"{production.address}/token"
    assert account["private_key"].startswith("-----BEGIN PRIVATE KEY-----\n")
    assert len(account["private_key_id"]) == 40
    before = file.read_bytes()
    again = production.run("service-account", "create", "other", "--output", file)
    assert again.returncode == 2 and b"--force" in again.stderr
    assert file.read_bytes() == before
    listed = production.run("service-account", "list", "--json")
    accounts = json.loads(listed.stdout)["serviceAccounts"]
    assert "other" not in [entry["name"] for entry in accounts]
    forced = production.run("service-account", "create", "other", "--force", "--output", file)
    assert forced.returncode == 0, forced.stderr
    assert json.loads(file.read_text())["client_email"] == "other@demo.hearth.local"
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_key_for_an_address_that_sdks_refuse_comes_with_a_warning(production, dev):
    done = hearth(None, "service-account", "create", "plain", "--url", dev.address, "--output", "-")
    assert done.returncode == 0, done.stderr
    assert b"warning: Admin SDKs send such a key to https addresses alone" in done.stderr
    assert json.loads(done.stdout)["token_uri"].startswith("http://")
    done = production.run("service-account", "create", "sealed", "--output", "-")
    assert done.returncode == 0 and b"warning" not in done.stderr


def test_a_key_goes_to_standard_output_alone(production):
    done = production.run("service-account", "create", "pipe", "--output", "-")
    assert done.returncode == 0
    account = json.loads(done.stdout)
    assert account["client_email"] == "pipe@demo.hearth.local"
    assert b"PRIVATE" not in done.stderr and account["private_key_id"].encode() in done.stderr


def test_a_key_that_cannot_be_written_is_revoked_again(production):
    done = production.run(
        "service-account", "create", "lost", "--output", production.folder / "none" / "key.json"
    )
    assert done.returncode == 1 and b"revoked again" in done.stderr
    listed = production.run("service-account", "list")
    assert b"lost@" not in listed.stdout


def test_names_keys_and_numbers_have_limits(production):
    secret = production.secret
    for name in ["", "UPPER", "a.b", "a/b", "a b", "x" * 31, "\u00e4", "a\u0000b", 7.5, ["a"]]:
        answer = production.request("POST", "/.accounts/service-accounts.json", {"name": name}, secret)
        assert answer.status == 400, (name, answer.text)
    taken = production.create("limits")
    twice = production.run("service-account", "create", "limits", "--output", "-")
    assert twice.returncode == 1 and b"already" in twice.stderr
    unknown = production.run("service-account", "create", "nobody", "--add-key", "--output", "-")
    assert unknown.returncode == 1 and b"no service account 'nobody'" in unknown.stderr
    more = {"name": "limits", "addKey": True}
    for _ in range(9):
        assert production.request("POST", "/.accounts/service-accounts.json", more, secret).status == 200
    answer = production.request("POST", "/.accounts/service-accounts.json", more, secret)
    assert answer.status == 400 and "10 keys" in answer.json["error"]
    assert production.access_token(taken)
    huge = production.request("POST", "/.accounts/service-accounts.json", {"name": "a" * 5000}, secret)
    assert huge.status == 413


def test_service_accounts_are_for_administrators(production):
    for method, path in [
        ("GET", "/.accounts/service-accounts.json"),
        ("POST", "/.accounts/service-accounts.json"),
        ("DELETE", "/.accounts/service-accounts/ci.json"),
        ("GET", "/.accounts/realm.json"),
    ]:
        body = {"name": "mine"} if method == "POST" else None
        for token in [None, "owner", "wrong"]:
            answer = production.request(method, path, body, token)
            assert answer.status == 401, (method, path, token, answer.text)
    realm = production.request("GET", "/.accounts/realm.json", token=production.secret).json
    assert realm["project"] == "demo" and realm["audience"] == "demo"
    assert realm["signIn"] == ["custom", "password"]


# The SDK.


def test_the_sdk_reads_and_writes(production, sdk):
    app = sdk(production.create("data"))
    root = db.reference("/", app=app)
    root.child("users/ann").set({"name": "Ann", "age": 30})
    root.child("users/ann").update({"age": 31})
    assert root.child("users/ann").get() == {"name": "Ann", "age": 31}
    assert root.child("users").get(shallow=True) == {"ann": True}
    key = root.child("list").push({"n": 1}).key
    assert root.child("list").child(key).get() == {"n": 1}
    value, tag = root.child("users/ann").get(etag=True)
    assert root.child("users/ann").set_if_unchanged(tag, {"age": 32})[0]
    assert not root.child("users/ann").set_if_unchanged(tag, value)[0]
    root.child("users").delete()
    assert root.child("users").get() is None


def test_the_sdk_runs_transactions(production, sdk):
    apps = [sdk(production.create(f"counter-{number}")) for number in range(2)]
    db.reference("counter", app=apps[0]).set(0)

    def count(app):
        for _ in range(10):
            db.reference("counter", app=app).transaction(lambda value: (value or 0) + 1)

    threads = [threading.Thread(target=count, args=[app]) for app in apps]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert db.reference("counter", app=apps[0]).get() == 20


def test_the_sdk_listens_until_its_account_is_revoked(production, sdk):
    app = sdk(production.create("listener"))
    other = sdk(production.create("writer"))
    events = queue.Queue()
    db.reference("topic", app=other).set("tea")
    registration = db.reference("topic", app=app).listen(
        lambda event: events.put((event.event_type, event.path, event.data))
    )
    assert events.get(timeout=120) == ("put", "/", "tea")
    db.reference("topic", app=other).set("coffee")
    assert events.get(timeout=120) == ("put", "/", "coffee")
    done = production.run("service-account", "revoke", "listener")
    assert done.returncode == 0, done.stderr
    registration._thread.join(120)
    assert not registration._thread.is_alive()
    db.reference("topic", app=other).set("milk")
    assert events.empty()


def test_the_sdk_acts_as_a_user(production, sdk):
    file = production.create("override")
    as_ann = sdk(file, databaseAuthVariableOverride={"uid": "ann"})
    db.reference("users/ann/name", app=as_ann).set("Ann")
    assert db.reference("users/ann/name", app=as_ann).get() == "Ann"
    with pytest.raises(firebase_admin.exceptions.UnauthenticatedError):
        db.reference("users/bob", app=as_ann).get()
    signed_out = sdk(file, databaseAuthVariableOverride=None)
    with pytest.raises(firebase_admin.exceptions.UnauthenticatedError):
        db.reference("open", app=signed_out).get()


def sign_in(production, token):
    return production.request(
        "POST",
        "/identitytoolkit.googleapis.com/v1/accounts:signInWithCustomToken?key=any",
        {"token": token, "returnSecureToken": True},
    )


def test_a_custom_token_of_the_sdk_signs_a_user_in(production, sdk):
    app = sdk(production.create("minter"), projectId="demo")
    token = auth.create_custom_token("cid", {"team": "blue"}, app=app).decode()
    answer = sign_in(production, token)
    assert answer.status == 200, answer.text
    user = answer.json["idToken"]
    claims = json.loads(base64.urlsafe_b64decode(user.split(".")[1] + "=="))
    assert claims["sub"] == "cid" and claims["team"] == "blue" and claims["aud"] == "demo"
    written = production.request("PUT", "/users/cid/name.json", "Cid", user)
    assert written.status == 200, written.text
    assert production.request("GET", "/users/cid.json", token=user).json == {"name": "Cid"}
    assert production.request("GET", "/users/ann.json", token=user).status == 401
    assert production.run("service-account", "revoke", "minter").returncode == 0
    again = auth.create_custom_token("cid", app=app).decode()
    refused = sign_in(production, again)
    assert refused.status == 400 and refused.json["error"]["message"] == "CREDENTIAL_MISMATCH"


def test_nothing_counts_after_an_account_is_revoked(production, sdk):
    file = production.create("gone")
    app = sdk(file)
    reference = db.reference("gone", app=app)
    reference.set(1)
    token = production.access_token(file)
    assert production.request("GET", "/gone.json", token=token).json == 1
    done = production.run("service-account", "revoke", "gone")
    assert done.returncode == 0 and b"gone is revoked" in done.stdout
    assert production.request("GET", "/gone.json", token=token).status == 401
    assert production.request("GET", "/.accounts/realm.json", token=token).status == 401
    with pytest.raises((firebase_admin.exceptions.FirebaseError, RefreshError)):
        reference.get()
    fresh = sdk(file)
    with pytest.raises((firebase_admin.exceptions.FirebaseError, RefreshError)):
        db.reference("gone", app=fresh).get()
    answer = production.token({"grant_type": GRANT, "assertion": assertion(file)})
    assert answer.status == 400 and answer.json["error"] == "invalid_grant"
    assert "may be revoked" in answer.json["error_description"]
    # Another account of this name has other keys, and old tokens are none of its.
    renewed = production.create("gone")
    assert production.request("GET", "/gone.json", token=token).status == 401
    assert production.access_token(renewed)
    assert production.token({"grant_type": GRANT, "assertion": assertion(file)}).status == 400


def test_a_key_is_replaced_by_another_without_a_gap(production):
    first = production.create("rolling")
    second = production.create("rolling", "--add-key")
    old, new = production.access_token(first), production.access_token(second)
    for token in [old, new]:
        assert production.request("GET", "/counter.json", token=token).status == 200
    key = json.loads(first.read_text())["private_key_id"]
    done = production.run("service-account", "revoke", "rolling", "--key", key)
    assert done.returncode == 0, done.stderr
    assert production.request("GET", "/counter.json", token=old).status == 401
    assert production.token({"grant_type": GRANT, "assertion": assertion(first)}).status == 400
    fresh = production.access_token(second)
    assert production.request("GET", "/counter.json", token=fresh).status == 200
    unknown = production.run("service-account", "revoke", "rolling", "--key", key)
    assert unknown.returncode == 1 and b"has no key" in unknown.stderr


# Assertions.


@pytest.fixture(scope="module")
def key_file(production):
    return production.create("asserter")


def test_an_assertion_becomes_an_access_token(production, key_file):
    answer = production.token({"grant_type": GRANT, "assertion": assertion(key_file)})
    assert answer.status == 200, answer.text
    assert answer.json["token_type"] == "Bearer" and answer.json["expires_in"] == 3600
    assert answer.headers["Cache-Control"] == "no-store"
    header, claims = [
        json.loads(base64.urlsafe_b64decode(part + "=="))
        for part in answer.json["access_token"].split(".")[:2]
    ]
    assert header["typ"] == "at+jwt" and header["alg"] == "RS256"
    assert claims["sub"] == "asserter@demo.hearth.local" and claims["exp"] == claims["iat"] + 3600


@pytest.mark.parametrize(
    "change, words",
    [
        ({"aud": "https://other.example/token"}, "'aud' must be https://localhost"),
        ({"aud": ["https://oauth2.googleapis.com/token", "https://other.example"]}, "'aud' must be"),
        ({"aud": None}, ""),
        ({"iss": "nobody@demo.hearth.local", "sub": "nobody@demo.hearth.local"}, ""),
        ({"iss": None}, ""),
        ({"sub": "other@demo.hearth.local"}, ""),
        ({"exp": None}, ""),
        ({"iat": None}, ""),
        ({"exp": str(2**31)}, ""),
        ({"header": {"alg": "none"}}, ""),
        ({"header": {"alg": "HS256"}}, ""),
        ({"header": {"kid": "0" * 40}}, ""),
        ({"header": {"crit": ["exp"]}}, ""),
        ({"header": {"jku": "https://evil.example/jwks"}}, ""),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_a_bad_assertion_is_refused(production, key_file, change, words):
    change = dict(change)
    header = change.pop("header", None)
    text = assertion(key_file, header=header, **change)
    answer = production.token({"grant_type": GRANT, "assertion": text})
    assert answer.status == 400, answer.text
    assert answer.json["error"] == "invalid_grant" and words in answer.json["error_description"]


@pytest.mark.parametrize("start, length", [(-3700, 3600), (0, 3700), (3000, 3600)])
def test_an_assertion_lives_for_an_hour_at_most(production, key_file, start, length):
    start += int(time.time())
    text = assertion(key_file, iat=start, exp=start + length)
    answer = production.token({"grant_type": GRANT, "assertion": text})
    assert answer.status == 400 and answer.json["error"] == "invalid_grant", answer.text


@pytest.mark.parametrize(
    "audience",
    ["https://oauth2.googleapis.com/token", "https://accounts.google.com/o/oauth2/token"],
)
def test_an_audience_of_google_s_is_refused_since_google_has_seen_it(production, key_file, audience):
    answer = production.exchange(key_file, aud=audience)
    assert answer.status == 400 and answer.json["error"] == "invalid_grant"
    assert "universe_domain" in answer.json["error_description"]


def test_a_forged_assertion_is_refused(production, key_file):
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    answer = production.token({"grant_type": GRANT, "assertion": assertion(key_file, stranger)})
    assert answer.status == 400 and answer.json["error"] == "invalid_grant"
    head, claims, signature = assertion(key_file).split(".")
    body = json.loads(base64.urlsafe_b64decode(claims + "=="))
    changed = base64url(json.dumps({**body, "exp": body["exp"] - 1}).encode())
    for text in [f"{head}.{changed}.{signature}", f"{head}.{claims}.", f"{head}.{claims}", "x"]:
        answer = production.token({"grant_type": GRANT, "assertion": text})
        assert answer.status == 400 and answer.json["error"] == "invalid_grant", text


@pytest.mark.parametrize(
    "form, code",
    [
        ({}, "invalid_request"),
        ({"grant_type": GRANT}, "invalid_request"),
        ({"assertion": "a.b.c"}, "invalid_request"),
        ({"grant_type": "refresh_token", "refresh_token": "x"}, "unsupported_grant_type"),
        ({"grant_type": "password", "username": "a", "password": "b"}, "unsupported_grant_type"),
        ({"grant_type": GRANT, "assertion": ""}, "invalid_grant"),
        ({"grant_type": GRANT, "assertion": "a\u0000b"}, "invalid_request"),
        ({"grant_type": GRANT, "assertion": "x" * 20000}, "invalid_grant"),
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_a_request_of_another_form_is_refused(production, form, code):
    answer = production.token(form)
    assert answer.status == 400 and answer.json["error"] == code, answer.text


def tries_until_refused(production, form, network):
    """How many tries were decided before one had to wait; delays double, so a slow machine only gets a few more."""
    for count in range(32):
        answer = production.token(form, network)
        if answer.status == 429:
            return count, answer
        assert answer.status == 400, answer.text
    raise AssertionError("32 tries and none was refused")


def test_a_network_that_fails_too_often_has_to_wait_but_a_good_key_on_it_has_not(production, key_file):
    good = {"grant_type": GRANT, "assertion": assertion(key_file)}
    bad = {"grant_type": GRANT, "assertion": assertion(key_file, aud="https://other.example")}
    count, refusal = tries_until_refused(production, bad, "192.0.2.7")
    assert count >= 20
    assert refusal.json["error"] == "slow_down" and int(refusal.headers["Retry-After"]) >= 1
    assert production.token(bad, "192.0.2.8").status == 400
    assert production.token(good, "192.0.2.7").status == 200
    # The good key did not make the network trusted again: it has none of its twenty free tries left.
    count, _ = tries_until_refused(production, bad, "192.0.2.7")
    assert count < 20


def test_a_large_body_is_refused_before_it_is_read(production):
    large = {"grant_type": GRANT, "assertion": "x" * 70_000}
    assert production.token(large).status == 413
    bomb = gzip.compress(b"grant_type=" + b"x" * 10_000_000)
    assert len(bomb) < 64 * 1024
    request = urllib.request.Request(
        production.address + "/token", data=bomb, headers={"Content-Encoding": "gzip"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=120, context=production.context)
    assert refused.value.code in (400, 413)
    refused.value.close()


def test_an_assertion_or_a_custom_token_is_no_credential(production, key_file, sdk):
    custom = auth.create_custom_token("ann", app=sdk(key_file, projectId="demo")).decode()
    for token in [assertion(key_file), custom]:
        assert production.request("GET", "/users/ann.json", token=token).status == 401
    identity = sign_in(production, assertion(key_file))
    assert identity.status == 400


# Access tokens that a key signs itself.


@pytest.mark.parametrize(
    "claims",
    [{}, {"aud": "hearth-admin", "scope": None}, {"aud": ["hearth-admin"], "scope": None}],
    ids=json.dumps,
)
def test_a_token_that_the_key_signs_itself_is_an_administrator_s(production, key_file, claims):
    token = self_signed(key_file, **claims)
    assert production.request("PUT", "/self.json", 1, token).status == 200
    assert production.request("GET", "/.accounts/realm.json", token=token).status == 200
    users = "/identitytoolkit.googleapis.com/v1/projects/demo/accounts:lookup"
    assert production.request("POST", users, {"localId": ["nobody"]}, token).status == 200
    socket = production.request("GET", f"/self.json?access_token={token}")
    assert socket.json == 1


NOW = int(time.time())


@pytest.mark.parametrize(
    "claims",
    [
        {"scope": None},
        {"scope": ""},
        {"scope": "https://www.googleapis.com/auth/userinfo.email"},
        {"scope": "xhttps://www.googleapis.com/auth/firebase"},
        {"aud": "https://oauth2.googleapis.com/token"},
        {"aud": "https://identitytoolkit.googleapis.com/"},
        {"aud": ["hearth-admin", "https://other.example"]},
        {"sub": None},
        {"sub": "other@demo.hearth.local"},
        {"iss": "other@demo.hearth.local", "sub": "other@demo.hearth.local"},
        {"iss": "minter@demo.hearth.local", "sub": "minter@demo.hearth.local"},
        {"exp": NOW + 7200},
        {"iat": NOW - 7200},
        {"iat": NOW - 3600, "exp": NOW - 1},
        {"iat": NOW + 3000, "exp": NOW + 6000},
        {"iat": None},
        {"exp": None},
        {"header": {"kid": None}},
        {"header": {"kid": "0" * 40}},
        {"header": {"alg": "none"}},
        {"header": {"alg": "HS256"}},
    ],
    # No times: all processes of a run must find tests of the same names.
    ids=range(21),
)
def test_a_self_signed_token_with_other_claims_is_refused(production, key_file, claims):
    token = self_signed(key_file, **claims)
    assert production.request("GET", "/self.json", token=token).status == 401
    assert production.request("GET", "/.accounts/realm.json", token=token).status == 401


def test_a_self_signed_token_of_another_key_is_refused(production, key_file):
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    token = self_signed(key_file, stranger)
    assert production.request("GET", "/self.json", token=token).status == 401


def test_revoking_a_key_ends_what_goes_on_by_its_own_tokens(production):
    keys = [production.create("ending"), production.create("ending", "--add-key")]
    tokens = [self_signed(key) for key in keys]
    request = urllib.request.Request(
        production.address + "/topic.json",
        headers={"Authorization": f"Bearer {tokens[0]}", "Accept": "text/event-stream"},
    )
    with urllib.request.urlopen(request, timeout=120, context=production.context) as stream:
        assert stream.readline() == b"event: put\n"
        name = json.loads(keys[0].read_text())["private_key_id"]
        assert production.run("service-account", "revoke", "ending", "--key", name).returncode == 0
        while (line := stream.readline()) != b"event: auth_revoked\n":
            assert line, "the stream ended without a word"
    assert production.request("GET", "/topic.json", token=tokens[0]).status == 401
    # The key that is left goes on, also with a token from before.
    assert production.request("GET", "/topic.json", token=tokens[1]).status == 200
    assert production.run("service-account", "revoke", "ending").returncode == 0
    assert production.request("GET", "/topic.json", token=tokens[1]).status == 401


def test_no_key_and_no_token_is_in_the_log_or_the_data_folder(production, key_file):
    account = json.loads(key_file.read_text())
    token = production.access_token(key_file)
    private = "".join(account["private_key"].split("\n")[2:10])
    own = self_signed(key_file)
    assert production.request("GET", "/self.json", token=own).status == 200
    markers = [account["private_key"].split("\n")[5], private[:100], token, token.split(".")[2]]
    markers += [own, own.split(".")[2]]
    files = [production.log, *(production.folder / "data").rglob("*")]
    for file in files:
        if not file.is_file():
            continue
        content = file.read_bytes()
        for marker in markers:
            assert marker.encode() not in content, file


def test_keys_that_sign_are_listed_and_replaced(production):
    listed = production.run("keys", "list")
    assert listed.returncode == 0 and b"current" in listed.stdout, listed.stderr
    before = json.loads(production.run("keys", "list", "--json").stdout)["keys"]
    rotated = production.run("keys", "rotate")
    assert rotated.returncode == 0 and b"next" in rotated.stdout, rotated.stderr
    after = json.loads(production.run("keys", "list", "--json").stdout)["keys"]
    assert len(after) == len(before) + 1


def test_accounts_and_keys_come_back_after_a_crash(tmp_path):
    production = Production(tmp_path)
    with production.server as server:
        file = production.create("lasting")
        token = production.access_token(file)
        server.kill()
        server.start()
        production.address = f"https://localhost:{server.port}"
        assert production.request("GET", "/.json", token=token).status == 200
        assert production.request("GET", "/.json", token=self_signed(file)).status == 200
        uri = json.loads(file.read_text())["token_uri"]
        # The port is a new one here; a server that keeps its address says so by --public-url.
        answer = production.token({"grant_type": GRANT, "assertion": assertion(file)})
        assert answer.status == 400 and uri != f"{production.address}/token"
        moved = assertion(file, aud=f"{production.address}/token")
        assert production.token({"grant_type": GRANT, "assertion": moved}).status == 200


def test_the_public_address_is_the_audience(tmp_path):
    production = Production(tmp_path, "--public-url", "https://db.example.com")
    with production.server:
        file = production.create("public")
        assert json.loads(file.read_text())["token_uri"] == "https://db.example.com/token"
        assert production.access_token(file)
        local = assertion(file, aud=f"{production.address}/token")
        assert production.token({"grant_type": GRANT, "assertion": local}).status == 400


def test_an_access_token_ends_when_it_says(production, key_file):
    token = production.access_token(key_file)
    header, claims = [
        json.loads(base64.urlsafe_b64decode(part + "==")) for part in token.split(".")[:2]
    ]
    now = int(time.time())
    assert claims["exp"] - claims["iat"] == 3600 and abs(claims["iat"] - now) < 60
    # Signed by the server's own key: one that ends soon, and one that has ended.
    short = production.sign(header, {**claims, "exp": now + 8})
    over = production.sign(header, {**claims, "iat": now - 3600, "exp": now - 1})
    refused = production.request("GET", "/topic.json", token=over)
    assert refused.status == 401 and "expired" in refused.json["error"]
    production.request("PUT", "/topic.json", "tea", production.secret)
    request = urllib.request.Request(
        production.address + "/topic.json",
        headers={"Authorization": f"Bearer {short}", "Accept": "text/event-stream"},
    )
    with urllib.request.urlopen(request, timeout=120, context=production.context) as stream:
        lines = []
        while not lines or lines[-1] != "event: auth_revoked":
            line = stream.readline().decode()
            assert line, lines
            lines.append(line.strip())
    assert "event: put" in lines and int(time.time()) >= now + 8
    assert production.request("GET", "/topic.json", token=short).status == 401
    longer = production.sign(header, {**claims, "exp": claims["iat"] + 7200})
    assert production.request("GET", "/topic.json", token=longer).status == 401
