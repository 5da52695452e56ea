"""PyPI's firebase-admin, unchanged, with the accounts of a server that stands in for an emulator."""

import base64
import datetime
import hashlib
import hmac
import itertools
import json
import time

import firebase_admin
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from firebase_admin import auth, exceptions

from hearth_server import Hearth

NUMBER = itertools.count(1)
PROJECT = "demo-accounts"
OWNER = {"Authorization": "Bearer owner"}
HOST = "/identitytoolkit.googleapis.com/v1"
LEGACY = "/www.googleapis.com/identitytoolkit/v3/relyingparty"


@pytest.fixture(scope="module")
def server():
    with Hearth("--password-memory", "8MiB", "--password-passes", "1") as server:
        yield server


@pytest.fixture(scope="module")
def app(server):
    """The administrator; the SDK looks at the variable again whenever it checks a token."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("FIREBASE_AUTH_EMULATOR_HOST", f"127.0.0.1:{server.port}")
        environment.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
        app = firebase_admin.initialize_app(options={"projectId": PROJECT}, name="accounts")
        yield app
        firebase_admin.delete_app(app)


@pytest.fixture(autouse=True)
def empty(server):
    """Every test begins without accounts."""
    yield
    assert server.request("DELETE", f"/emulator/v1/projects/{PROJECT}/accounts").status == 200


def fresh():
    """A uid, an address and a number that no user has."""
    number = next(NUMBER)
    return f"uid-{number}", f"user{number}@example.com", f"+1555{number:07}"


def rest(server, method, body):
    answer = server.request("POST", f"{HOST}/accounts:{method}?key=any", body)
    return answer.status, answer.json


def sign_in(server, email, password):
    status, body = rest(
        server, "signInWithPassword", {"email": email, "password": password, "returnSecureToken": True}
    )
    return body["idToken"] if status == 200 else body["error"]["message"]


def sign_in_with_custom_token(server, app, uid, claims=None):
    token = auth.create_custom_token(uid, claims, app=app).decode()
    status, body = rest(server, "signInWithCustomToken", {"token": token, "returnSecureToken": True})
    assert status == 200, body
    return body["idToken"]


@pytest.fixture
def ann(app):
    """An account with everything that the SDK can give it."""
    uid, email, phone = fresh()
    return auth.create_user(
        uid=uid,
        email=email,
        phone_number=phone,
        display_name="Ann",
        photo_url="https://example.com/ann.png",
        email_verified=True,
        password="secret",
        app=app,
    )


# --- making and finding


def test_an_account_without_anything(app):
    user = auth.create_user(app=app)
    assert len(user.uid) == 28 and user.uid.isalnum()
    found = auth.get_user(user.uid, app=app)
    for attribute in ("display_name", "email", "phone_number", "photo_url", "custom_claims"):
        assert getattr(found, attribute) is None
    assert (found.email_verified, found.disabled, found.provider_data) == (False, False, [])
    metadata = found.user_metadata
    assert abs(metadata.creation_timestamp - time.time() * 1000) < 60_000
    assert metadata.last_sign_in_timestamp is None and metadata.last_refresh_timestamp is None
    assert found.tokens_valid_after_timestamp > 0


def test_an_account_is_found_by_each_of_its_names(app, ann):
    for found in (
        auth.get_user(ann.uid, app=app),
        auth.get_user_by_email(ann.email, app=app),
        auth.get_user_by_email(ann.email.upper(), app=app),
        auth.get_user_by_phone_number(ann.phone_number, app=app),
    ):
        assert found.uid == ann.uid
        assert (found.display_name, found.photo_url) == ("Ann", "https://example.com/ann.png")
        assert found.email_verified and not found.disabled
        assert sorted(one.provider_id for one in found.provider_data) == ["password", "phone"]


def test_many_are_found_at_once_and_each_once(app, ann):
    others = [auth.create_user(uid=fresh()[0], email=fresh()[1], app=app) for _ in range(2)]
    link(app, others[1].uid, "google.com", "google-1")
    missing = auth.UidIdentifier("nobody")
    result = auth.get_users(
        [
            auth.UidIdentifier(ann.uid),
            auth.UidIdentifier(ann.uid),
            auth.PhoneIdentifier(ann.phone_number),
            auth.EmailIdentifier(others[0].email),
            auth.ProviderIdentifier("google.com", "google-1"),
            missing,
        ],
        app=app,
    )
    assert sorted(user.uid for user in result.users) == sorted([ann.uid, *(o.uid for o in others)])
    assert result.not_found == [missing]
    assert auth.get_users([missing], app=app).users == []


def link(app, uid, provider, raw_id, email=None):
    """Brings an account's identity elsewhere along, as only an import can."""
    user = auth.get_user(uid, app=app)
    record = auth.ImportUserRecord(
        uid=uid,
        email=user.email,
        provider_data=[auth.UserProvider(uid=raw_id, provider_id=provider, email=email)],
    )
    result = overwrite(app, record)
    assert result.get("error", []) == []


