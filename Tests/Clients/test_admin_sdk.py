"""PyPI's firebase-admin, unchanged, against the server as an emulator."""

import os
import threading

import firebase_admin
import pytest
from firebase_admin import db


@pytest.fixture
def app(dev, monkeypatch):
    monkeypatch.setenv("FIREBASE_DATABASE_EMULATOR_HOST", f"127.0.0.1:{dev.port}")
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    app = firebase_admin.initialize_app(
        firebase_admin.credentials.AnonymousCredentials()
        if hasattr(firebase_admin.credentials, "AnonymousCredentials")
        else None,
        options={"databaseURL": "https://demo.firebaseio.com", "projectId": "demo"},
        name=f"app-{dev.port}-{os.getpid()}-{threading.get_ident()}",
    )
    yield app
    firebase_admin.delete_app(app)


def test_set_get_update_push_delete(app):
    root = db.reference("/", app=app)
    root.child("users/ann").set({"name": "Ann", "age": 30})
    assert root.child("users/ann").get() == {"name": "Ann", "age": 30}
    root.child("users/ann").update({"age": 31, "city": "Oslo"})
    assert root.child("users/ann/age").get() == 31
    pushed = root.child("list").push({"n": 1})
    assert len(pushed.key) == 20 and root.child("list").child(pushed.key).get() == {"n": 1}
    root.child("users").update({"ann/city": None, "bob/name": "Bob"})
    assert root.child("users").get() == {"ann": {"name": "Ann", "age": 31}, "bob": {"name": "Bob"}}
    assert root.child("users").get(shallow=True) == {"ann": True, "bob": True}
    root.child("users").delete()
    assert root.child("users").get() is None


def test_unicode_and_odd_keys(app):
    reference = db.reference("odd", app=app)
    value = {"a b": 1, "é": "😀", "a+b": [1, 2], "-Nx": True}
    reference.set(value)
    assert reference.get() == value
    assert reference.child("a b").get() == 1
    assert reference.child("é").get() == "😀"


def test_the_auth_override_runs_under_the_rules(dev, monkeypatch):
    monkeypatch.setenv("FIREBASE_DATABASE_EMULATOR_HOST", f"127.0.0.1:{dev.port}")
    rules = b'{"rules":{"u":{"$u":{".write":"auth.uid == $u",".read":"auth.uid == $u"}}}}'
    dev.request(
        "PUT",
        "/.settings/rules.json?ns=demo",
        raw=rules,
        headers={"Authorization": "Bearer owner"},
    )
    app = firebase_admin.initialize_app(
        options={
            "databaseURL": "https://demo.firebaseio.com",
            "databaseAuthVariableOverride": {"uid": "ann"},
        },
        name=f"override-{dev.port}",
    )
    try:
        db.reference("u/ann", app=app).set(1)
        with pytest.raises(firebase_admin.exceptions.UnauthenticatedError) as refusal:
            db.reference("u/bob", app=app).set(1)
        assert "Permission denied" in str(refusal.value)
    finally:
        firebase_admin.delete_app(app)
