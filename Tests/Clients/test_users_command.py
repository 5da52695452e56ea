"""`hearth users`: accounts listed, made, changed, imported and exported from the command line."""

import base64
import csv
import gzip
import hashlib
import hmac
import io
import json
import time

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from command_line import Answering, hearth, on_terminal
from hearth_server import Hearth

PATH = "/identitytoolkit.googleapis.com/v1"
SIGNER, SEPARATOR, ROUNDS, MEMORY = b"a signer key of Firebase" * 2, b"\x07", 8, 14
HASHING = ["--hash-algo", "SCRYPT", "--hash-key", base64.b64encode(SIGNER).decode()]
HASHING += ["--salt-separator", base64.b64encode(SEPARATOR).decode()]
HASHING += ["--rounds", ROUNDS, "--mem-cost", MEMORY]
# As a Hearth server exports one.
OWN_HASH = "$argon2id$v=19$m=8192,t=1,p=1$" + "c2FsdHNhbHRzYWx0c2FsdA" + "$" + "aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g"


@pytest.fixture(scope="module")
def server():
    """A development server; its first project is named on the command line, as all others are taken for it."""
    with Hearth("--project", "demo", "--password-memory", "8MiB", "--password-passes", "1") as server:
        yield server


@pytest.fixture
def empty(server):
    """The same server without accounts."""
    answer = server.request("DELETE", "/emulator/v1/projects/demo/accounts")
    assert answer.status == 200
    return server