def overwrite(app, *records):
    """What `import_users` sends, with leave to overwrite, which the SDK has no word for."""
    manager = auth._get_client(app)._user_manager
    payload = {"users": [record.to_dict() for record in records], "allowOverwrite": True}
    body, _ = manager._make_request("post", "/accounts:batchCreate", json=payload)
    return body


def test_pages_of_all_accounts(app):
    uids = sorted(
        auth.create_user(uid=f"page-{n:02}", password="password", app=app).uid for n in range(7)
    )
    page = auth.list_users(max_results=3, app=app)
    sizes, listed = [], []
    while page:
        sizes.append(len(page.users))
        listed += page.users
        page = page.get_next_page()
    assert sizes == [3, 3, 1]
    assert [user.uid for user in listed] == uids
    assert all(user.password_hash and user.password_salt for user in listed)
    assert [user.uid for user in auth.list_users(app=app).iterate_all()] == uids
    assert auth.list_users(app=app).next_page_token == ""


# --- the SDK's words for refusals


def test_names_that_are_taken(app, ann):
    with pytest.raises(auth.UidAlreadyExistsError):
        auth.create_user(uid=ann.uid, app=app)
    with pytest.raises(auth.EmailAlreadyExistsError):
        auth.create_user(email=ann.email.upper(), app=app)
    with pytest.raises(auth.PhoneNumberAlreadyExistsError):
        auth.create_user(phone_number=ann.phone_number, app=app)
    other = auth.create_user(app=app)
    with pytest.raises(auth.EmailAlreadyExistsError):
        auth.update_user(other.uid, email=ann.email, app=app)
    with pytest.raises(auth.PhoneNumberAlreadyExistsError):
        auth.update_user(other.uid, phone_number=ann.phone_number, app=app)


@pytest.mark.parametrize(
    "ask",
    [
        lambda app: auth.get_user("nobody", app=app),
        lambda app: auth.get_user_by_email("nobody@example.com", app=app),
        lambda app: auth.get_user_by_phone_number("+15550000000", app=app),
        lambda app: auth.update_user("nobody", display_name="N", app=app),
        lambda app: auth.delete_user("nobody", app=app),
        lambda app: auth.set_custom_user_claims("nobody", {"a": 1}, app=app),
        lambda app: auth.revoke_refresh_tokens("nobody", app=app),
    ],
    ids=["get", "by email", "by phone", "update", "delete", "claims", "revoke"],
)
def test_a_missing_user_is_not_found(app, ask):
    with pytest.raises(auth.UserNotFoundError):
        ask(app)


@pytest.mark.parametrize(
    "fields, code",
    [
        ({"email": "ann@exa mple.com"}, "INVALID_EMAIL"),
        ({"email": "\u0430nn@example.com"}, "INVALID_EMAIL"),
        ({"email": "ann\u200b@example.com"}, "INVALID_EMAIL"),
        ({"phone_number": "+0x"}, "INVALID_PHONE_NUMBER"),
        ({"uid": "a\nb"}, "INVALID_LOCAL_ID"),
        ({"display_name": "x" * 257}, "INVALID_PROFILE_ATTRIBUTE"),
    ],
)
def test_fields_that_are_none_are_invalid_arguments(app, fields, code):
    with pytest.raises(exceptions.InvalidArgumentError) as refusal:
        auth.create_user(**fields, app=app)
    assert code in str(refusal.value)
    assert auth.list_users(app=app).users == []


