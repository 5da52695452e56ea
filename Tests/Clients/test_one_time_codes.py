"""Emails, phones, and what their codes do: as SDKs use them, and as an attacker tries."""

import contextlib
import html.parser
import re
import urllib.error
import urllib.parse
import urllib.request

import pytest

from hearth_server import Answer, Hearth
from webhook_receiver import SECRET, Receiver

V1 = "/identitytoolkit.googleapis.com/v1/"
LEGACY = "/www.googleapis.com/identitytoolkit/v3/relyingparty/"
OWNER = {"Authorization": "Bearer owner"}


def call(server, method, body, headers=None, key="key"):
    answer = server.request("POST", f"{V1}{method}?key={key}", body, headers=headers)
    return answer.json if answer.status == 200 else answer.json["error"]["message"]


def legacy(server, method, body):
    answer = server.request("POST", f"{LEGACY}{method}?key=key", body)
    return answer.json if answer.status == 200 else answer.json["error"]["message"]


def sign_up(server, email="ann@example.com", password="secret1"):
    return call(
        server,
        "accounts:signUp",
        {"email": email, "password": password, "returnSecureToken": True},
    )


def sign_in(server, email="ann@example.com", password="secret1"):
    return call(server, "accounts:signInWithPassword", {"email": email, "password": password})


def lookup(server, token):
    return call(server, "accounts:lookup", {"idToken": token})["users"][0]


def codes(server):
    return server.get("/emulator/v1/projects/any/oobCodes").json["oobCodes"]


def digits(server):
    return server.get("/emulator/v1/projects/any/verificationCodes").json["verificationCodes"]


def send(server, kind, **fields):
    """Has an email sent; gives its code as a test reads it."""
    answer = call(server, "accounts:sendOobCode", {"requestType": kind, **fields})
    assert isinstance(answer, dict), answer
    return codes(server)[-1]


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


def follow(url, data=None, headers=None):
    """A GET, or a POST of a form, without going where it leads."""
    opener = urllib.request.build_opener(NoRedirects)
    body = None if data is None else urllib.parse.urlencode(data).encode()
    request = urllib.request.Request(url, body, headers or {})
    try:
        with opener.open(request, timeout=120) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read())


# Development: codes are read at the emulator's address.


def test_a_password_is_reset_by_a_letter(dev):
    old = sign_up(dev)
    sent = send(dev, "PASSWORD_RESET", email="Ann@Example.com")
    assert sent["email"] == "ann@example.com" and sent["requestType"] == "PASSWORD_RESET"
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(sent["oobLink"]).query)
    assert query["oobCode"] == [sent["oobCode"]] and query["mode"] == ["resetPassword"]
    assert query["apiKey"] == ["key"] and query["lang"] == ["en"]
    # As the JS SDK does: look first, then apply; both families of addresses.
    inspected = {
        "kind": "identitytoolkit#ResetPasswordResponse",
        "requestType": "PASSWORD_RESET",
        "email": "ann@example.com",
    }
    code = sent["oobCode"]
    assert call(dev, "accounts:resetPassword", {"oobCode": code}) == inspected
    short = {"oobCode": code, "newPassword": "12345"}
    assert call(dev, "accounts:resetPassword", short).startswith("WEAK_PASSWORD : ")
    assert legacy(dev, "resetPassword", {"oobCode": code, "newPassword": "secret2"}) == inspected
    assert sign_in(dev) == "INVALID_PASSWORD"
    user = lookup(dev, sign_in(dev, password="secret2")["idToken"])
    assert user["emailVerified"] is True
    # What was signed in before no longer counts, nor does the code.
    assert call(dev, "accounts:lookup", {"idToken": old["idToken"]}) == "TOKEN_EXPIRED"
    again = {"oobCode": code, "newPassword": "secret3"}
    assert call(dev, "accounts:resetPassword", again) == "INVALID_OOB_CODE"
    assert codes(dev) == []


def test_an_address_is_verified_by_a_letter(dev):
    token = sign_up(dev)["idToken"]
    sent = send(dev, "VERIFY_EMAIL", idToken=token)
    assert call(dev, "accounts:resetPassword", {"oobCode": sent["oobCode"]})["requestType"] == (
        "VERIFY_EMAIL"
    )
    answer = call(dev, "accounts:update", {"oobCode": sent["oobCode"]})
    assert answer["email"] == "ann@example.com" and answer["emailVerified"] is True
    assert lookup(dev, token)["emailVerified"] is True
    assert call(dev, "accounts:update", {"oobCode": sent["oobCode"]}) == "INVALID_OOB_CODE"


