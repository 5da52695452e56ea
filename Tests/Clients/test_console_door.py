"""Who may enter the console of a production server, what each may do there, and what a stolen or forged way in is worth."""

import json
import time
import urllib.parse

import pytest

from browser import STRANGER
from console_door import COOKIE, SESSION, Visitor, id_token, refused_upgrade, set_role, viewer_of
from hearth_server import Hearth
from production_server import Production
from sample_pages import Window

RULES = {"rules": {"mine": {"$uid": {".read": "auth.uid === $uid"}}, "gold": {".read": "auth.token.level === 'gold'"}}}


@pytest.fixture(scope="module")
def production(tmp_path_factory):
    production = Production(tmp_path_factory.mktemp("door"))
    with production.server:
        assert production.request("PUT", "/.settings/rules.json", RULES, token=production.secret).status == 200
        assert production.request("PUT", "/.json", {"mine": {"ann": 1}, "gold": 2}, token=production.secret).status == 200
        yield production


@pytest.fixture
def admin(production):
    visitor = Visitor(production)
    assert visitor.sign_in(secret=production.secret).status == 200
    return visitor


@pytest.fixture
def viewer(production):
    email = f"viewer{time.monotonic_ns()}@example.com"
    visitor = Visitor(production)
    visitor.uid, token = viewer_of(production, email)
    assert visitor.sign_in(idToken=token).status == 200
    visitor.email = email
    return visitor


def is_in(visitor):
    return visitor.request("GET", SESSION).json["signedIn"]


# Signing in


def test_the_page_is_there_and_a_stranger_is_signed_out(production):
    page = production.request("GET", "/.console/data/any")
    assert page.status == 200 and "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    stranger = Visitor(production)
    assert stranger.request("GET", SESSION).json == {"mode": "production", "keepsCookie": True, "signedIn": False}
    assert stranger.status("GET", "/.inspect/databases.json") == 401
    assert stranger.status("GET", "/.json") == 401


def test_the_secret_opens_it_and_the_cookie_has_its_flags(production):
    visitor = Visitor(production)
    answer = visitor.sign_in(secret=production.secret)
    flags = answer.headers["Set-Cookie"].split("; ")
    assert flags[0].startswith(f"{COOKIE}=") and len(flags[0]) == len(COOKIE) + 1 + 43
    assert set(flags[1:]) == {"Path=/", "Secure", "HttpOnly", "SameSite=Strict", "Max-Age=3600"}
    assert answer.headers["Cache-Control"] == "no-store" and "Access-Control-Allow-Origin" not in answer.headers
    facts = visitor.request("GET", SESSION).json
    assert (facts["role"], facts["name"]) == ("admin", "admin")
    assert 3_500_000 < facts["expiresAt"] - time.time() * 1000 <= 3_600_000
    assert production.secret not in production.log.read_text()
    assert visitor.cookie not in production.log.read_text()


def test_an_administrator_does_everything_with_it(admin):
    assert admin.status("PUT", "/made.json", {"by": "cookie"}) == 200
    assert admin.request("GET", "/made.json").json == {"by": "cookie"}
    assert admin.status("GET", "/.settings/rules.json") == 200
    assert admin.status("GET", "/.accounts/service-accounts.json") == 200
    assert admin.status("POST", "/v1/projects/demo/accounts:query", {}) == 200
    assert admin.status("GET", "/.backup") == 200
    with admin.socket() as socket:
        assert admin.asks(socket, {"do": "get", "path": "/made"})["value"] == {"by": "cookie"}
        assert admin.asks(socket, {"do": "set", "path": "/made", "value": 2})["ok"]


def test_a_change_of_rules_names_who_made_it(production, viewer):
    set_role(production, viewer.uid, "admin")
    viewer.sign_in(idToken=id_token(production, viewer.email))
    for rules in ({"rules": {}}, RULES):
        assert viewer.status("PUT", "/.settings/rules.json", rules) == 200
    assert viewer.request("GET", "/.settings/rules_history.json").json["versions"][0]["author"] == viewer.uid