@pytest.mark.parametrize(
    "verb, path",
    [
        ("POST", "v1/projects/P/tenants/T/accounts:lookup"),
        ("GET", "v1/projects/P/tenants/T/accounts:batchGet"),
        ("GET", "v2/projects/P/tenants/T"),
        ("DELETE", "v2/projects/P/tenants/T"),
    ],
)
def test_a_tenant_is_not_found(server, app, verb, path):
    address = "/identitytoolkit.googleapis.com/" + path.replace("/P/", f"/{PROJECT}/")
    answer = server.request(verb, address, {} if verb == "POST" else None, headers=OWNER)
    assert (answer.status, answer.json["error"]["message"]) == (400, "TENANT_NOT_FOUND")


# --- changing


def test_everything_changes(app):
    uid = auth.create_user(app=app).uid
    _, email, phone = fresh()
    user = auth.update_user(
        uid,
        email=email,
        phone_number=phone,
        display_name="New",
        photo_url="https://example.com/new.png",
        email_verified=True,
        password="secret",
        app=app,
    )
    assert (user.uid, user.email, user.phone_number) == (uid, email, phone)
    assert (user.display_name, user.photo_url) == ("New", "https://example.com/new.png")
    assert user.email_verified and not user.disabled and len(user.provider_data) == 2


def test_what_is_deleted_of_an_account_is_gone(app, ann):
    user = auth.update_user(
        ann.uid,
        display_name=auth.DELETE_ATTRIBUTE,
        photo_url=auth.DELETE_ATTRIBUTE,
        phone_number=auth.DELETE_ATTRIBUTE,
        disabled=True,
        app=app,
    )
    assert (user.display_name, user.photo_url, user.phone_number) == (None, None, None)
    assert user.disabled and user.email == ann.email and len(user.provider_data) == 1
    other = auth.create_user(phone_number=ann.phone_number, app=app)
    assert auth.get_user_by_phone_number(ann.phone_number, app=app).uid == other.uid


def test_a_provider_is_taken_away(app, ann):
    link(app, ann.uid, "google.com", "google-2", "ann@gmail.com")
    assert "google.com" in [one.provider_id for one in auth.get_user(ann.uid, app=app).provider_data]
    user = auth.update_user(ann.uid, providers_to_delete=["google.com"], app=app)
    assert "google.com" not in [one.provider_id for one in user.provider_data]


def test_claims_come_and_go(app, ann):
    for claims in ({"admin": True, "package": "gold"}, {"admin": False, "list": [], "none": None}):
        auth.set_custom_user_claims(ann.uid, claims, app=app)
        assert auth.get_user(ann.uid, app=app).custom_claims == claims
    auth.set_custom_user_claims(ann.uid, None, app=app)
    assert auth.get_user(ann.uid, app=app).custom_claims is None


# --- tokens


def test_a_custom_token_becomes_an_id_token(server, app):
    token = sign_in_with_custom_token(server, app, "made-by-token", {"premium": True})
    claims = auth.verify_id_token(token, app=app, check_revoked=True)
    assert (claims["uid"], claims["premium"]) == ("made-by-token", True)
    assert claims["firebase"]["sign_in_provider"] == "custom"
    user = auth.get_user("made-by-token", app=app)
    assert user.user_metadata.last_sign_in_timestamp is not None
    assert user.user_metadata.last_refresh_timestamp is not None


def test_claims_are_in_the_next_token(server, app, ann):
    auth.set_custom_user_claims(ann.uid, {"admin": True, "package": "gold"}, app=app)
    claims = auth.verify_id_token(sign_in(server, ann.email, "secret"), app=app)
    assert (claims["admin"], claims["package"]) == (True, "gold")
    assert (claims["email"], claims["email_verified"]) == (ann.email, True)