def test_an_address_is_changed_once_the_new_one_is_verified(dev):
    token = sign_up(dev)["idToken"]
    sent = send(
        dev, "VERIFY_AND_CHANGE_EMAIL", idToken=token, newEmail="Anna@example.org"
    )
    assert (sent["email"], sent["newEmail"]) == ("ann@example.com", "anna@example.org")
    assert lookup(dev, token)["email"] == "ann@example.com"
    answer = legacy(dev, "setAccountInfo", {"oobCode": sent["oobCode"]})
    assert answer["newEmail"] == "anna@example.org" and answer["emailVerified"] is True
    assert sign_in(dev, "anna@example.org")["email"] == "anna@example.org"
    assert sign_in(dev) == "EMAIL_NOT_FOUND"
    assert call(dev, "accounts:lookup", {"idToken": token}) == "TOKEN_EXPIRED"


def test_a_link_signs_in_and_makes_an_account_the_first_time(dev):
    sent = send(
        dev, "EMAIL_SIGNIN", email="ann@example.com", continueUrl="http://localhost:5000/in"
    )
    code = sent["oobCode"]
    # Who has only the link does not learn the address.
    assert call(dev, "accounts:resetPassword", {"oobCode": code}) == {
        "kind": "identitytoolkit#ResetPasswordResponse",
        "requestType": "EMAIL_SIGNIN",
    }
    other = {"email": "bob@example.com", "oobCode": code}
    assert call(dev, "accounts:signInWithEmailLink", other).startswith("INVALID_EMAIL : ")
    mine = {"email": "ANN@example.com", "oobCode": code}
    first = call(dev, "accounts:signInWithEmailLink", mine)
    assert first["isNewUser"] is True and first["email"] == "ann@example.com"
    user = lookup(dev, first["idToken"])
    assert user["emailVerified"] is True and user["emailLinkSignin"] is True
    assert user["providerUserInfo"][0]["providerId"] == "password"
    assert call(dev, "accounts:signInWithEmailLink", mine) == "INVALID_OOB_CODE"
    code = send(dev, "EMAIL_SIGNIN", email="ann@example.com")["oobCode"]
    second = legacy(dev, "emailLinkSignin", {"email": "ann@example.com", "oobCode": code})
    assert (second["isNewUser"], second["localId"]) == (False, first["localId"])


def test_a_link_links_an_anonymous_account_and_keeps_its_uid(dev):
    anonymous = call(dev, "accounts:signUp", {"returnSecureToken": True})
    code = send(dev, "EMAIL_SIGNIN", email="ann@example.com")["oobCode"]
    body = {"email": "ann@example.com", "oobCode": code, "idToken": anonymous["idToken"]}
    linked = call(dev, "accounts:signInWithEmailLink", body)
    assert (linked["localId"], linked["isNewUser"]) == (anonymous["localId"], False)
    sign_up(dev, "bob@example.com")
    code = send(dev, "EMAIL_SIGNIN", email="bob@example.com")["oobCode"]
    body = {"email": "bob@example.com", "oobCode": code, "idToken": linked["idToken"]}
    assert call(dev, "accounts:signInWithEmailLink", body) == "EMAIL_EXISTS"


def test_a_phone_signs_in_by_the_digits_that_it_was_sent(dev):
    session = call(dev, "accounts:sendVerificationCode", {"phoneNumber": "+1 555-555-0100"})
    sent = digits(dev)[-1]
    assert sent["phoneNumber"] == "+15555550100" and sent["sessionInfo"] == session["sessionInfo"]
    assert re.fullmatch(r"\d{6}", sent["code"])
    body = {"sessionInfo": session["sessionInfo"], "code": sent["code"]}
    first = call(dev, "accounts:signInWithPhoneNumber", body)
    assert first["isNewUser"] is True and first["phoneNumber"] == "+15555550100"
    assert lookup(dev, first["idToken"])["providerUserInfo"][0]["providerId"] == "phone"
    assert call(dev, "accounts:signInWithPhoneNumber", body) == "INVALID_SESSION_INFO"
    assert digits(dev) == []
    session = legacy(dev, "sendVerificationCode", {"phoneNumber": "+15555550100"})
    second = legacy(dev, "verifyPhoneNumber", {**session, "code": digits(dev)[-1]["code"]})
    assert (second["isNewUser"], second["localId"]) == (False, first["localId"])