def test_a_wrong_secret_is_refused_and_slowed_down(production):
    visitor = Visitor(production, network="203.0.113.77")
    assert [visitor.sign_in(secret="not-the-secret-at-all").status for _ in range(5)] == [401] * 5
    # Each further failure doubles the wait, so that a slow machine is made to wait as well.
    while (answer := visitor.sign_in(secret="not-the-secret-at-all")).status == 401:
        pass
    assert answer.status == 429 and int(answer.headers["Retry-After"]) >= 1
    # Another network is not made to wait for it.
    assert Visitor(production, network="203.0.113.78").sign_in(secret=production.secret).status == 200


@pytest.mark.parametrize("proof", [{}, {"secret": ""}, {"idToken": "a.b.c"}, {"idToken": ""}, {"secret": 5}])
def test_what_proves_nothing_is_refused(production, proof):
    visitor = Visitor(production, network="203.0.113.99")
    assert visitor.sign_in(**proof).status in (400, 401)


def test_an_account_needs_a_role(production):
    uid, token = viewer_of(production, "nobody@example.com", role=None)
    visitor = Visitor(production)
    answer = visitor.sign_in(idToken=token)
    assert answer.status == 403 and f"hearth users claims {uid}" in answer.json["error"]
    for role in ("owner", "Admin", "", True):
        set_role(production, uid, role)
        assert visitor.sign_in(idToken=token).status == 403, role
    assert not is_in(visitor)


def test_a_page_that_others_can_read_along_lets_no_user_in(tmp_path):
    with Hearth("--allow-host", "db.example.com", dev=False, data=tmp_path / "data") as server:
        head = {"Host": "db.example.com", "Origin": "http://db.example.com"}
        facts = server.get(SESSION, headers=head).json
        assert facts["keepsCookie"] is False
        secret = (tmp_path / "data" / "admin-secret").read_text().strip()
        refused = server.request("POST", SESSION, {"secret": secret}, headers=head)
        assert refused.status == 400 and "--tls-cert" in refused.json["error"] and "Set-Cookie" not in refused.headers
        # On this machine browsers keep it over plain http, too.
        near = {"Origin": f"http://127.0.0.1:{server.port}"}
        assert server.request("POST", SESSION, {"secret": secret}, headers=near).status == 200


# The end of a session


def test_signing_out_ends_it_on_its_connections_too(admin):
    with admin.socket() as socket:
        assert admin.asks(socket, {"do": "get", "path": "/gold"})["value"] == 2
        answer = admin.request("DELETE", SESSION)
        assert "Max-Age=0" in answer.headers["Set-Cookie"] and answer.json["signedIn"] is False
        assert json.loads(socket.recv())["event"] == "authRevoked"
        assert admin.asks(socket, {"do": "get", "path": "/gold"})["error"] == "permission_denied"
    assert not is_in(admin) and admin.status("GET", "/gold.json") == 401


@pytest.mark.parametrize("change", ["disable", "revoke", "role", "no role", "delete"])
def test_what_becomes_of_the_account_ends_it(production, viewer, change):
    def update(**members):
        body = {"localId": viewer.uid, **members}
        return production.request("POST", "/v1/projects/demo/accounts:update", body, token=production.secret)

    with viewer.socket() as socket:
        assert viewer.asks(socket, {"do": "get", "path": "/gold"})["value"] == 2
        if change == "disable":
            update(disableUser=True)
        elif change == "revoke":
            update(validSince=str(int(time.time()) + 1))
        elif change == "delete":
            body = {"localId": viewer.uid}
            production.request("POST", "/v1/projects/demo/accounts:delete", body, token=production.secret)
        else:
            set_role(production, viewer.uid, "admin" if change == "role" else None)
        assert json.loads(socket.recv())["event"] == "authRevoked"
    assert not is_in(viewer) and viewer.status("GET", "/gold.json") == 401