def test_a_revoked_token_no_longer_counts(server, app, ann):
    token = sign_in_with_custom_token(server, app, ann.uid)
    claims = auth.verify_id_token(token, app=app, check_revoked=True)
    before = auth.get_user(ann.uid, app=app).tokens_valid_after_timestamp
    assert claims["iat"] * 1000 >= before
    # Without a pause: a token of the same second is revoked too.
    auth.revoke_refresh_tokens(ann.uid, app=app)
    after = auth.get_user(ann.uid, app=app).tokens_valid_after_timestamp
    assert after > before and claims["iat"] * 1000 < after
    assert auth.verify_id_token(token, app=app)["uid"] == ann.uid
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(token, app=app, check_revoked=True)
    assert rest(server, "lookup", {"idToken": token})[1]["error"]["message"] == "TOKEN_EXPIRED"
    again = sign_in_with_custom_token(server, app, ann.uid)
    assert auth.verify_id_token(again, app=app, check_revoked=True)["iat"] * 1000 >= after


@pytest.mark.parametrize("change", [{"password": "another"}, {"email": "changed@example.com"}])
def test_what_a_user_signs_in_with_cannot_change_behind_old_tokens(server, app, ann, change):
    token = sign_in(server, ann.email, "secret")
    assert auth.verify_id_token(token, app=app, check_revoked=True)["uid"] == ann.uid
    auth.update_user(ann.uid, **change, app=app)
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(token, app=app, check_revoked=True)


def test_a_disabled_account_neither_signs_in_nor_is_verified(server, app, ann):
    token = sign_in(server, ann.email, "secret")
    auth.update_user(ann.uid, disabled=True, app=app)
    assert auth.verify_id_token(token, app=app)["sub"] == ann.uid
    with pytest.raises(auth.UserDisabledError):
        auth.verify_id_token(token, app=app, check_revoked=True)
    assert rest(server, "lookup", {"idToken": token})[1]["error"]["message"] == "USER_DISABLED"
    assert sign_in(server, ann.email, "secret") == "USER_DISABLED"
    auth.update_user(ann.uid, disabled=False, app=app)
    assert sign_in(server, ann.email, "secret").count(".") == 2


def test_session_cookies(server, app, ann):
    claims = {"premium": True, "empty": [], "none": None}
    token = sign_in_with_custom_token(server, app, ann.uid, claims)
    lifetime = datetime.timedelta(days=1)
    cookie = auth.create_session_cookie(token, expires_in=lifetime, app=app)
    found = auth.verify_session_cookie(cookie, check_revoked=True, app=app)
    assert found["iss"] == f"https://session.firebase.google.com/{PROJECT}"
    assert (found["uid"], found["aud"]) == (ann.uid, PROJECT)
    assert {name: found[name] for name in claims} == claims
    assert abs(found["exp"] - time.time() - lifetime.total_seconds()) < 5
    assert found["auth_time"] == auth.verify_id_token(token, app=app)["auth_time"]
    # It is no ID token.
    with pytest.raises(auth.InvalidIdTokenError):
        auth.verify_id_token(cookie, app=app)
    assert rest(server, "lookup", {"idToken": cookie})[1]["error"]["message"] == "INVALID_ID_TOKEN"
    auth.revoke_refresh_tokens(ann.uid, app=app)
    with pytest.raises(auth.RevokedSessionCookieError):
        auth.verify_session_cookie(cookie, check_revoked=True, app=app)
    with pytest.raises(auth.InvalidIdTokenError):
        auth.create_session_cookie("not.a.token", expires_in=lifetime, app=app)


def test_a_session_cookie_of_a_disabled_account(server, app, ann):
    cookie = auth.create_session_cookie(
        sign_in_with_custom_token(server, app, ann.uid), datetime.timedelta(minutes=5), app=app
    )
    auth.update_user(ann.uid, disabled=True, app=app)
    assert auth.verify_session_cookie(cookie, app=app)["sub"] == ann.uid
    with pytest.raises(auth.UserDisabledError):
        auth.verify_session_cookie(cookie, check_revoked=True, app=app)


# --- deleting