def test_a_phone_is_linked_to_an_account_and_to_one_only(dev):
    ann = sign_up(dev)
    session = call(dev, "accounts:sendVerificationCode", {"phoneNumber": "+15555550100"})
    body = {**session, "code": digits(dev)[-1]["code"], "idToken": ann["idToken"]}
    linked = call(dev, "accounts:signInWithPhoneNumber", body)
    assert (linked["localId"], linked["isNewUser"]) == (ann["localId"], False)
    bob = sign_up(dev, "bob@example.com")
    session = call(dev, "accounts:sendVerificationCode", {"phoneNumber": "+15555550100"})
    body = {**session, "code": digits(dev)[-1]["code"], "idToken": bob["idToken"]}
    assert call(dev, "accounts:signInWithPhoneNumber", body) == "PHONE_NUMBER_EXISTS"


def test_five_wrong_digits_end_the_session_of_a_phone(dev):
    session = call(dev, "accounts:sendVerificationCode", {"phoneNumber": "+15555550100"})
    code = digits(dev)[-1]["code"]
    wrong = {**session, "code": "000000" if code != "000000" else "111111"}
    for _ in range(5):
        assert call(dev, "accounts:signInWithPhoneNumber", wrong) == "INVALID_CODE"
    right = {**session, "code": code}
    assert call(dev, "accounts:signInWithPhoneNumber", right) == "SESSION_EXPIRED"


def test_a_code_for_an_address_that_has_changed_is_void(dev):
    token = sign_up(dev)["idToken"]
    code = send(dev, "PASSWORD_RESET", email="ann@example.com")["oobCode"]
    call(dev, "accounts:update", {"idToken": token, "email": "anna@example.com"})
    sign_up(dev, "ann@example.com", "another")
    body = {"oobCode": code, "newPassword": "stolen1"}
    assert call(dev, "accounts:resetPassword", body) == "INVALID_OOB_CODE"
    assert sign_in(dev, "ann@example.com", "stolen1") == "INVALID_PASSWORD"


def test_of_several_letters_the_first_used_is_the_only_one_that_counts(dev):
    sign_up(dev)
    sent = [send(dev, "PASSWORD_RESET", email="ann@example.com") for _ in range(12)]
    assert len(codes(dev)) == 10
    oldest = {"oobCode": sent[0]["oobCode"], "newPassword": "secret2"}
    assert call(dev, "accounts:resetPassword", oldest) == "INVALID_OOB_CODE"
    newest = {"oobCode": sent[-1]["oobCode"], "newPassword": "secret2"}
    assert call(dev, "accounts:resetPassword", newest)["email"] == "ann@example.com"
    other = {"oobCode": sent[-2]["oobCode"], "newPassword": "secret3"}
    assert call(dev, "accounts:resetPassword", other) == "INVALID_OOB_CODE"


def test_a_code_does_only_what_it_was_made_for(dev):
    token = sign_up(dev)["idToken"]
    reset = send(dev, "PASSWORD_RESET", email="ann@example.com")["oobCode"]
    verify = send(dev, "VERIFY_EMAIL", idToken=token)["oobCode"]
    link = send(dev, "EMAIL_SIGNIN", email="ann@example.com")["oobCode"]
    session = call(dev, "accounts:sendVerificationCode", {"phoneNumber": "+15555550100"})
    phone = session["sessionInfo"]
    for code in [verify, link, phone]:
        body = {"oobCode": code, "newPassword": "stolen1"}
        assert call(dev, "accounts:resetPassword", body) == "INVALID_OOB_CODE"
    for code in [reset, link, phone]:
        assert call(dev, "accounts:update", {"oobCode": code}) == "INVALID_OOB_CODE"
    for code in [reset, verify, phone]:
        body = {"email": "ann@example.com", "oobCode": code}
        assert call(dev, "accounts:signInWithEmailLink", body) == "INVALID_OOB_CODE"
    for code in [reset, verify, link]:
        body = {"sessionInfo": code, "code": "123456"}
        assert call(dev, "accounts:signInWithPhoneNumber", body) == "INVALID_SESSION_INFO"