def test_another_secret_ends_it(tmp_path):
    production = Production(tmp_path)
    with production.server as server:
        visitor = Visitor(production)
        visitor.sign_in(secret=production.secret)
        server.stop()
        old = production.secret
        production.secret_file.write_text("another-secret-of-this-server")
        server.flags[server.flags.index("--port") + 1] = str(server.port)
        server.start()
        assert not is_in(visitor)
        assert visitor.sign_in(secret=old).status == 401
        assert visitor.sign_in(secret="another-secret-of-this-server").status == 200


# A viewer


def test_a_viewer_reads_what_the_console_shows(production, viewer):
    for path in ("/.json", "/.settings/rules.json", "/.settings/rules_history.json", "/.inspect/databases.json",
                 "/.inspect/requests.json", "/.accounts/service-accounts.json", "/.accounts/keys.json", "/.metrics"):
        assert viewer.status("GET", path) == 200, path
    assert viewer.status("PUT", "/.settings/rules.json?dryRun=true", RULES) == 200
    assert viewer.status("POST", "/.simulate", {"operation": "read", "path": "/gold"}) in (200, 400)
    with viewer.socket() as socket:
        assert viewer.asks(socket, {"do": "get", "path": "/gold"})["value"] == 2


def test_a_viewer_changes_nothing(production, viewer):
    before = production.request("GET", "/.json", token=production.secret).json
    for method, path, body in [
        ("PUT", "/x.json", 1), ("POST", "/x.json", 1), ("PATCH", "/.json", {"x": 1}), ("DELETE", "/gold.json", None),
        ("PUT", "/.settings/rules.json", RULES), ("PUT", "/.settings/rules.json?dryRun=false", RULES),
        ("DELETE", "/.settings/rules.json", None), ("DELETE", "/.settings/rules.json?dryRun=true&dryRun=false", None),
        ("POST", "/.settings/rulesets.json", RULES),
        ("PUT", "/.settings/defaultWriteSizeLimit.json", "small"), ("PUT", "/.settings/defaultWriteSizeLimit.json?dryRun=true", "small"),
        ("PUT", "/.inspect/level.json", "off"), ("DELETE", "/.inspect/requests.json", None),
        ("DELETE", "/.inspect/coverage.json", None), ("POST", "/.accounts/keys.json", {}),
        ("POST", "/.accounts/service-accounts.json", {"name": "x"}), ("DELETE", "/.accounts/service-accounts/x.json", None),
        ("POST", "/v1/projects/demo/accounts", {"email": "x@example.com"}),
        ("POST", "/v1/projects/demo/accounts:update", {"localId": viewer.uid, "customAttributes": '{"hearth":"admin"}'}),
        ("POST", "/v1/projects/demo/accounts:delete", {"localId": viewer.uid}),
        ("POST", "/v1/projects/demo/accounts:sendOobCode", {"requestType": "PASSWORD_RESET", "email": viewer.email, "returnOobLink": True}),
        ("POST", "/v1/projects/demo:createSessionCookie", {}), ("GET", "/.backup", None),
        ("POST", "/x.json?x-http-method-override=PATCH", {"x": 1}), ("POST", "/x/.upload", {}),
    ]:
        answer = viewer.request(method, path, body)
        assert answer.status == 403, (method, path, answer.status, answer.text)
    assert viewer.request("GET", "/x.json", X_HTTP_Method_Override="DELETE").status == 200
    with viewer.socket() as socket:
        for request in (
            {"do": "set", "path": "/x", "value": 1}, {"do": "update", "path": "/", "value": {"x": 1}},
            {"do": "push", "path": "/x", "value": 1}, {"do": "remove", "path": "/gold"},
            {"do": "onDisconnect", "path": "/gold", "value": 1}, {"do": "onDisconnect", "path": "/gold", "update": {"x": 1}},
            {"do": "onDisconnect", "path": "/gold", "cancel": True},
        ):
            refused = viewer.asks(socket, request)
            assert (refused["error"], refused["message"]) == ("permission_denied", "This session only reads."), request
    assert production.request("GET", "/.json", token=production.secret).json == before
    assert production.request("GET", "/.settings/rules.json", token=production.secret).json == RULES


