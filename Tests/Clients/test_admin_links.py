"""PyPI's firebase-admin, unchanged, has links made: against an emulator's address."""

import itertools
import urllib.parse

import firebase_admin
import pytest
from firebase_admin import auth

from test_one_time_codes import call, follow, lookup, sign_in, sign_up

NUMBER = itertools.count()
SETTINGS = {"url": "http://localhost:5000/done?x=1", "handle_code_in_app": True}


@pytest.fixture
def app(dev, monkeypatch):
    monkeypatch.setenv("FIREBASE_AUTH_EMULATOR_HOST", f"127.0.0.1:{dev.port}")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    app = firebase_admin.initialize_app(
        options={"projectId": "demo"}, name=f"links-{next(NUMBER)}"
    )
    yield app
    firebase_admin.delete_app(app)


def query(link):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))


def test_a_link_resets_a_password(dev, app):
    sign_up(dev)
    link = auth.generate_password_reset_link("ann@example.com", app=app)
    assert query(link)["mode"] == "resetPassword"
    assert follow(f"{link}&newPassword=secret2").status == 200
    assert "idToken" in sign_in(dev, password="secret2")


def test_a_link_verifies_an_address(dev, app):
    token = sign_up(dev)["idToken"]
    settings = auth.ActionCodeSettings(**SETTINGS)
    link = auth.generate_email_verification_link("ann@example.com", settings, app=app)
    assert query(link)["continueUrl"] == SETTINGS["url"]
    answer = follow(link)
    assert (answer.status, answer.headers["Location"]) == (303, SETTINGS["url"])
    assert lookup(dev, token)["emailVerified"] is True


def test_a_link_signs_in(dev, app):
    settings = auth.ActionCodeSettings(**SETTINGS)
    link = auth.generate_sign_in_with_email_link("ann@example.com", settings, app=app)
    body = {"email": "ann@example.com", "oobCode": query(link)["oobCode"]}
    user = call(dev, "accounts:signInWithEmailLink", body)
    assert user["isNewUser"] is True


def test_an_unknown_address_has_no_links(dev, app):
    with pytest.raises(auth.EmailNotFoundError):
        auth.generate_password_reset_link("nobody@example.com", app=app)
    with pytest.raises(auth.UserNotFoundError):
        auth.generate_email_verification_link("nobody@example.com", app=app)