@pytest.mark.parametrize("method, body, message", [
    ("sendOobCode", {}, "MISSING_REQ_TYPE"),
    ("sendOobCode", {"requestType": "OOB_REQ_TYPE_UNSPECIFIED"}, "MISSING_REQ_TYPE"),
    ("sendOobCode", {"requestType": "PASSWORD_RESET"}, "MISSING_EMAIL"),
    ("sendOobCode", {"requestType": "PASSWORD_RESET", "email": "no one"}, "INVALID_EMAIL"),
    ("sendOobCode", {"requestType": 1, "email": "x@example.com"}, "EMAIL_NOT_FOUND"),
    ("sendOobCode", {"requestType": "EMAIL_SIGNIN"}, "MISSING_EMAIL"),
    ("sendOobCode", {"requestType": "VERIFY_EMAIL"}, "MISSING_ID_TOKEN"),
    ("sendOobCode", {"requestType": "VERIFY_EMAIL", "idToken": "x"}, "INVALID_ID_TOKEN"),
    (
        "sendOobCode",
        {"requestType": "EMAIL_SIGNIN", "email": "a@b.c", "returnOobLink": True},
        "INSUFFICIENT_PERMISSION",
    ),
    (
        "sendOobCode",
        {"requestType": "EMAIL_SIGNIN", "email": "a@b.c", "continueUrl": "nowhere"},
        "INVALID_CONTINUE_URI : ((expected an absolute URI with valid scheme and host))",
    ),
    ("resetPassword", {}, "MISSING_OOB_CODE"),
    ("resetPassword", {"oobCode": "guess"}, "INVALID_OOB_CODE"),
    ("update", {"oobCode": "guess"}, "INVALID_OOB_CODE"),
    ("signInWithEmailLink", {"oobCode": "guess"}, "MISSING_EMAIL"),
    ("signInWithEmailLink", {"email": "a@b.c"}, "MISSING_OOB_CODE"),
    ("signInWithEmailLink", {"email": "a@b.c", "oobCode": "guess"}, "INVALID_OOB_CODE"),
    ("sendVerificationCode", {}, "INVALID_PHONE_NUMBER : Invalid format."),
    ("sendVerificationCode", {"phoneNumber": "911"}, "INVALID_PHONE_NUMBER : Invalid format."),
    ("signInWithPhoneNumber", {}, "MISSING_SESSION_INFO"),
    ("signInWithPhoneNumber", {"sessionInfo": "x"}, "MISSING_CODE"),
    ("signInWithPhoneNumber", {"sessionInfo": "x", "code": "1"}, "INVALID_SESSION_INFO"),
])
def test_bad_requests_are_refused_by_their_names(dev, method, body, message):
    assert call(dev, f"accounts:{method}", body) == message


def test_an_administrator_is_given_the_link(dev):
    sign_up(dev)
    path = "projects/any/accounts:sendOobCode"
    for kind, unknown in [("PASSWORD_RESET", "EMAIL_NOT_FOUND"), ("VERIFY_EMAIL", "USER_NOT_FOUND")]:
        body = {"requestType": kind, "email": "ann@example.com", "returnOobLink": True}
        answer = call(dev, path, body, OWNER)
        assert answer["oobCode"] in answer["oobLink"] and answer["email"] == "ann@example.com"
        assert codes(dev)[-1]["oobCode"] == answer["oobCode"]
        assert call(dev, path, {**body, "email": "x@example.com"}, OWNER) == unknown
    assert dev.request("POST", f"{V1}{path}", {"requestType": "EMAIL_SIGNIN"}).status == 401


# The emulator's addresses.


def test_a_link_of_development_does_at_once_what_it_is_for(dev):
    token = sign_up(dev)["idToken"]
    link = send(dev, "VERIFY_EMAIL", idToken=token)["oobLink"]
    answer = follow(link)
    assert answer.status == 200
    assert answer.json["authEmulator"]["email"] == "ann@example.com"
    assert "success" in answer.json["authEmulator"]
    assert lookup(dev, token)["emailVerified"] is True
    again = follow(link)
    assert again.status == 400 and "instructions" in again.json["authEmulator"]
    url = "http://localhost:5000/done?x=1"
    link = send(dev, "VERIFY_EMAIL", idToken=token, continueUrl=url)["oobLink"]
    answer = follow(link)
    assert (answer.status, answer.headers["Location"]) == (303, url)