def test_a_viewer_gets_no_hash_of_a_password(production, viewer, admin):
    for method, path, body in [
        ("GET", "/v1/projects/demo/accounts:batchGet", None), ("POST", "/v1/projects/demo/accounts:query", {}),
        ("POST", "/v1/projects/demo/accounts:lookup", {"localId": [viewer.uid]}),
        ("POST", "/v1/projects/demo/accounts:query", {"search": viewer.uid}),
    ]:
        assert "argon2" in admin.request(method, path, body).text, path
        text = viewer.request(method, path, body).text
        assert viewer.uid in text and "argon2" not in text, path


# The cookie in other hands


STRANGE = [
    {"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": ""}, {"Sec_Fetch_Site": "cross-site"},
    {"Sec_Fetch_Site": "same-site"}, {"Sec_Fetch_Site": "none"}, {"Sec_Fetch_Site": ""}, {"Origin": None, "Sec_Fetch_Site": None},
    {"Origin": "https://localhost:1"}, {"Origin": "http://localhost"}, {"Origin": "https://localhost.evil.example"},
]


@pytest.mark.parametrize("strange", STRANGE, ids=str)
def test_a_request_of_another_page_has_no_session(production, admin, strange):
    assert admin.status("GET", "/gold.json", **strange) in (401, 403)
    assert admin.status("PUT", "/gold.json", 3, **strange) in (401, 403)
    assert admin.status("GET", "/.settings/rules.json", **strange) in (401, 403)
    assert admin.status("PUT", "/.settings/rules.json", {"rules": {".read": True}}, **strange) in (401, 403)
    assert admin.status("POST", SESSION, {"secret": production.secret}, **{**strange, "Cookie": ""}) in (401, 403)
    if refused_upgrade(admin, **strange) is None:
        with admin.socket(**strange) as socket:
            assert admin.asks(socket, {"do": "get", "path": "/gold"})["error"] == "permission_denied"
    assert is_in(admin)


def raw(production, lines):
    """The status of a request of these lines, sent as they are."""
    import socket

    plain = socket.create_connection(("127.0.0.1", production.server.port), timeout=120)
    with production.context.wrap_socket(plain, server_hostname="localhost") as secure:
        secure.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode())
        return int(secure.recv(4096).split()[1])


def test_headers_that_come_twice_mean_nothing(production, admin):
    host = f"Host: localhost:{production.server.port}"
    own, cookie = f"Origin: {production.address}", f"Cookie: {COOKIE}={admin.cookie}"
    get = "GET /gold.json HTTP/1.1"
    assert raw(production, [get, host, own, cookie]) == 200
    for more in (["Origin: https://evil.example"], [own], ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: same-origin"],
                 ["Sec-Fetch-Site: same-origin, same-origin"], [cookie], [f"Cookie: {COOKIE}=x"], ["Authorization: Basic eDp5"]):
        assert raw(production, [get, host, own, cookie, *more]) in (401, 403), more
    # Some of it the guard of a server on loopback refuses.
    for strange in (f"{own}, https://evil.example", f"{own}/", f"{own}.evil.example"):
        assert raw(production, [get, host, strange, cookie]) in (401, 403), strange
    assert raw(production, [get, f"Host: evil.example:{production.server.port}", own, cookie]) in (401, 403)
    # A name that begins or ends like it is another cookie.
    for name in (f"x{COOKIE}", COOKIE.lower(), COOKIE[7:]):
        assert raw(production, [get, host, own, f"Cookie: {name}={admin.cookie}"]) == 401, name
    assert raw(production, [get, host, own, f"Cookie: a=b; {COOKIE}={admin.cookie}; c=d"]) == 200