def users(server, *arguments, code=0, **options):
    """Runs `hearth users` with no shell's variables but the server's address."""
    done = hearth(server, "users", *arguments, **options)
    assert done.returncode == code, (done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode() if code == 0 else done.stderr.decode()


def create(server, *arguments, password=None):
    if password is None:
        return users(server, "create", *arguments).strip()
    own = ["create", "--password-file", "-", *arguments]
    return users(server, *own, stdin=password.encode() + b"\n").strip()


def get(server, user):
    return json.loads(users(server, "get", user, "--json"))


def sign_in(server, email, password):
    body = {"email": email, "password": password, "returnSecureToken": True}
    return server.request("POST", f"{PATH}/accounts:signInWithPassword?key=any", body)


def scrypt(password, salt):
    """Firebase's own hash: the signer key, encrypted with a key made of the password."""
    key = hashlib.scrypt(
        password.encode(),
        salt=salt + SEPARATOR,
        n=1 << MEMORY,
        r=ROUNDS,
        p=1,
        dklen=64,
        maxmem=64 << 20,
    )[:32]
    cipher = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    return cipher.update(SIGNER) + cipher.finalize()


def exported_by_firebase(uid, email, password, **more):
    """An account as `firebase auth:export` writes it."""
    salt = hashlib.sha256(uid.encode()).digest()[:10]
    return {
        "localId": uid,
        "email": email,
        "emailVerified": True,
        "passwordHash": base64.b64encode(scrypt(password, salt)).decode(),
        "salt": base64.b64encode(salt).decode(),
        "lastSignedInAt": "1700000001000",
        "createdAt": "1700000000000",
        "disabled": False,
        "providerUserInfo": [],
        **more,
    }


# One account.


def test_an_account_is_made_shown_and_removed(empty):
    uid = create(empty, "--email", "Ann@Example.com", "--name", "Ann", "--phone", "+4930123456")
    assert len(uid) == 28
    for selector in [uid, "ann@example.com", "ANN@example.com", "+4930123456"]:
        user = get(empty, selector)
        assert user["localId"] == uid and user["email"] == "ann@example.com"
    shown = users(empty, "get", uid)
    assert "ann@example.com (not verified)" in shown and "never" in shown and "Ann" in shown
    refused = users(empty, "delete", uid, code=2)
    assert "--force" in refused and uid in refused
    assert uid in users(empty, "delete", "ann@example.com", "--force")
    assert "no account of project demo has the uid" in users(empty, "get", uid, code=1)
    assert "no account" in users(empty, "delete", uid, "--force", code=1)


def test_a_password_comes_from_a_file_a_pipe_or_a_prompt(empty, tmp_path):
    create(empty, "--email", "pipe@example.com", password="pass word é")
    assert sign_in(empty, "pipe@example.com", "pass word é").status == 200
    file = tmp_path / "password"
    file.write_bytes(b"from a file\r\nsecond line\n")
    create(empty, "--email", "file@example.com", "--password-file", file)
    assert sign_in(empty, "file@example.com", "from a file").status == 200
    own = ["users", "create", "--email", "typed@example.com", "--password-prompt"]
    code, output, shown = on_terminal(empty, *own, answer="typed secret\ntyped secret\n")
    assert code == 0 and len(output.strip()) == 28
    assert sign_in(empty, "typed@example.com", "typed secret").status == 200
    code, _, shown = on_terminal(empty, *own, answer="one secret\nanother secret\n")
    assert code == 1 and "two passwords" in shown


def test_a_password_is_never_taken_from_the_command_line(empty, tmp_path):
    assert "password" in users(
        empty, "create", "--email", "a@example.com", "--password", "x", code=2
    )
    refused = users(empty, "create", "--email", "a@example.com", "--password-prompt", code=2)
    assert "--password-file" in refused
    for content in [b"", b"\n", b"\r\n"]:
        (tmp_path / "empty").write_bytes(content)
        words = users(
            empty, "create", "--email", "a@example.com", "--password-file", tmp_path / "empty", code=1
        )
        assert "no password" in words
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert "UTF-8" in users(
        empty, "create", "--email", "a@example.com", "--password-file", tmp_path / "binary", code=1
    )
    assert "--email" in users(empty, "create", "--password-file", "-", code=2)
    assert users(empty, "list", "--json") == ""


def test_refusals_say_what_to_do(empty):
    create(empty, "--uid", "ann", "--email", "ann@example.com")
    same_uid = users(empty, "create", "--uid", "ann", code=1)
    assert "DUPLICATE_LOCAL_ID" in same_uid and "there is an account with this uid" in same_uid
    same_email = users(empty, "create", "--email", "ANN@example.com", code=1)
    assert "EMAIL_EXISTS" in same_email and "another account has this" in same_email
    assert "one '@'" in users(empty, "create", "--email", "nobody", code=1)
    assert "digits" in users(empty, "create", "--phone", "12", code=1)
    short = hearth(
        empty, "users", "create", "--email", "b@example.com", "--password-file", "-", stdin=b"abc\n"
    )
    assert short.returncode == 1 and b"at least 6" in short.stderr


def test_a_disabled_user_is_kept_out(empty):
    uid = create(empty, "--email", "ann@example.com", password="a password")
    assert "disabled" in users(empty, "disable", "ann@example.com")
    assert sign_in(empty, "ann@example.com", "a password").json["error"]["message"] == "USER_DISABLED"
    assert "yes" in users(empty, "get", uid) and "disabled" in users(empty, "list")
    assert "enabled" in users(empty, "enable", uid)
    assert sign_in(empty, "ann@example.com", "a password").status == 200


def test_claims_are_set_shown_and_cleared(empty):
    uid = create(empty, "--email", "ann@example.com", password="a password")
    assert users(empty, "claims", uid) == "{}\n"
    assert "it had none" in users(empty, "claims", uid, '{"admin":true,"team":"blue"}')
    assert json.loads(users(empty, "claims", uid)) == {"admin": True, "team": "blue"}
    token = sign_in(empty, "ann@example.com", "a password").json["idToken"]
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["admin"] is True and claims["team"] == "blue"
    for bad in ["[1]", "{", "admin", '{"a":1}x']:
        assert "not a JSON object" in users(empty, "claims", uid, bad, code=2)
    assert "FORBIDDEN_CLAIM" in users(empty, "claims", uid, '{"sub":"x"}', code=1)
    assert "CLAIMS_TOO_LARGE" in users(empty, "claims", uid, json.dumps({"a": "x" * 1000}), code=1)
    assert "one of them" in users(empty, "claims", uid, "{}", "--clear", code=2)
    users(empty, "claims", uid, "--clear")
    assert users(empty, "claims", uid) == "{}\n"


def test_a_reset_link_sets_a_password(empty):
    create(empty, "--email", "ann@example.com")
    link = users(empty, "reset", "ann@example.com").strip()
    code = dict(pair.split("=", 1) for pair in link.split("?")[1].split("&"))["oobCode"]
    body = {"oobCode": code, "newPassword": "brand new"}
    assert empty.request("POST", f"{PATH}/accounts:resetPassword?key=any", body).status == 200
    assert sign_in(empty, "ann@example.com", "brand new").status == 200
    assert "EMAIL_NOT_FOUND" in users(empty, "reset", "nobody@example.com", code=1)


def test_a_revoked_user_has_to_sign_in_again(empty):
    uid = create(empty, "--email", "ann@example.com", password="a password")
    refresh = sign_in(empty, "ann@example.com", "a password").json["refreshToken"]
    body = {"grant_type": "refresh_token", "refresh_token": refresh}
    path = "/securetoken.googleapis.com/v1/token?key=any"
    assert empty.request("POST", path, body).status == 200
    before = int(time.time())
    assert "sign in again" in users(empty, "revoke", uid)
    assert int(get(empty, uid)["validSince"]) > before
    assert empty.request("POST", path, body).json["error"]["message"] == "TOKEN_EXPIRED"
    assert sign_in(empty, "ann@example.com", "a password").status == 200


def test_an_odd_uid_is_named_as_one(empty):
    create(empty, "--uid", "odd@uid")
    assert "e-mail address" in users(empty, "get", "odd@uid", code=1)
    assert "odd@uid" in users(empty, "get", "odd@uid", "--uid")
    users(empty, "delete", "odd@uid", "--uid", "--force")


def test_a_removal_is_asked_for_on_a_terminal(empty):
    create(empty, "--uid", "ann")
    code, _, shown = on_terminal(empty, "users", "delete", "ann", answer="n\n")
    assert code == 1 and "removes the account ann" in shown and "not done" in shown
    assert get(empty, "ann")["localId"] == "ann"
    code, _, _ = on_terminal(empty, "users", "delete", "ann", answer="y\n")
    assert code == 0
    assert "no account" in users(empty, "get", "ann", code=1)


# Lists.


def test_accounts_are_listed(empty):
    assert users(empty, "list") == ""
    for number in range(3):
        create(empty, "--uid", f"u{number}", "--email", f"u{number}@example.com")
    lines = users(empty, "list").splitlines()
    assert lines[0].split()[:2] == ["uid", "e-mail"]
    assert [line.split()[0] for line in lines[1:]] == ["u0", "u1", "u2"]
    records = [json.loads(line) for line in users(empty, "list", "--json").splitlines()]
    assert [record["email"] for record in records] == [f"u{n}@example.com" for n in range(3)]
    assert [line.split()[0] for line in users(empty, "list", "--limit", 2).splitlines()[1:]] == ["u0", "u1"]
    assert "must be a number above 0" in users(empty, "list", "--limit", 0, code=2)


def test_accounts_are_searched_by_how_they_begin(empty):
    create(empty, "--uid", "u1", "--email", "ann@example.com", "--name", "Ann Zander")
    create(empty, "--uid", "u2", "--email", "bob@example.com", "--phone", "+4930123")

    def found(*arguments):
        return [line.split()[0] for line in users(empty, "list", "--search", *arguments).splitlines()[1:]]

    for text, uids in (("ANN@", ["u1"]), ("+49", ["u2"]), ("zan", ["u1"]), ("u", ["u1", "u2"])):
        assert found(text) == uids
    assert found("u", "--limit", 1) == ["u1"]
    cut = hearth(empty, "users", "list", "--search", "u", "--limit", "1")
    assert b"there may be more: search for a longer text" in cut.stderr
    assert json.loads(users(empty, "list", "--search", "bob", "--json"))["localId"] == "u2"
    none = hearth(empty, "users", "list", "--search", "cid")
    assert none.returncode == 0 and none.stdout == b"" and b"no account fits" in none.stderr


def test_a_list_tells_no_hashes_and_moves_no_cursor(empty):
    create(empty, "--uid", "ann", "--email", "a@example.com", "--name", "A\u001b[2J\nB\u202e", password="secret pass")
    for arguments in [["list"], ["list", "--json"], ["get", "ann"], ["get", "ann", "--json"]]:
        output = users(empty, *arguments)
        assert "argon2" not in output and "passwordHash" not in output
        assert "\u001b" not in output and output.count("\n") <= 12
    assert "\\u001b[2J\\nB\\u202e" in users(empty, "list")


def test_who_asks_counts(tmp_path):
    with Hearth("--project", "demo", dev=False, data=tmp_path / "data") as server:
        anonymous = users(server, "list", code=1)
        assert "HEARTH_TOKEN or --admin-secret-file" in anonymous
        assert "401" in users(server, "list", "--token", "wrong", code=1)
        secret = tmp_path / "data" / "admin-secret"
        assert users(server, "create", "--uid", "ann", "--admin-secret-file", secret) == "ann\n"
        other = users(server, "list", "--project", "other", "--admin-secret-file", secret, code=1)
        assert "demo" in other


def test_what_is_no_server_of_accounts_is_reported():
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\nhey!"
    with Answering(page) as other:
        assert "it is not a database" in users(other, "list", code=1)
    old = b'HTTP/1.1 404 Not Found\r\nContent-Length: 13\r\n\r\n{"error":"x"}'
    with Answering(old) as other:
        assert "404" in users(other, "list", code=1)
    null = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull"
    with Answering(null) as other:
        assert "older server" in users(other, "list", code=1)


# Import.


def test_a_firebase_export_comes_with_its_passwords(empty, tmp_path):
    file = tmp_path / "users.json"
    accounts = [exported_by_firebase(f"u{n}", f"u{n}@example.com", f"password {n}") for n in range(3)]
    accounts[1]["providerUserInfo"] = [
        {"providerId": "google.com", "rawId": "g1", "email": "u1@example.com", "displayName": "One"}
    ]
    accounts[2].update(phoneNumber="+4930123456", customAttributes='{"admin":true}', disabled=True)
    file.write_text(json.dumps({"users": accounts}, indent=2))
    assert "imported 3 accounts into project demo" in users(empty, "import", file, *HASHING)
    user = get(empty, "u1")
    assert user["createdAt"] == "1700000000000" and user["lastLoginAt"] == "1700000001000"
    assert "google.com" in [entry["providerId"] for entry in user["providerUserInfo"]]
    assert get(empty, "+4930123456")["customAttributes"] == '{"admin":true}'
    assert sign_in(empty, "u0@example.com", "password 1").status == 400
    assert sign_in(empty, "u0@example.com", "password 0").status == 200
    assert sign_in(empty, "u0@example.com", "password 0").status == 200
    assert sign_in(empty, "u2@example.com", "password 2").json["error"]["message"] == "USER_DISABLED"


def test_an_import_goes_on_where_it_was_stopped(empty, tmp_path):
    file = tmp_path / "users.json"
    accounts = [{"localId": f"u{n:04}", "displayName": f"N{n}"} for n in range(2500)]
    file.write_text(json.dumps({"users": accounts[:1200]}))
    assert "imported 1200 accounts" in users(empty, "import", file)
    file.write_text(json.dumps({"users": accounts}))
    again = users(empty, "import", file)
    assert "imported 1300 accounts" in again and "1200 were there already" in again
    third = users(empty, "import", file)
    assert "imported 0 accounts" in third and "2500 were there already" in third
    assert len(users(empty, "list", "--json").splitlines()) == 2500
    accounts[7]["displayName"] = "new"
    file.write_text(json.dumps({"users": accounts[:10]}))
    users(empty, "import", file)
    assert get(empty, "u0007")["displayName"] == "N7"
    assert "imported 10 accounts" in users(empty, "import", file, "--overwrite")
    assert get(empty, "u0007")["displayName"] == "new"


def test_accounts_that_fail_are_reported_by_their_place(empty, tmp_path):
    file = tmp_path / "users.json"
    lines = [
        '{"localId": "good1"}',
        '{"localId": "bad1", "email": "nobody"}',
        '{"email": "without@uid"}',
        '{"localId": "bad2", "passwordHash": "!!!"}',
        '{"localId": "bad3", "customAttributes": "{\\"sub\\":1}"}',
        '{"localId": "bad4", "passwordHash": "aGFzaA=="}',
        '{"localId": "bad5", "mfaInfo": [{"mfaEnrollmentId": "x"}]}',
        '{"localId": "good2", "unknown": {"users": [{"localId": "not me"}]}}',
    ]
    file.write_text('{"kind": "users", "users": [\n' + ",\n".join(lines) + "\n], \"more\": [1]}")
    done = hearth(empty, "users", "import", file)
    words = done.stderr.decode()
    assert done.returncode == 1 and b"imported 2 accounts" in done.stdout
    for place in ["users[1] (line 3)", "users[2] (line 4)", "users[3] (line 5)", "users[4] (line 6)"]:
        assert place in words, words
    assert "users[5] (line 7)" in words and "hashAlgorithm" in words and "Second factor" in words
    assert "6 accounts of" in words
    listed = [json.loads(line)["localId"] for line in users(empty, "list", "--json").splitlines()]
    assert listed == ["good1", "good2"]


# What is in a file, what a production server says of it, and what one in development, which serves every provider.
SIGN_IN = [
    ({"email": "e@example.com", "passwordHash": OWN_HASH}, None, None),
    ({"passwordHash": OWN_HASH}, "its password has no e-mail address beside it; only a custom token opens it", True),
    (
        {"email": "f@example.com"},
        "it has no password, phone number or provider; 'hearth users reset ADDRESS' makes a link for a password",
        None,
    ),
    (
        {"email": "g@example.com", "providerUserInfo": [{"providerId": "google.com", "rawId": "g"}]},
        "the server does not serve google.com; 'hearth users reset ADDRESS' makes a link for a password",
        None,
    ),
    (
        {"providerUserInfo": [{"providerId": "apple.com", "rawId": "a"}]},
        "the server does not serve apple.com; only a custom token opens it",
        None,
    ),
    ({"phoneNumber": "+4930123456"}, "the server takes no phone numbers (--sign-in); only a custom token opens it", None),
    ({}, "it has no password, phone number or provider; only a custom token opens it", True),
    ({"customAuth": True}, None, None),
]


def test_accounts_that_no_user_can_sign_in_with_are_warned_of(empty, tmp_path):
    file = tmp_path / "users.json"
    accounts = [{"localId": f"u{n}", **account} for n, (account, _, _) in enumerate(SIGN_IN)]
    file.write_text('{"users": [\n' + ",\n".join(json.dumps(account) for account in accounts) + "\n]}")
    with Hearth("--project", "demo", dev=False, data=tmp_path / "data") as production:
        secret = ["--admin-secret-file", tmp_path / "data" / "admin-secret"]
        done = hearth(production, "users", "import", file, *secret)
        again = hearth(production, "users", "import", file, *secret)
    # They are imported all the same: an administrator can do something about each.
    assert done.returncode == 0 and b"imported 8 accounts" in done.stdout
    printed = done.stderr.decode().splitlines()
    assert printed == [
        *[
            f"warning: users[{n}] (line {n + 2}): cannot sign in: {words}"
            for n, (_, words, _) in enumerate(SIGN_IN)
            if words
        ],
        f"warning: 6 accounts of {file} cannot sign in to this server as they are",
    ]
    # Of those that were there already nothing is said.
    assert again.returncode == 0 and again.stderr == b""
    in_development = hearth(empty, "users", "import", file).stderr.decode()
    assert in_development.count("cannot sign in:") == sum(bool(closed) for _, _, closed in SIGN_IN)


@pytest.mark.parametrize("text", ["$2b$10$abcdefghijklmnopqrstuu", base64.b64encode(b"$2a$10$abcdefghijklmnopqrstuu").decode()])
def test_a_hash_that_is_not_supported_is_reported(empty, tmp_path, text):
    file = tmp_path / "users.json"
    file.write_text(json.dumps({"users": [{"localId": "ann", "passwordHash": text, "salt": ""}]}))
    # With parameters of another kind, which take a hash of any length.
    hashing = ["--hash-algo", "PBKDF2_SHA256", "--rounds", 1000]
    printed = users(empty, "import", file, *hashing, code=1)
    assert "users[0] (line 1): 'passwordHash' is a hash of the kind " in printed and "not supported" in printed
    assert users(empty, "list", "--json") == ""


def test_csv_is_read_as_firebase_writes_it(empty, tmp_path):
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    for n, name in enumerate(["Ann, the \"first\"", "two\nlines", ""]):
        account = exported_by_firebase(f"u{n}", f"u{n}@example.com", f"password {n}")
        cells = [""] * 53
        cells[:7] = [account[key] for key in ["localId", "email"]] + ["true"] + [
            account["passwordHash"], account["salt"], name, "https://example.com/p.png"
        ]
        cells[7:11] = ["g%d" % n, "u@example.com", "G", ""]
        cells[23:28] = ["1700000000000", "1700000001000", "", "true" if n == 2 else "", '{"a":1}']
        cells[28:32] = ["apple%d" % n, "", "", ""]
        rows.writerow(cells)
    file = tmp_path / "users.csv.gz"
    file.write_bytes(gzip.compress(text.getvalue().encode()))
    assert "imported 3 accounts" in users(empty, "import", file, *HASHING)
    first, second, third = [get(empty, f"u{n}") for n in range(3)]
    assert first["displayName"] == 'Ann, the "first"' and second["displayName"] == "two\nlines"
    assert third["disabled"] is True and first["emailVerified"] is True
    assert first["customAttributes"] == '{"a":1}' and first["createdAt"] == "1700000000000"
    providers = [entry["providerId"] for entry in first["providerUserInfo"]]
    assert "google.com" in providers and "apple.com" in providers
    assert sign_in(empty, "u0@example.com", "password 0").status == 200
    (tmp_path / "short.csv").write_text("a,b\n")
    assert "line 1: 2 cells" in users(empty, "import", tmp_path / "short.csv", code=1)
    (tmp_path / "open.csv").write_text('u,"a@b.c\n')
    assert "ends in the middle" in users(empty, "import", tmp_path / "open.csv", code=1)


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "ends in the middle"),
        ('{"users": [{"localId": "a"}', "ends in the middle"),
        ('{"accounts": []}', "no list 'users'"),
        ('{"users": {"a": 1}}', "no list 'users'"),
        ('{"users": ["a"]}', "must be an object"),
        ('{"users": [[1]]}', "must be an object"),
        ('{"users": [{"localId": "a"}]} {', "something follows"),
        ("hello", "not JSON"),
        ('"users"', "not an object"),
        ("]", "not opened"),
        ('{"users": [{"localId": "' + "x" * 300_000 + '"}]}', "more than 262144 bytes"),
    ],
    ids=lambda value: value[:24],
)
def test_a_file_of_another_form_is_refused(empty, tmp_path, text, words):
    file = tmp_path / "users.json"
    file.write_text(text)
    assert words in users(empty, "import", file, code=1)