def test_a_link_of_development_takes_the_new_password_in_its_address(dev):
    sign_up(dev)
    link = send(dev, "PASSWORD_RESET", email="ann@example.com")["oobLink"]
    answer = follow(link)
    assert answer.status == 400
    template = answer.json["authEmulator"]["urlTemplate"]
    assert template.endswith("&newPassword=NEW_PASSWORD_HERE")
    assert follow(template).status == 400
    assert follow(template.replace("NEW_PASSWORD_HERE", "short")).status == 400
    assert follow(template.replace("NEW_PASSWORD_HERE", "secret%202")).status == 200
    assert "idToken" in sign_in(dev, password="secret 2")
    assert follow(template.replace("NEW_PASSWORD_HERE", "secret3")).status == 400


def test_a_link_of_development_changes_an_address(dev):
    token = sign_up(dev)["idToken"]
    fields = {"idToken": token, "newEmail": "anna@example.com"}
    link = send(dev, "VERIFY_AND_CHANGE_EMAIL", **fields)["oobLink"]
    assert follow(link).json["authEmulator"]["newEmail"] == "anna@example.com"
    assert "idToken" in sign_in(dev, "anna@example.com")


def test_a_sign_in_link_leads_on_to_the_app_with_the_code(dev):
    url = "http://localhost:5000/in?x=1#top"
    sent = send(dev, "EMAIL_SIGNIN", email="ann@example.com", continueUrl=url)
    answer = follow(sent["oobLink"])
    assert answer.status == 303
    place = urllib.parse.urlsplit(answer.headers["Location"])
    query = urllib.parse.parse_qs(place.query)
    assert (place.netloc, place.path, place.fragment) == ("localhost:5000", "/in", "top")
    assert query["x"] == ["1"] and query["oobCode"] == [sent["oobCode"]]
    assert query["mode"] == ["signIn"] and query["apiKey"] == ["key"]
    body = {"email": "ann@example.com", "oobCode": sent["oobCode"]}
    assert "idToken" in call(dev, "accounts:signInWithEmailLink", body)


@pytest.mark.parametrize("query", [
    "", "mode=verifyEmail&oobCode=x", "mode=verifyEmail&apiKey=k", "mode=x&apiKey=k&oobCode=x",
    "mode=verifyEmail&apiKey=k&oobCode=x", "mode=signIn&apiKey=k&oobCode=x",
    "mode=signIn&apiKey=k&oobCode=x&continueUrl=javascript://x/%250aalert(1)",
])
def test_links_of_development_that_are_not_whole_are_refused(dev, query):
    answer = follow(f"{dev.address}/emulator/action?{query}")
    assert answer.status == 400 and "error" in answer.json["authEmulator"]


def test_all_accounts_are_deleted_at_the_emulators_address(dev):
    token = sign_up(dev)["idToken"]
    send(dev, "PASSWORD_RESET", email="ann@example.com")
    answer = dev.request("DELETE", "/emulator/v1/projects/any/accounts")
    assert (answer.status, answer.json) == (200, {})
    assert call(dev, "accounts:lookup", {"idToken": token}) == "USER_NOT_FOUND"
    assert codes(dev) == []
    assert dev.request("DELETE", "/emulator/v1/projects/any/accounts").json == {}
    assert "idToken" in sign_up(dev)


def test_the_guard_is_switched_at_the_emulators_address(dev):
    path = "/emulator/v1/projects/any/config"
    off = {
        "signIn": {"allowDuplicateEmails": False},
        "emailPrivacyConfig": {"enableImprovedEmailPrivacy": False},
    }
    on = {**off, "emailPrivacyConfig": {"enableImprovedEmailPrivacy": True}}
    assert dev.get(path).json == off
    reset = {"requestType": "PASSWORD_RESET", "email": "nobody@example.com"}
    assert call(dev, "accounts:sendOobCode", reset) == "EMAIL_NOT_FOUND"
    assert dev.request("PATCH", path, on).json == on
    assert dev.get(path).json == on
    assert call(dev, "accounts:sendOobCode", reset)["email"] == "nobody@example.com"
    assert codes(dev) == []
    answer = dev.request("PATCH", path, {"signIn": {"allowDuplicateEmails": True}})
    assert answer.status == 501
    assert dev.request("PATCH", path, off).json == off


def test_codes_outlive_the_server(durable):
    sign_up(durable)
    code = send(durable, "PASSWORD_RESET", email="ann@example.com")["oobCode"]
    durable.kill()
    durable.start()
    body = {"oobCode": code, "newPassword": "secret2"}
    assert call(durable, "accounts:resetPassword", body)["email"] == "ann@example.com"
    durable.kill()
    durable.start()
    assert call(durable, "accounts:resetPassword", body) == "INVALID_OOB_CODE"
    assert "idToken" in sign_in(durable, password="secret2")