def test_it_means_nothing_where_sdks_are(production, admin):
    with admin.socket("/.ws?v=5&ns=default") as socket:
        assert json.loads(socket.recv())["t"] == "c"
        socket.send(json.dumps({"t": "d", "d": {"r": 1, "a": "p", "b": {"p": "/gold", "d": 9}}}))
        assert json.loads(socket.recv())["d"]["b"]["s"] == "permission_denied"
    assert admin.status("POST", f"/v1/accounts:lookup?key=any", {"localId": ["x"]}) == 400
    assert admin.status("POST", "/v1/projects/demo/accounts:lookup", {"localId": ["x"]}) == 200
    # A credential of the request's own goes first, however little it is worth.
    assert admin.status("GET", "/gold.json?auth=wrong") == 401
    assert admin.status("GET", "/gold.json", Authorization="Bearer wrong") == 401


@pytest.mark.parametrize("ns", [":accounts", "%3Aaccounts", "default%00", "..", "other", "default&ns=other"])
def test_no_name_of_a_database_leads_further(admin, ns):
    answer = admin.request("GET", f"/accounts.json?ns={ns}")
    assert answer.status in (400, 404) or answer.json is None
    if "&" not in ns:
        assert refused_upgrade(admin, f"/.events?ns={ns}") in (400, 404)


def test_a_session_that_another_person_prepared_is_never_taken_over(production):
    victim = Visitor(production)
    victim.cookie = "A" * 43
    victim.sign_in(secret=production.secret)
    assert victim.cookie != "A" * 43
    thief = Visitor(production)
    thief.cookie = "A" * 43
    assert not is_in(thief)
    # Signing in ends the session that the browser had.
    first = victim.cookie
    victim.sign_in(secret=production.secret)
    thief.cookie = first
    assert not is_in(thief) and is_in(victim)