def test_a_deleted_account_is_gone(server, app, ann):
    token = sign_in(server, ann.email, "secret")
    auth.delete_user(ann.uid, app=app)
    with pytest.raises(auth.UserNotFoundError):
        auth.get_user(ann.uid, app=app)
    assert rest(server, "lookup", {"idToken": token})[1]["error"]["message"] == "USER_NOT_FOUND"
    assert sign_in(server, ann.email, "secret") == "EMAIL_NOT_FOUND"


def test_many_are_deleted_and_none_twice(app):
    uids = [auth.create_user(disabled=disabled, app=app).uid for disabled in (True, False, True)]
    for _ in range(2):
        result = auth.delete_users(uids, app=app)
        assert (result.success_count, result.failure_count, result.errors) == (3, 0, [])
        assert not any(exists(app, uid) for uid in uids)


def test_only_disabled_accounts_are_deleted_without_force(app):
    uids = [auth.create_user(disabled=disabled, app=app).uid for disabled in (True, False, True)]
    manager = auth._get_client(app)._user_manager
    errors = manager.delete_users(uids, force_delete=False).errors
    assert [(error.index, error.reason.split(" : ")[0]) for error in errors] == [(1, "NOT_DISABLED")]
    assert [exists(app, uid) for uid in uids] == [False, True, False]


def exists(app, uid):
    return bool(auth.get_users([auth.UidIdentifier(uid)], app=app).users)


# --- bringing accounts along


KEY = b"a key that signs"
SALT = b"NaCl"
PASSWORD = b"correct horse"
FIREBASE_KEY = base64.b64decode(
    "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
)


def firebase_scrypt(password, salt, separator, rounds, memory_cost):
    """The signer key under AES-256-CTR with a key that scrypt makes of the password."""
    n = 1 << memory_cost
    key = hashlib.scrypt(
        password, salt=salt + separator, n=n, r=rounds, p=1, maxmem=256 * n * rounds, dklen=64
    )
    encryptor = Cipher(algorithms.AES(key[:32]), modes.CTR(bytes(16))).encryptor()
    return encryptor.update(FIREBASE_KEY) + encryptor.finalize()


def digest(name, rounds):
    value = SALT + PASSWORD
    for _ in range(rounds):
        value = hashlib.new(name, value).digest()
    return value


def code(name):
    return hmac.new(KEY, PASSWORD + SALT, name).digest()


HASHES = {
    "hmac_sha512": (auth.UserImportHash.hmac_sha512(KEY), code("sha512")),
    "hmac_sha256": (auth.UserImportHash.hmac_sha256(KEY), code("sha256")),
    "hmac_sha1": (auth.UserImportHash.hmac_sha1(KEY), code("sha1")),
    "hmac_md5": (auth.UserImportHash.hmac_md5(KEY), code("md5")),
    "md5": (auth.UserImportHash.md5(0), digest("md5", 1)),
    "sha1": (auth.UserImportHash.sha1(1), digest("sha1", 1)),
    "sha256": (auth.UserImportHash.sha256(7), digest("sha256", 7)),
    "sha512": (auth.UserImportHash.sha512(2), digest("sha512", 2)),
    "pbkdf_sha1": (
        auth.UserImportHash.pbkdf_sha1(1000),
        hashlib.pbkdf2_hmac("sha1", PASSWORD, SALT, 1000, 20),
    ),
    "pbkdf2_sha256": (
        auth.UserImportHash.pbkdf2_sha256(1000),
        hashlib.pbkdf2_hmac("sha256", PASSWORD, SALT, 1000, 32),
    ),
    "scrypt": (
        auth.UserImportHash.scrypt(FIREBASE_KEY, 8, 14, b"\x07"),
        firebase_scrypt(PASSWORD, SALT, b"\x07", 8, 14),
    ),
    "standard_scrypt": (
        auth.UserImportHash.standard_scrypt(1024, 2, 8, 64),
        hashlib.scrypt(PASSWORD, salt=SALT, n=1024, r=8, p=2, dklen=64),
    ),
}


