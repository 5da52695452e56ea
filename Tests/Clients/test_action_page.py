"""The page that links in emails lead to, in a real browser."""

import base64
import json

from test_one_time_codes import call, local, production, sign_in, sign_up
from webhook_receiver import Receiver


def loaded(browser, session):
    browser.value(
        session,
        """new Promise((resolve) => {
            if (document.readyState === "complete") resolve();
            else addEventListener("load", resolve);
        })""",
    )


def follow(browser, session, expression, title):
    """Does something that leads to another page, and waits for that."""
    browser.value(session, expression)
    # The old page answers until the new one is there.
    browser.until(session, f"document.readyState === 'complete' && document.title === {json.dumps(title)}")


def send_email(server, receiver, kind="PASSWORD_RESET", **fields):
    body = {"requestType": kind, "email": "ann@example.com", **fields}
    assert isinstance(call(server, "accounts:sendOobCode", body), dict)
    return receiver.next()


def test_a_user_chooses_a_new_password(tmp_path, browser):
    with Receiver() as receiver, production(tmp_path, receiver) as server:
        sign_up(server)
        message = send_email(server, receiver, continueUrl="https://app.example.com/in")
        session = browser.open(local(server, message["link"]))
        loaded(browser, session)
        assert browser.value(session, "document.title") == "Choose a new password"
        # It is styled by its own style, which its policy lets pass, and runs nothing.
        display = "getComputedStyle(document.body).display"
        assert browser.value(session, display) == "grid"
        assert browser.value(session, "document.scripts.length") == 0
        assert browser.value(session, "performance.getEntriesByType('resource').length") == 0
        assert browser.value(session, "document.activeElement.name") == "newPassword"
        # The browser asks for more characters before anything is sent.
        length = "document.querySelector('input[type=password]').minLength"
        assert browser.value(session, length) == 6
        browser.value(session, "document.querySelector('input[type=password]').value = 'secret 2'")
        follow(browser, session, "document.querySelector('button').click()",
               "Your password is changed")
        link = browser.value(session, "document.querySelector('a').href")
        assert link == "https://app.example.com/in"
        assert "oobCode" not in browser.value(session, "location.href")
        assert "idToken" in sign_in(server, password="secret 2")


def test_the_page_is_light_and_dark(tmp_path, browser):
    with Receiver() as receiver, production(tmp_path, receiver) as server:
        sign_up(server)
        session = browser.open(local(server, send_email(server, receiver)["link"]))
        loaded(browser, session)
        colors, shots = set(), set()
        for scheme in ["light", "dark"]:
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.call("Emulation.setEmulatedMedia", session, features=[feature])
            for part, name in [("body", "backgroundColor"), ("h1", "color")]:
                colors.add(browser.value(
                    session, f"getComputedStyle(document.querySelector('{part}')).{name}"
                ))
            shot = browser.call("Page.captureScreenshot", session)["data"]
            (tmp_path / f"{scheme}.png").write_bytes(base64.b64decode(shot))
            shots.add(shot)
        assert len(colors) == 4 and len(shots) == 2


def test_the_page_cannot_be_framed_even_by_a_page_of_the_server(tmp_path, browser):
    with production(tmp_path) as server:
        session = browser.open(f"{server.address}/")
        loaded(browser, session)
        framed = """new Promise((resolve) => {
            const frame = document.createElement("iframe");
            frame.onload = () => resolve(frame.contentDocument?.body.textContent ?? "refused");
            frame.src = "%s";
            document.body.append(frame);
        })"""
        # What may be framed is seen, since it is of the same origin.
        assert "Hearth" in browser.value(session, framed % "/")
        page = "/.accounts/action?mode=verifyEmail&oobCode=x"
        assert browser.value(session, framed % page) == "refused"