def test_preflights_open_no_address_of_administrators(production):
    head = {"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
    for path in ("/.settings/rules.json", SESSION, "/.accounts/keys.json"):
        answer = production.request("OPTIONS", path, headers=head)
        assert "Access-Control-Allow-Credentials" not in answer.headers, path


# On behalf of another person


def test_an_administrator_sees_as_another_person_and_only_reads(admin):
    ann = urllib.parse.quote(json.dumps({"uid": "ann", "token": {"level": "gold"}}))
    with admin.socket(f"/.events?ns=default&auth_variable_override={ann}") as socket:
        assert admin.asks(socket, {"do": "get", "path": "/mine/ann"})["value"] == 1
        assert admin.asks(socket, {"do": "get", "path": "/mine/bob"})["error"] == "permission_denied"
        assert admin.asks(socket, {"do": "get", "path": "/gold"})["value"] == 2
        refused = admin.asks(socket, {"do": "set", "path": "/mine/ann", "value": 2})
        assert refused["message"] == "This session only reads."
    with admin.socket("/.events?ns=default&auth_variable_override=null") as socket:
        assert admin.asks(socket, {"do": "get", "path": "/gold"})["error"] == "permission_denied"
    assert refused_upgrade(admin, "/.events?ns=default&auth_variable_override=5") == 400


def test_others_do_not(production):
    assert refused_upgrade(Visitor(production), "/.events?ns=default&auth_variable_override=null") == 401


# The flags


def test_it_can_be_turned_off(tmp_path):
    for flags in (["--no-console"], ["--dev", "--no-console"]):
        with Hearth(*flags, dev=False, data=tmp_path / f"{len(flags)}") as server:
            answer = server.get("/.console/")
            assert answer.status == 404 and "--no-console" in answer.text
            assert server.get(SESSION).status == 404
            assert server.get("/", headers={"Accept": "text/html"}).status == 200


def test_it_can_have_a_port_of_its_own(tmp_path):
    production = Production(tmp_path, "--console-port", "0")
    with production.server as server:
        own = next(word for word in server.ready.split() if word.startswith("console=")).partition("=")[2]
        port = urllib.parse.urlsplit(own).port
        assert production.request("GET", "/.console/").status == 404
        assert "--console-port" in production.request("GET", SESSION).text
        main, production.address = production.address, f"https://localhost:{port}"
        assert production.request("GET", "/.console/").status == 200
        assert production.request("GET", "/.samples/").status == 404
        visitor = Visitor(production)
        assert visitor.sign_in(secret=production.secret).status == 200
        assert visitor.status("PUT", "/a.json", 1) == 200
        with visitor.socket() as socket:
            assert visitor.asks(socket, {"do": "get", "path": "/a"})["value"] == 1
        assert refused_upgrade(visitor, "/.ws?v=5&ns=default") == 404
        # Browsers send the cookie to every port of the host; it counts at its own.
        production.address = main
        visitor.origin = main
        assert visitor.status("GET", "/a.json") == 401
        assert visitor.status("GET", "/.settings/rules.json") == 401


# The page


class Page(Window):
    """A window at the console of a server with a certificate of no authority."""

    def __init__(self, browser, address, **options):
        super().__init__(browser, "about:blank", **options)
        self.call("Network.clearBrowserCookies")
        self.call("Security.setIgnoreCertificateErrors", ignore=True)
        assert "errorText" not in self.call("Page.navigate", url=address)

    def signs_in(self, secret):
        self.wait("document.getElementById('door')?.open")
        self.write("#door-secret", secret)
        self.press("#door button", "Sign in")
        self.wait("!document.getElementById('door')")


@pytest.fixture
def page(browser, production):
    windows = []

    def open_page(path="", **options):
        window = Page(browser, f"{production.address}/.console/{path}", **options)
        windows.append(window)
        return window

    yield open_page
    for each in windows:
        # A refusal of the server is an error in the log of Chromium alone; the page says it in words.
        each.check()
        each.close()


def test_a_person_signs_in_with_the_secret_and_out_again(production, page):
    window = page("data/gold?ns=default")
    window.wait("document.getElementById('door')?.open")
    window.write("#door-secret", "this-is-not-the-secret")
    window.press("#door button", "Sign in")
    window.wait_text("#door .problem", "not the administrator's secret")
    window.signs_in(production.secret)
    window.wait_text("#connection", "live")
    window.wait_text("#page", "gold")
    assert window.value("document.cookie") == ""
    # The stream of the page that is being left can end, and open the door, before the page is loaded anew.
    window.value("window.isOld = true")
    window.press("#who")
    window.wait("!window.isOld && document.getElementById('door')?.open && !document.querySelector('#page .row')")


def test_a_session_that_ends_asks_again_and_keeps_what_was_typed(production, page):
    window = page("rules?ns=default")
    window.signs_in(production.secret)
    window.wait("document.querySelector('#page textarea')?.value.includes('gold')")
    window.write("#page textarea", '{"rules": {"typed": {".read": true}}}')
    cookies = window.call("Network.getCookies", urls=[production.address])["cookies"]
    [cookie] = [each for each in cookies if each["name"] == COOKIE]
    assert cookie["httpOnly"] and cookie["secure"] and cookie["sameSite"] == "Strict"
    visitor = Visitor(production)
    visitor.cookie = cookie["value"]
    assert visitor.status("DELETE", SESSION) == 200
    window.wait_text("#door", "What you have typed is still there")
    window.signs_in(production.secret)
    window.wait_text("#connection", "live")
    assert "typed" in window.value("document.querySelector('#page textarea').value")


def test_a_viewer_signs_in_with_an_account_and_sees_who_they_are(production, page):
    viewer_of(production, "page-viewer@example.com")
    window = page("data?ns=default")
    window.wait("document.getElementById('door')?.open")
    window.press("#door button", "With an account")
    window.write("#door-email", "page-viewer@example.com")
    window.write("#door-password", "wrong-word")
    window.press("#door button", "Sign in")
    window.wait_text("#door .problem", "wrong")
    window.write("#door-password", "secret-word")
    window.press("#door button", "Sign in")
    window.wait("!document.getElementById('door')")
    window.wait_text("#who", "page-viewer@example.com, looks only")
    window.wait_text("#page", "gold")
    # What changes something is off, with the reason, on what is there and on what comes later.
    changing = "[...document.querySelectorAll('#page [data-changes]')]"
    window.wait(f"{changing}.length >= 3 && {changing}.every((one) => one.disabled && one.title === 'A viewer changes nothing')")
    window.press("#page .bar button", "More")
    entries = window.wait("(() => { const all = [...document.querySelectorAll('.menu button')]; return all.length && Object.fromEntries(all.map((one) => [one.innerText, one.disabled])); })()")
    assert [name for name, is_off in entries.items() if is_off] == ["Rename …", "Priority …", "Copy to …", "Import JSON …", "Delete"]
    window.key("Escape")
    window.wait("document.querySelectorAll('#page .row').length > 1")
    window.value("[...document.querySelectorAll('#page .row')][1].querySelector('.value').dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))")
    window.wait_text("#notices", "A viewer looks")
    assert window.value("document.querySelector('#page .edit, dialog[open]')") is None
    window.value("document.querySelector('#rail [data-page=users]').click()")
    window.wait_text("#page", "page-viewer@example.com")
    window.press("#page tr button", "page-viewer@example.com")
    window.wait(f"{changing}.length > 3 && {changing}.every((one) => one.disabled)")
    assert window.value("document.querySelector('#page input[type=search]').disabled") is False


def test_over_plain_http_the_page_says_what_to_do(browser, tmp_path):
    with Hearth("--allow-host", STRANGER, dev=False, data=tmp_path / "data") as server:
        window = Page(browser, f"http://{STRANGER}:{server.port}/.console/data")
        window.wait_text("#door", "browsers keep no cookie")
        window.wait_text("#door", "--tls-cert")
        assert window.value("document.querySelectorAll('#door input, #door button').length") == 0
        window.check()
        window.close()


def test_the_audit_page_shows_what_was_done(production, page, admin):
    admin.request("PUT", "/.settings/defaultWriteSizeLimit.json", "large")
    window = page("audit")
    window.signs_in(production.secret)
    window.wait_text(".audit", "PUT /.settings/defaultWriteSizeLimit.json")
    # What comes later appears by itself.
    admin.request("PUT", "/audited.json", 1)
    window.wait_text(".audit", "/audited")
    window.write("input[aria-label='Find entries']", "signed in")
    window.key("Enter")
    window.wait("document.querySelectorAll('.audit tbody tr').length > 0")
    window.wait("[...document.querySelectorAll('.audit tbody tr')].every((row) => row.innerText.includes('signed in'))")
    assert "find=signed" in window.value("location.search")


GOLD = '{"uid":"ann","level":"gold"}'


@pytest.mark.parametrize(
    "who, path, hidden", [("ann", "mine", "mine"), ("bob", "mine", "mine,ann"), (GOLD, "gold", ""), ("bob", "gold", "gold"), ("", "gold", "gold")]
)
def test_a_person_sees_as_another_in_production(production, page, who, path, hidden):
    window = page(f"data/{path}?ns=default&as={urllib.parse.quote(who)}")
    window.signs_in(production.secret)
    window.wait_text(".mask", "Seen as")
    window.wait("[...document.querySelectorAll('.row')].every((row) => row.querySelector('.name').textContent)")
    names = "[...document.querySelectorAll('.row.unreadable .name')].map((name) => name.textContent).join()"
    window.wait(f"{names} === {hidden!r}")