def test_no_code_is_in_the_log_on_the_disk(durable, tmp_path):
    sign_up(durable)
    code = send(durable, "PASSWORD_RESET", email="ann@example.com")["oobCode"]
    session = call(durable, "accounts:sendVerificationCode", {"phoneNumber": "+15555550100"})
    kept = b"".join(p.read_bytes() for p in (tmp_path / "data").rglob("*") if p.is_file())
    assert b"ann@example.com" in kept
    assert code.encode() not in kept and session["sessionInfo"].encode() not in kept


# Production: a webhook takes the codes, and links lead to a page.


@contextlib.contextmanager
def production(tmp_path, receiver=None, *flags):
    """A server without --dev. `receiver` takes its codes."""
    secret = tmp_path / "webhook-secret"
    secret.touch(mode=0o600)
    secret.write_text(SECRET + "\n")
    webhook = []
    if receiver:
        webhook = [
            "--accounts-webhook", receiver.url,
            "--accounts-webhook-secret-file", str(secret),
            "--public-url", "https://db.example.com",
        ]
    with Hearth(
        *webhook, "--password-memory=8MiB", "--password-passes=1", "--log-level=debug",
        "--allow-host=db.example.com", "--allow-origin=https://app.example.com", *flags,
        dev=False, data=tmp_path / "data", log=tmp_path / "log",
    ) as server:
        yield server


def admin(tmp_path):
    secret = (tmp_path / "data" / "admin-secret").read_text().strip()
    return {"Authorization": f"Bearer {secret}"}


def local(server, link):
    """The link of an email as it is reached from here."""
    assert link.startswith("https://db.example.com/.accounts/action?"), link
    return server.address + link.removeprefix("https://db.example.com")


def form(answer):
    """The fields of a page's form."""
    fields = {}

    class Parser(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            attributes = dict(attributes)
            if tag == "form":
                assert attributes["method"] == "post" and attributes["action"] == "action"
            if tag == "input":
                fields[attributes["name"]] = attributes.get("value", "")

    Parser().feed(answer.text)
    return fields


def test_in_production_a_webhook_is_called_signed_and_the_page_resets(tmp_path):
    with Receiver() as receiver, production(tmp_path, receiver) as server:
        sign_up(server)
        reset = {
            "requestType": "PASSWORD_RESET",
            "email": "ann@example.com",
            "continueUrl": "https://app.example.com/welcome?a=1&b=2",
        }
        assert call(server, "accounts:sendOobCode", reset) == {
            "kind": "identitytoolkit#GetOobConfirmationCodeResponse",
            "email": "ann@example.com",
        }
        message = receiver.next()
        assert message["type"] == "PASSWORD_RESET" and message["email"] == "ann@example.com"
        assert message["project"] == "hearth" and message["code"] in message["link"]
        headers, _ = receiver.requests[0]
        assert headers["content-type"] == "application/json"
        assert headers["webhook-id"].startswith("msg_")
        # A program that follows links in emails may do so as often as it likes.
        link = local(server, message["link"])
        for _ in range(3):
            page = follow(link)
            assert page.status == 200
        assert message["code"] in form(page).values() and "ann@example.com" in page.text
        action = f"{server.address}/.accounts/action"
        weak = follow(action, {**form(page), "newPassword": "12345"})
        assert weak.status == 400 and "at least 6 characters" in weak.text
        done = follow(action, {**form(weak), "newPassword": "secret2"})
        assert done.status == 200 and "https://app.example.com/welcome?a=1&amp;b=2" in done.text
        assert "idToken" in sign_in(server, password="secret2")
        assert sign_in(server) == "INVALID_LOGIN_CREDENTIALS"
        assert follow(link).status == 400
        assert follow(action, {**form(page), "newPassword": "secret3"}).status == 400
        # Neither who nor what is in the log.
        server.stop()
        for word in ["ann@example.com", message["code"], "secret", "app.example.com"]:
            assert word not in server.log_text


def test_the_page_of_a_link_cannot_be_framed_and_loads_nothing(tmp_path):
    with production(tmp_path) as server:
        answer = follow(f"{server.address}/.accounts/action?mode=verifyEmail&oobCode=%3Cb%3E")
        assert answer.status == 400 and "<b>" not in answer.text
        policy = answer.headers["Content-Security-Policy"]
        for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'"]:
            assert part in policy
        assert "unsafe" not in policy and "<script" not in answer.text
        assert "http" not in answer.text
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Referrer-Policy"] == "same-origin"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Access-Control-Allow-Origin"] is None