@pytest.mark.parametrize(
    "options, words",
    [
        (["--hash-algo", "BCRYPT"], "is not one of"),
        (["--hash-algo", "SCRYPT"], "--hash-key"),
        (["--hash-algo", "scrypt", "--hash-key", "a2V5"], "--rounds"),
        (["--hash-algo", "SCRYPT", "--hash-key", "a2V5", "--rounds", "9"], "1 to 8"),
        (["--hash-algo", "SCRYPT", "--hash-key", "a2V5", "--rounds", "8"], "--mem-cost"),
        (["--hash-algo", "STANDARD_SCRYPT", "--mem-cost", "1024"], "--parallelization"),
        (["--hash-algo", "MD5"], "0 to 8192"),
        (["--rounds", "8"], "--hash-algo"),
        (["--hash-algo", "HMAC_MD5", "--hash-key", "a", "--hash-input-order", "X"], "SALT_FIRST"),
    ],
)
def test_hash_options_are_checked_before_anything_is_sent(empty, tmp_path, options, words):
    file = tmp_path / "users.json"
    file.write_text('{"users": [{"localId": "a"}]}')
    assert words in users(empty, "import", file, *options, code=2)
    assert users(empty, "list", "--json") == ""


# Export.


def test_an_export_is_imported_with_its_passwords_elsewhere(empty, tmp_path):
    create(empty, "--uid", "ann", "--email", "ann@example.com", "--email-verified", "--name", "Ann é", password="ann's password")
    create(empty, "--uid", "bob", "--phone", "+4930123456", "--disabled")
    users(empty, "claims", "ann", '{"admin":true}')
    source = tmp_path / "firebase.json"
    source.write_text(json.dumps({"users": [exported_by_firebase("cid", "cid@example.com", "cid's")]}))
    users(empty, "import", source, *HASHING)
    assert sign_in(empty, "cid@example.com", "cid's").status == 200
    file = tmp_path / "users.json"
    done = hearth(empty, "users", "export", file)
    assert done.returncode == 0 and b"exported 3 accounts" in done.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    exported = json.loads(file.read_text())["users"]
    assert [user["localId"] for user in exported] == ["ann", "bob", "cid"]
    assert exported[0]["passwordHash"].startswith("$argon2id$")
    allowed = {"localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl"}
    allowed |= {"lastSignedInAt", "createdAt", "phoneNumber", "disabled", "customAttributes"}
    assert all(set(user) <= allowed | {"providerUserInfo"} for user in exported)
    with Hearth("--project", "other") as other:
        assert "imported 3 accounts into project other" in users(other, "import", file)
        assert sign_in(other, "ann@example.com", "ann's password").status == 200
        assert sign_in(other, "cid@example.com", "cid's").status == 200
        assert sign_in(other, "ann@example.com", "another").status == 400
        again = tmp_path / "again.json"
        users(other, "export", again)
        copy = json.loads(again.read_text())["users"]
        for before, after in zip(exported, copy, strict=True):
            changing = {"lastSignedInAt", "passwordHash", "salt"}
            assert {k: v for k, v in before.items() if k not in changing} == {
                k: v for k, v in after.items() if k not in changing
            }