@pytest.mark.parametrize("algorithm, stored", HASHES.values(), ids=HASHES)
def test_a_password_that_was_hashed_elsewhere_signs_in_and_is_hashed_anew(
    server, app, algorithm, stored
):
    uid, email, _ = fresh()
    record = auth.ImportUserRecord(
        uid=uid, email=email, password_hash=stored, password_salt=SALT, email_verified=True
    )
    result = auth.import_users([record], hash_alg=algorithm, app=app)
    assert (result.success_count, result.failure_count) == (1, 0)
    before = exported(app, uid)
    assert base64.urlsafe_b64decode(before.password_hash + "==") == stored
    assert base64.urlsafe_b64decode(before.password_salt + "==") == SALT
    assert "." not in sign_in(server, email, "wrong horse")
    assert exported(app, uid).password_hash == before.password_hash
    for _ in range(2):
        token = sign_in(server, email, PASSWORD.decode())
        assert auth.verify_id_token(token, app=app, check_revoked=True)["uid"] == uid
        assert exported(app, uid).password_hash.startswith("$argon2id$")


def exported(app, uid):
    return next(user for user in auth.list_users(app=app).iterate_all() if user.uid == uid)


def test_a_hash_of_firebase_s_own_signs_in(server, app):
    """Parameters, salt and hash as the SDK's own integration tests have them."""
    uid, email, _ = fresh()
    stored = base64.b64decode(
        "V358E8LdWJXAO7muq0CufVpEOXaj8aFiC7T/rcaGieN04q/ZPJ08WhJEHGjj9lz/2TT+/86N5VjVoc5DdBhBiw=="
    )
    record = auth.ImportUserRecord(uid=uid, email=email, password_hash=stored, password_salt=SALT)
    scrypt = auth.UserImportHash.scrypt(FIREBASE_KEY, 8, 14, b"\x07")
    assert auth.import_users([record], hash_alg=scrypt, app=app).success_count == 1
    assert sign_in(server, email, "password").count(".") == 2


def test_a_hash_that_the_server_cannot_check_is_refused(app):
    record = auth.ImportUserRecord(uid=fresh()[0], email=fresh()[1], password_hash=b"x" * 60)
    with pytest.raises(exceptions.InvalidArgumentError) as refusal:
        auth.import_users([record], hash_alg=auth.UserImportHash.bcrypt(), app=app)
    assert "INVALID_HASH_ALGORITHM" in str(refusal.value)
    assert auth.list_users(app=app).users == []


def test_everything_of_an_account_is_brought_along(app):
    uid, email, phone = fresh()
    record = auth.ImportUserRecord(
        uid=uid,
        email=email,
        email_verified=True,
        display_name="Brought",
        phone_number=phone,
        photo_url="https://example.com/b.png",
        disabled=True,
        user_metadata=auth.UserMetadata(1_500_000_000_000, 1_500_000_001_000),
        provider_data=[
            auth.UserProvider("google-3", "google.com", "b@gmail.com", "B", "https://g/b.png")
        ],
        custom_claims={"old": True},
    )
    assert auth.import_users([record], app=app).success_count == 1
    user = auth.get_user(uid, app=app)
    assert (user.email, user.phone_number, user.display_name) == (email, phone, "Brought")
    assert user.email_verified and user.disabled and user.custom_claims == {"old": True}
    assert user.user_metadata.creation_timestamp == 1_500_000_000_000
    assert user.user_metadata.last_sign_in_timestamp == 1_500_000_001_000
    google = next(one for one in user.provider_data if one.provider_id == "google.com")
    assert (google.uid, google.email, google.display_name) == ("google-3", "b@gmail.com", "B")
    assert google.photo_url == "https://g/b.png"