def test_a_link_may_be_followed_from_anywhere_and_its_form_may_not(tmp_path):
    with production(tmp_path) as server:
        url = f"{server.address}/.accounts/action?mode=verifyEmail&oobCode=x"
        mail = {"Sec-Fetch-Site": "cross-site", "Referer": "https://mail.example.net/"}
        assert "no longer works" in follow(url, headers=mail).text
        fields = {"mode": "verifyEmail", "oobCode": "x"}
        own = follow(url, fields, {"Origin": server.address})
        assert own.status == 400 and "no longer works" in own.text
        assert follow(url, fields, {"Origin": "https://mail.example.net"}).status == 403


def test_a_sign_in_link_of_production_leads_to_listed_apps_only(tmp_path):
    with Receiver() as receiver, production(tmp_path, receiver, "--sign-in=email-link") as server:
        body = {"requestType": "EMAIL_SIGNIN", "email": "ann@example.com"}
        for url in ["https://evil.example", "http://app.example.com", "https://app.example.com:8443",
                    "https://app.example.com.evil.example", "https://app.example.com@evil.example"]:
            answer = call(server, "accounts:sendOobCode", {**body, "continueUrl": url})
            assert answer.startswith(("UNAUTHORIZED_CONTINUE_URI", "INVALID_CONTINUE_URI")), url
        body["continueUrl"] = "https://app.example.com/in"
        assert isinstance(call(server, "accounts:sendOobCode", body), dict)
        message = receiver.next()
        answer = follow(local(server, message["link"]))
        assert answer.status == 303
        assert answer.headers["Location"].startswith("https://app.example.com/in?mode=signIn&")
        changed = message["link"].replace("app.example.com", "evil.example")
        answer = follow(local(server, changed))
        assert answer.status == 200 and answer.headers["Location"] is None
        fields = {"email": "ann@example.com", "oobCode": message["code"]}
        assert call(server, "accounts:signInWithEmailLink", fields)["isNewUser"] is True
        assert call(server, "accounts:signInWithEmailLink", fields) == "INVALID_OOB_CODE"


def test_the_answer_does_not_tell_whether_there_is_an_account(tmp_path):
    methods = ["--sign-in=password", "--sign-in=email-link"]
    with production(tmp_path) as server:
        sign_up(server)
        server.stop()
    # No user may make an account any more: a link to sign in is for those who have one.
    with Receiver() as receiver, production(
        tmp_path, receiver, *methods, "--sign-up=admin"
    ) as server:
        for kind in ["PASSWORD_RESET", "EMAIL_SIGNIN"]:
            for email in ["nobody@example.com", "ann@example.com"]:
                body = {"requestType": kind, "email": email}
                assert call(server, "accounts:sendOobCode", body) == {
                    "kind": "identitytoolkit#GetOobConfirmationCodeResponse",
                    "email": email,
                }
            message = receiver.next()
            assert (message["type"], message["email"]) == (kind, "ann@example.com")
        assert len(receiver.requests) == 2
        # An unknown address takes as much work, so that it takes as long.
        assert "hearth_one_time_codes 4" in server.get("/.metrics", headers=admin(tmp_path)).text


def test_a_webhook_that_stumbles_is_called_again(tmp_path):
    with Receiver(503, 429) as receiver, production(tmp_path, receiver) as server:
        sign_up(server)
        call(server, "accounts:sendOobCode",
             {"requestType": "PASSWORD_RESET", "email": "ann@example.com"})
        message = receiver.next()
        assert message["type"] == "PASSWORD_RESET"
        assert len(receiver.requests) == 3
        assert len({headers["webhook-id"] for headers, _ in receiver.requests}) == 1