def test_an_export_goes_to_standard_output_page_by_page(empty, tmp_path):
    file = tmp_path / "users.json"
    file.write_text(json.dumps([{"localId": f"u{n:04}"} for n in range(2100)]))
    users(empty, "import", file)
    done = hearth(empty, "users", "export", "-")
    assert done.returncode == 0
    exported = json.loads(done.stdout)["users"]
    assert [user["localId"] for user in exported] == [f"u{n:04}" for n in range(2100)]
    assert json.loads(users(empty, "export", "-", "--project", "demo"))["users"] == exported


def test_an_export_that_fails_leaves_no_file(tmp_path):
    file = tmp_path / "users.json"
    realm = b'{"project":"demo"}'
    page = b'{"users":[{"localId":"a"}],"nextPageToken":"a"}'

    def answer(path):
        body = realm if "realm" in path else page
        if "nextPageToken=" in path:
            return b'HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\n{}'
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + (
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )

    with Answering(answer) as other:
        done = hearth(other, "users", "export", file)
    assert done.returncode == 1 and b"503" in done.stderr
    assert not file.exists() and list(tmp_path.iterdir()) == []


def test_a_hash_without_a_salt_goes_out_as_it_came_in(empty, tmp_path):
    file = tmp_path / "users.json"
    digest = hmac.new(b"the key", b"ann's password", "sha256").digest()
    account = {"localId": "ann", "email": "ann@example.com", "passwordHash": base64.b64encode(digest).decode()}
    file.write_text(json.dumps({"users": [account]}))
    hashing = ["--hash-algo", "HMAC_SHA256", "--hash-key", base64.b64encode(b"the key").decode()]
    assert "imported 1 account into" in users(empty, "import", file, *hashing)
    exported = json.loads(users(empty, "export", "-"))["users"][0]
    assert exported["passwordHash"].rstrip("=") == account["passwordHash"].rstrip("=")
    assert exported.get("salt", "") == ""
    users(empty, "export", file)
    users(empty, "delete", "ann", "--force")
    assert "needs hashAlgorithm" in users(empty, "import", file, code=1)
    assert "imported 1 account into" in users(empty, "import", file, *hashing)
    assert sign_in(empty, "ann@example.com", "ann's password").status == 200