def test_entries_that_cannot_be_brought_are_reported_by_their_place(app, ann):
    records = [
        auth.ImportUserRecord(uid=fresh()[0], email=fresh()[1]),
        auth.ImportUserRecord(uid=ann.uid, email=fresh()[1]),
        auth.ImportUserRecord(uid="bad-email", email="a b@example.com"),
        auth.ImportUserRecord(uid="taken-email", email=ann.email),
        auth.ImportUserRecord(uid=fresh()[0], email=fresh()[1]),
    ]
    result = auth.import_users(records, app=app)
    assert (result.success_count, result.failure_count) == (2, 3)
    assert [error.index for error in result.errors] == [1, 2, 3]
    assert [error.reason for error in result.errors] == [
        "localId belongs to an existing account - can not overwrite.",
        "email is invalid",
        "email exists in other account in database",
    ]
    assert len(auth.list_users(app=app).users) == 3


def test_a_thousand_at_once(app):
    records = [
        auth.ImportUserRecord(
            uid=f"many-{n:04}",
            email=f"many{n}@example.com",
            phone_number=f"+1777{n:07}",
            display_name=f"Number {n}",
            password_hash=hashlib.sha256(b"%d" % n).digest(),
            password_salt=b"%d" % n,
        )
        for n in range(1000)
    ]
    result = auth.import_users(records, hash_alg=auth.UserImportHash.sha256(1), app=app)
    assert (result.success_count, result.failure_count) == (1000, 0)
    page = auth.list_users(app=app)
    assert len(page.users) == 1000 and not page.has_next_page
    assert auth.get_user_by_email("many500@example.com", app=app).uid == "many-0500"
    manager = auth._get_client(app)._user_manager
    response = manager.delete_users([record.uid for record in records], force_delete=True)
    assert response.errors == []
    assert auth.list_users(app=app).users == []


# --- the older family, as command-line tools and the SDK's own tests call it


def test_accounts_are_brought_and_listed_by_their_older_names(server, app):
    body = {"targetProjectId": PROJECT, "users": [{"localId": "old", "email": "old@example.com"}]}
    answer = server.request("POST", f"{LEGACY}/uploadAccount", body, headers=OWNER)
    assert (answer.status, answer.json["error"]) == (200, [])
    body = {"targetProjectId": PROJECT, "maxResults": 5}
    answer = server.request("POST", f"{LEGACY}/downloadAccount", body, headers=OWNER)
    assert [user["localId"] for user in answer.json["users"]] == ["old"]
    assert auth.get_user("old", app=app).email == "old@example.com"


@pytest.mark.parametrize(
    "credential, status, reason",
    [
        ({}, 401, "required"),
        ({"Authorization": "Bearer forged"}, 401, "authError"),
        ({"Authorization": "owner"}, 401, "authError"),
    ],
    ids=["none", "unknown", "no bearer"],
)
@pytest.mark.parametrize(
    "method, path",
    [
        ("POST", f"{HOST}/projects/{PROJECT}/accounts"),
        ("POST", f"{HOST}/projects/{PROJECT}/accounts:lookup"),
        ("POST", f"{HOST}/projects/{PROJECT}/accounts:update"),
        ("POST", f"{HOST}/projects/{PROJECT}/accounts:delete"),
        ("POST", f"{HOST}/projects/{PROJECT}/accounts:batchDelete"),
        ("GET", f"{HOST}/projects/{PROJECT}/accounts:batchGet"),
        ("POST", f"{HOST}/projects/{PROJECT}/accounts:batchCreate"),
        ("POST", f"{HOST}/projects/{PROJECT}/accounts:query"),
        ("POST", f"{HOST}/projects/{PROJECT}:createSessionCookie"),
        ("GET", f"/identitytoolkit.googleapis.com/v2/projects/{PROJECT}/config"),
        ("GET", f"/identitytoolkit.googleapis.com/v2/projects/{PROJECT}/tenants"),
        ("POST", f"{LEGACY}/uploadAccount"),
        ("POST", f"{LEGACY}/downloadAccount"),
    ],
)
def test_only_administrators_get_through(server, app, ann, method, path, credential, status, reason):
    body = None if method == "GET" else {"localId": ann.uid, "localIds": [ann.uid], "force": True}
    answer = server.request(method, path + "?key=any", body, headers=credential)
    assert answer.status == status, answer.text
    assert answer.json["error"]["errors"][0]["reason"] == reason, json.dumps(answer.json)
    assert auth.get_user(ann.uid, app=app).display_name == "Ann"