@pytest.mark.parametrize("statuses, location, tries", [
    ([500, 500, 500, 500], None, 3), ([400], None, 1), ([302], "/elsewhere", 1),
])
def test_a_webhook_that_refuses_is_counted_and_never_followed(tmp_path, statuses, location, tries):
    with Receiver(*statuses, location=location) as receiver, production(tmp_path, receiver) as server:
        sign_up(server)
        call(server, "accounts:sendOobCode",
             {"requestType": "PASSWORD_RESET", "email": "ann@example.com"})
        server.await_log("the webhook does not take a code")
        assert len(receiver.requests) == tries
        metrics = server.get("/.metrics", headers=admin(tmp_path)).text
        assert 'hearth_webhook_messages_total{outcome="failed"} 1' in metrics
        assert f"hearth_webhook_retries_total {tries - 1}" in metrics
        assert "hearth_one_time_codes 1" in metrics


def test_without_a_webhook_codes_are_refused_and_administrators_have_links(tmp_path):
    with production(tmp_path, None, "--sign-in=password", "--sign-in=phone", "--sign-in=email-link") as server:
        sign_up(server)
        answers = {
            call(server, "accounts:sendOobCode", {"requestType": kind, "email": email})
            for kind in ["PASSWORD_RESET", "EMAIL_SIGNIN"]
            for email in ["ann@example.com", "nobody@example.com"]
        }
        assert len(answers) == 1
        assert answers.pop().startswith("OPERATION_NOT_ALLOWED : ")
        phone = call(server, "accounts:sendVerificationCode", {"phoneNumber": "+15555550100"})
        assert phone.startswith("OPERATION_NOT_ALLOWED : ") and "--accounts-webhook" in phone
        body = {"requestType": "PASSWORD_RESET", "email": "ann@example.com", "returnOobLink": True}
        path = "projects/hearth/accounts:sendOobCode"
        link = call(server, path, body, admin(tmp_path))["oobLink"]
        assert follow(link).status == 200
        assert "/.accounts/action?" in link


def test_in_production_a_phone_gets_no_sixth_code(tmp_path):
    with Receiver() as receiver, production(tmp_path, receiver, "--sign-in=phone") as server:
        number = {"phoneNumber": "+15555550100"}
        sessions = [call(server, "accounts:sendVerificationCode", number) for _ in range(5)]
        assert call(server, "accounts:sendVerificationCode", number) == (
            "TOO_MANY_ATTEMPTS_TRY_LATER"
        )
        sent = [receiver.next() for _ in range(5)]
        assert all(message["phoneNumber"] == "+15555550100" for message in sent)
        assert all("link" not in message for message in sent)
        # They may arrive in any order: one of them is the first session's.
        answers = [
            call(server, "accounts:signInWithPhoneNumber", {**sessions[0], "code": message["code"]})
            for message in sent
        ]
        assert sum(isinstance(answer, dict) for answer in answers) == 1


@pytest.mark.parametrize("path", [
    "/emulator/v1/projects/hearth/oobCodes", "/emulator/v1/projects/hearth/verificationCodes",
    "/emulator/v1/projects/hearth/config", "/emulator/action?mode=verifyEmail&oobCode=x&apiKey=k",
])
def test_there_are_no_emulator_addresses_in_production(tmp_path, path):
    with production(tmp_path) as server:
        assert server.get(path).status == 404
        assert server.request("DELETE", "/emulator/v1/projects/hearth/accounts").status == 404


@pytest.mark.parametrize("flags, words", [
    (["--accounts-webhook=http://mail.example.com/"], "unencrypted"),
    (["--accounts-webhook=nowhere"], "is no http or https address"),
    (["--accounts-webhook=https://u:p@mail.example.com/"], "is no http or https address"),
    (["--accounts-webhook=https://mail.example.com/"], "has no secret"),
    (["--accounts-webhook=https://mail.example.com/"], "--public-url"),
    (["--accounts-webhook-secret-file=x"], "means nothing without --accounts-webhook"),
])
def test_webhooks_that_are_not_safe_are_faults_of_the_configuration(tmp_path, flags, words):
    log = tmp_path / "log"
    with pytest.raises(AssertionError, match="no ready line"):
        Hearth(*flags, dev=False, data=tmp_path / "data", log=log)
    assert words in log.read_text()


def test_a_webhook_secret_that_others_may_read_is_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o644)
    flags = ["--accounts-webhook=http://127.0.0.1:1/", f"--accounts-webhook-secret-file={secret}",
             "--public-url=https://db.example.com"]
    with pytest.raises(AssertionError, match="no ready line"):
        Hearth(*flags, dev=False, data=tmp_path / "data", log=tmp_path / "log")
    assert "chmod 600" in (tmp_path / "log").read_text()
