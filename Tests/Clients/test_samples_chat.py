"""The chat page as two people use it, each in a window of their own."""

import hashlib
import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from browser import STRANGER
from chat_people import PNG, wait_for
from hearth_server import Hearth
from sample_pages import Window, contrast_faults, links


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Hearth("--samples", "--allow-host", STRANGER, data=tmp_path_factory.mktemp("server") / "data") as server:
        # The port stays when the server is started again.
        server.flags[server.flags.index("--port") + 1] = str(server.port)
        yield server


@pytest.fixture
def window(browser, server):
    """Opens windows, and closes them when all is done and nothing went wrong in them."""
    windows = []

    def open_window(name, **options):
        window = Window(browser, f"http://localhost:{server.port}/.samples/chat", **options)
        windows.append(window)
        return window.sign_up(name) if name else window

    yield open_window
    for each in windows:
        each.check()
        each.close()


@pytest.fixture
def pair(window):
    """Two who talk: gives both windows."""
    def talk(one, other, **options):
        first, second = window(one, **options), window(other)
        first.follow(other)
        first.message(other)
        first.say(f"Hello {other}")
        first.wait_gone(".message.pending")
        second.press(".thread", one)
        second.wait_text(".message", f"Hello {other}")
        return first, second

    return talk


def token(window):
    return window.value("JSON.parse(sessionStorage['hearth.samples.session'])")


def write(server, window, path, value):
    """A write that a page has no button for, by the one who is signed in there."""
    method = "DELETE" if value is None else "PUT"
    answer = server.request(method, f"/{path}.json?ns=social&auth={token(window)['idToken']}", value)
    assert answer.status == 200, answer.text


def uid(window):
    return token(window)["uid"]


def read(server, path):
    """What is there, for every user."""
    return server.get(f"/{path}.json?ns=social", headers={"Authorization": "Bearer owner"}).json


def test_files_are_attached_shown_and_deleted_with_their_message(pair, server):
    ann, bob = pair("Xia", "Yan")
    for count, how in enumerate(("picker", "drop", "paste"), start=1):
        ann.attach(how, f"{how}.png", PNG, "image/png")
        ann.wait_text(".chosen .chip", f"{how}.png 98 bytes")
        ann.key("Enter")
        # The smaller picture is what is shown.
        bob.wait(f"document.querySelectorAll('.files img').length === {count}")
        bob.wait("[...document.querySelectorAll('.files img')].every((image) => image.naturalWidth === 300)")
    # What has come late is in sight as well.
    bob.wait("(({ scrollHeight: all, scrollTop: top, clientHeight: seen }) => all - top - seen < 2)(document.querySelector('.scroll'))")
    ann.attach("picker", "no.png", PNG, "image/png")
    ann.press(".chosen button", "Leave out no.png")
    ann.wait_gone(".chosen")
    ann.attach("picker", "menu.txt", b"soup", "text/plain")
    ann.attach("drop", "lake.png", PNG, "image/png")
    ann.say("At the <b>lake</b>")
    bob.wait_text(".message", "menu.txt 4 bytes")
    addresses = bob.value("[...document.querySelectorAll('.message:last-child .files a')].map((link) => link.href)")
    assert [urllib.request.urlopen(address).read() for address in addresses] == [b"soup", PNG]
    act(ann, "At the <b>lake</b>", "Delete")
    bob.wait_text(".message", "Message deleted")
    assert bob.value("document.querySelectorAll('.files img').length") == 3
    # The note of the deletion goes last.
    owner = {"Authorization": "Bearer owner"}
    wait_for(lambda: server.request("GET", "/uploads.json?ns=social", None, owner).json is None)
    for address in addresses:
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address)


def test_a_file_that_is_cut_goes_when_it_is_tried_again(pair):
    ann, bob = pair("Xara", "Yann")
    ann.cut_files("social")
    ann.attach("drop", "lake.png", PNG, "image/png")
    ann.key("Enter")
    ann.wait_text(".message.refused", "Not sent: the server cannot be reached.")
    ann.reach_files()
    ann.press(".message.refused button", "Try again")
    bob.wait("document.querySelector('.files img').naturalWidth === 300")
    ann.wait_gone(".message.refused")


def face_width(window, selector, width):
    """Waits until a face is a picture of that width, in points."""
    window.wait(f"document.querySelector({json.dumps(selector)}).naturalWidth === {width}")


def choose_picture(window, how):
    window.give(how, "me.png", PNG, "image/png", ".picture-dialog", ".picture-dialog input[type=file]")


def test_a_picture_of_ones_own_is_shown_to_others_and_replaced_with_its_bytes(pair, server):
    lux, leo = pair("Lux", "Leo")
    addresses = []
    for how in ("picker", "drop", "paste"):
        lux.press(".own-face", "Your picture")
        lux.wait("document.querySelector('.picture-dialog').open")
        assert contrast_faults(lux) == []
        choose_picture(lux, how)
        lux.wait_gone(".picture-dialog")
        wait_for(lambda: read(server, f"users/{uid(lux)}/picture") not in [None, *addresses])
        addresses.append(read(server, f"users/{uid(lux)}/picture"))
        face_width(lux, ".own-face .face", 300)
    lux.wait_notice("The picture is changed.")
    wait_for(lambda: read(server, f"uploads/{uid(lux)}") is None)
    for gone in addresses[:-1]:
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(gone)
    # Those who look now see it: in the list, the conversation and the search.
    leo.reload()
    face_width(leo, ".thread .face", 300)
    leo.press(".thread", "Lux")
    face_width(leo, ".message:not(.own) .face", 300)
    leo.write("#find-people", "Lux")
    face_width(leo, "#found-people .face", 300)
    lux.press(".own-face", "Your picture")
    lux.press(".picture-dialog button", "Remove the picture")
    lux.wait("document.querySelector('.own-face span.face').innerText === 'L'")
    wait_for(lambda: read(server, f"uploads/{uid(lux)}") is None)
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(addresses[-1])


def test_a_picture_that_is_cut_is_tried_again_or_left(window, server):
    pim = window("Pim")
    pim.press(".own-face", "Your picture")
    pim.cut_files("social")
    choose_picture(pim, "drop")
    pim.wait_text(".picture-dialog", "Not sent: the server cannot be reached.")
    wait_for(lambda: read(server, f"uploads/{uid(pim)}") is None)
    pim.reach_files()
    pim.press(".picture-dialog button", "Try again")
    face_width(pim, ".own-face .face", 300)
    wait_for(lambda: read(server, f"uploads/{uid(pim)}") is None)


def test_the_picture_of_a_room_is_seen_by_its_members_as_it_changes(pair, server):
    ria, rod = pair("Ria", "Rod")
    ria.press("#new-room")
    ria.write("#field-roomName", "Boats")
    ria.press(".choices label", "Rod")
    ria.press("#room-dialog button", "Make the room")
    rod.press(".thread", "Boats")
    ria.press(".talk-head button", "Room")
    rod.press(".talk-head button", "Room")
    rod.wait_text(".room-panel", "Leave the room")
    assert not any("Change the picture" in text for text in rod.texts(".room-panel button"))
    [room] = read(server, f"userRooms/{uid(ria)}")
    keys = []
    for _ in range(2):
        ria.press(".room-panel button", "Change the picture")
        choose_picture(ria, "paste")
        wait_for(lambda: (read(server, f"rooms/{room}/picture") or {}).get("key") not in [None, *keys])
        keys.append(read(server, f"rooms/{room}/picture")["key"])
        for each in (ria, rod):
            each.wait(f"document.querySelector('.thread img.face').src.includes('{keys[-1]}')")
            face_width(each, ".thread img.face", 300)
    wait_for(lambda: read(server, f"uploads/{uid(ria)}") is None)
    files = f"/v0/b/social/o?prefix=rooms/{room}/"
    owner = {"Authorization": "Bearer owner"}
    assert [each["name"] for each in server.get(files, headers=owner).json["items"]] == [f"rooms/{room}/{keys[1]}/0"]
    ria.press(".room-panel button", "Change the picture")
    ria.press(".picture-dialog button", "Remove the picture")
    rod.wait("document.querySelector('.thread img.face') === null")
    wait_for(lambda: server.get(files, headers=owner).json["items"] == [])


def test_files_wait_for_the_first_words_of_a_chat(window):
    eve, bob = window("Zoe"), window("Zen")
    eve.follow("Zen")
    eve.message("Zen")
    eve.attach("picker", "lake.png", PNG, "image/png")
    eve.wait_notice("Say something first", "alerts")


def test_two_windows_talk(pair):
    ann, bob = pair("Ann", "Bob")
    ann.wait("document.querySelector('.talk-head .state').innerText === 'online'")
    bob.say("Hi! <img src=x onerror=faults.push('x')> & <b>bold</b>")
    ann.wait_text(".message:not(.own) .bubble", "<b>bold</b>")
    ann.wait_text(".thread", "<b>bold</b>")
    # What others wrote stays text, in the list too.
    assert ann.value("document.querySelectorAll('.message img, .message b, .thread img, .thread b').length") == 0
    for count in range(5):
        ann.say(f"line {count}")
    bob.wait_text(".message .bubble", "line 4")
    lines = [text for text in bob.texts(".message .bubble") if text.startswith("line")]
    assert lines == [f"line {count}" for count in range(5)]

    # A chat that is not open is unread until it is.
    bob.key("Escape")
    bob.wait_text("#conversation", "Choose a chat")
    ann.say("and one more")
    bob.wait_text(".thread.unread", "and one more")
    bob.press(".thread", "Ann")
    bob.wait_gone(".thread.unread")

    # A user who goes away is not there any more.
    bob.leave()
    ann.wait_text(".talk-head .state", "last here")
    bob.come_back()
    ann.wait_text(".talk-head .state", "online")


def is_seen_to_write(writer, name, other):
    """Writes until the other sees it, then sends what is written."""
    writer.write(".composer textarea", "I do")
    # A user who pauses is not shown as writing: it goes on until it is seen.
    writer.value(
        """void (window.writing = setInterval(() => {
            document.querySelector(".composer textarea").dispatchEvent(new Event("input"));
        }, 200))"""
    )
    other.wait_text(".typing", f"{name} is writing")
    writer.value("clearInterval(writing)")
    writer.key("Enter")
    other.wait_text(".message", "I do")
    other.wait_gone(".typing", name)


def test_a_room_tells_who_writes_reads_and_comes(pair, window):
    cyd, dan = pair("Cyd", "Dan")
    cyd.press("#new-room")
    cyd.write("#field-roomName", "Lake")
    cyd.press("#room-dialog input[name=member]")
    cyd.press("#room-dialog input[name=public]")
    cyd.press("#room-dialog button", "Make the room")
    cyd.wait_text(".note", "Cyd made the room")
    dan.wait_text(".thread.unread", "Lake")
    cyd.say("Who comes?")
    dan.wait_text(".thread.unread .badge", "2")
    dan.press(".thread", "Lake")
    cyd.wait_text(".meta", "Seen by Dan")
    is_seen_to_write(dan, "Dan", cyd)
    dan.wait_gone(".thread.unread")

    # A user finds it, comes, and goes.
    eve = window("Eve")
    eve.press("#public-rooms")
    eve.press("#room-dialog button", "Join Lake")
    eve.wait_text(".note", "Eve joined")
    dan.wait_text(".note", "Eve joined")
    eve.say("Me too")
    cyd.wait_text(".message", "Me too")
    cyd.press(".talk-head button", "Room")
    cyd.write("#room-rename", "Lake & fire")
    cyd.key("Enter")
    for each in (cyd, dan, eve):
        each.wait_text(".talk-head h2", "Lake & fire")
    eve.press(".talk-head button", "Room")
    eve.press(".room-panel button", "Leave the room")
    eve.wait_text("#conversation", "Choose a chat")
    cyd.wait_text(".note", "Eve left")
    cyd.press(".room-panel button", "Put Dan out")
    dan.wait_text("#conversation", "Choose a chat")
    dan.wait_gone(".thread", "Lake")


def act(window, text, action):
    """Opens the actions of the message with a text, and presses one."""
    window.press(".actions summary", f"Actions for: {text}")
    window.press(".actions[open] button", action)


def test_a_direct_chat_tells_who_writes_reads_and_what_is_unread(pair):
    nat, oli = pair("Nat", "Oli")
    nat.wait_text(".meta", "Seen")
    oli.key("Escape")
    oli.wait_text("#conversation", "Choose a chat")
    for count in ("one", "two", "three"):
        nat.say(count)
    oli.wait_text(".thread.unread .badge", "3")
    assert oli.value("document.title") == "(3) Chat · Hearth"
    nat.wait_gone(".message.pending")
    nat.wait_gone(".meta", "Seen")
    oli.press(".thread", "Nat")
    oli.wait_gone(".thread.unread")
    oli.wait("document.title === 'Chat · Hearth'")
    nat.wait_text(".meta", "Seen")
    is_seen_to_write(oli, "Oli", nat)


def test_what_was_said_is_answered_changed_deleted_and_flagged(pair, server, tmp_path):
    pia, rob = pair("Pia", "Rob")
    pia.say("See https://example.com/a, or ask rob@example.com")
    rob.wait_text(".message a", "https://example.com/a")
    assert links(rob, ".bubble a") == [
        ["https://example.com/a", "noopener noreferrer", "_blank"],
        ["mailto:rob@example.com", "noopener noreferrer", ""],
    ]
    act(rob, "See https", "Reply")
    rob.wait_text(".aim", "Answering Pia: See https")
    rob.say("Thank you")
    pia.wait_text(".quote", "Pia: See https://example.com/a")
    rob.wait_gone(".aim")
    act(rob, "Thank you", "Edit")
    rob.wait("document.querySelector('.composer textarea').value === 'Thank you'")
    rob.say("Thank you very much")
    pia.wait_text(".bubble", "Thank you very much (edited)")
    pia.wait_text(".thread", "Rob: Thank you very much")
    # No user has another's message to change or to take back.
    rob.press(".actions summary", "Actions for: See https")
    assert rob.texts(".actions[open] button") == ["Reply", "Flag"]
    rob.press(".actions[open] button", "Flag")
    rob.wait_notice("Flagged.")
    pia.picture(tmp_path / "said.png")
    act(pia, "See https", "Delete")
    rob.wait_text(".bubble", "Message deleted")
    rob.wait_text(".quote", "Pia: message deleted")
    assert not rob.texts(".bubble a")
    act(rob, "Thank you very much", "Delete")
    pia.wait_text(".thread", "Rob: message deleted")
    # Escape gives up what was begun, and the chat stays.
    act(pia, "Hello Rob", "Edit")
    pia.key("Escape")
    pia.wait_gone(".aim")
    pia.say("Still here")
    rob.wait_text(".bubble", "Still here")
    flags = server.request(
        "GET", "/flags.json?ns=social", None, {"Authorization": "Bearer owner"}
    ).json
    assert [list(each.values()) for each in flags.values()] == [[{token(rob)["uid"]: True}]]


def test_a_room_is_revised_by_those_who_may(pair):
    sam, tom = pair("Sam", "Tom")
    sam.press("#new-room")
    sam.write("#field-roomName", "Shed")
    sam.press("#room-dialog input[name=member]")
    sam.press("#room-dialog input[name=rename]")
    sam.press("#room-dialog button", "Make the room")
    tom.press(".thread", "Shed")
    tom.say("Mine")
    sam.wait_text(".bubble", "Mine")
    act(tom, "Mine", "Edit")
    tom.say("Mine, all mine")
    sam.wait_text(".bubble", "Mine, all mine (edited)")
    sam.wait_text(".thread", "Mine, all mine")
    act(sam, "Mine, all mine", "Reply")
    sam.say("Ours")
    tom.wait_text(".quote", "Tom: Mine, all mine")
    act(sam, "Mine, all mine", "Delete")
    tom.wait_text(".bubble", "Message deleted")
    act(sam, "Ours", "Delete")
    tom.wait_text(".thread", "Sam deleted a message")
    # A member renames the room that says so.
    tom.press(".talk-head button", "Room")
    tom.write("#room-rename", "Barn")
    tom.key("Enter")
    sam.wait_text(".talk-head h2", "Barn")


def test_something_new_is_heard_unless_that_is_turned_off(pair):
    uma, vic = pair("Uma", "Vic")
    vic.key("Escape")
    vic.wait_text("#conversation", "Choose a chat")
    vic.value(
        """void (() => {
            window.tones = 0;
            const make = BaseAudioContext.prototype.createOscillator;
            BaseAudioContext.prototype.createOscillator = function () {
                tones += 1;
                return make.call(this);
            };
        })()"""
    )
    uma.say("one")
    vic.wait_text(".thread.unread .badge", "1")
    assert vic.value("tones") == 2
    vic.press("#sound")
    assert vic.value("document.getElementById('sound').ariaPressed") == "false"
    uma.say("two")
    vic.wait_text(".thread.unread .badge", "2")
    assert vic.value("tones") == 2
    # It stays so.
    vic.reload()
    vic.wait("document.getElementById('sound').ariaPressed === 'false'")
    vic.press("#sound")


def test_links_are_those_of_the_table(window):
    page = window(None)
    examples = json.loads((Path(__file__).parent / "links.json").read_text())
    found = page.value(
        f"""import("/.samples/links.js").then(({{ textLinks }}) => {json.dumps(examples)}.map(({{ text }}) =>
            textLinks(text).map(({{ start, end, address }}) => [text.slice(start, end), address])))"""
    )
    assert found == [example["links"] for example in examples]


def test_older_messages_come_when_one_scrolls_up(pair):
    fay, gil = pair("Fay", "Gil")
    # As fast as the page can.
    fay.value(
        """(async () => {
            const field = document.querySelector(".composer textarea");
            for (let count = 1; count <= 95; count += 1) {
                field.value = `message ${count}`;
                field.form.requestSubmit();
            }
        })()"""
    )
    fay.wait_gone(".message.pending")
    gil.wait_text(".message", "message 95")
    gil.reload()
    gil.press(".thread", "Fay")
    gil.wait_text(".message", "message 95")
    assert gil.value("document.querySelectorAll('.message').length") == 40
    while not gil.value("[...document.querySelectorAll('.bubble')].some((b) => b.innerText === 'message 1')"):
        before = gil.value("document.querySelectorAll('.message').length")
        gil.value("void (document.querySelector('.scroll').scrollTop = 0)")
        gil.wait(f"document.querySelectorAll('.message').length > {before}")
    texts = gil.texts(".message .bubble")
    assert texts == ["Hello Gil"] + [f"message {count}" for count in range(1, 96)]
    gil.wait_gone(".older")


def test_a_refused_message_is_shown_and_can_be_sent_again_or_thrown_away(pair, server):
    hal, ivy = pair("Hal", "Ivy")
    block = f"blocks/{token(ivy)['uid']}/{token(hal)['uid']}"
    write(server, ivy, block, True)
    hal.say("Do you hear me?")
    hal.wait_text(".message.refused", "Not sent: the server's rules do not allow it.")
    hal.say("Hello?")
    hal.wait("document.querySelectorAll('.message.refused').length === 2")
    assert ivy.texts(".message .bubble") == ["Hello Ivy"]
    # One is thrown away, the other arrives once it may.
    hal.press(".message.refused:last-child button", "Discard")
    hal.wait("document.querySelectorAll('.message.refused').length === 1")
    write(server, ivy, block, None)
    hal.press(".message.refused button", "Try again")
    ivy.wait_text(".message", "Do you hear me?")
    hal.wait_gone(".message.refused")
    assert hal.texts(".message .bubble") == ["Hello Ivy", "Do you hear me?"]


def test_a_server_that_is_started_again_is_found_again(pair, server):
    jon, kim = pair("Jon", "Kim")
    server.kill()
    server.process.stdout.close()
    jon.wait("document.getElementById('connection').dataset.state !== 'online'")
    kim.wait("document.getElementById('connection').dataset.state !== 'online'")
    jon.say("Written while it was away")
    jon.wait_text(".message.pending", "Sending")
    server.start()
    kim.wait_text(".message", "Written while it was away")
    jon.wait_gone(".message.pending")
    kim.say("Back again")
    jon.wait_text(".message", "Back again")
    jon.wait_text(".talk-head .state", "online")
    assert jon.texts(".message .bubble") == ["Hello Kim", "Written while it was away", "Back again"]
    # The browser itself says that a connection failed; nothing else went wrong.
    for each in (jon, kim):
        shown = each.value("faults")
        assert all("WebSocket" in fault for fault in shown), shown
        each.value("void (faults.length = 0)")


def test_a_page_over_plain_http_starts_a_chat(browser, server, window):
    """A page of another machine, to which browsers give no digests of their own."""
    kai = window("Kai")
    lou = Window(browser, f"http://{STRANGER}:{server.port}/.samples/chat", width=390).sign_up("Lou")
    assert not lou.value("isSecureContext || Boolean(crypto.subtle)")
    lou.follow("Kai")
    lou.message("Kai")
    lou.say("From a phone")
    kai.wait_text(".thread", "From a phone")
    owner = {"Authorization": "Bearer owner"}
    uids = [server.get(f"/usernames/{name}.json?ns=social", headers=owner).json for name in ("kai", "lou")]
    chats = server.get(f"/chats/{uids[0]}.json?ns=social", headers=owner).json
    text = "".join(f"{len(uid)}:{uid}" for uid in sorted(uids))
    assert list(chats) == [hashlib.sha256(text.encode()).hexdigest()]
    # More than one block, and what is not ASCII.
    for text in ["", "é" * 60, "x" * 55, "x" * 56, "x" * 64, "日本 👍" * 50]:
        digest = lou.value(f"import('/.samples/sha256.js').then((all) => all.sha256({json.dumps(text)}))")
        assert digest == hashlib.sha256(text.encode()).hexdigest(), text
    lou.check()
    lou.close()


def test_wrong_words_at_the_door_are_reported(window):
    lea = window(None)
    lea.sign_in("nobody", "wrong password")
    lea.wait_text(".problem", "There is no account with this e-mail address and password.")
    lea.sign_up("Lea")
    lea.press("#sign-out")
    lea.wait_text("#gate", "Sign in")
    # The name of another user, in other letter case.
    lea.press("#gate button.plain", "Create an account")
    for name, hint in [("LEA", "LEA is taken"), ("Lea2", "")]:
        lea.write("#field-name", name)
        if not hint:
            lea.key("Enter")
            break
        lea.write("#field-email", "other@example.com")
        lea.write("#field-password", "secret")
        lea.key("Enter")
        lea.wait_text(".problem", hint)
    lea.wait_text("#me-name", "Lea2")
    # The browser tells of answers that are refusals.
    shown = lea.value("faults")
    assert all("400" in fault for fault in shown), shown


def test_a_user_who_is_no_longer_known_is_asked_again(pair, server):
    pat, quinn = pair("Pat", "Quinn")
    body = {"idToken": token(pat)["idToken"]}
    gone = server.request("POST", "/identitytoolkit.googleapis.com/v1/accounts:delete?key=any", body)
    assert gone.status == 200
    pat.wait_text(".problem", "You were signed out. Sign in again.")
    quinn.say("Are you gone?")
    quinn.wait_gone(".message.pending")
    # The browser tells of the answer that was a refusal.
    shown = pat.value("faults")
    assert all("400" in fault for fault in shown), shown


def test_all_of_it_is_reached_by_keyboard_alone(window):
    moe = window("Moe")
    ned = window(None)
    ned.wait("document.activeElement.id === 'field-email'")
    focused = "document.activeElement"

    def tab_to(text):
        for _ in range(30):
            ned.key("Tab")
            if ned.value(f"({focused}.ariaLabel ?? {focused}.innerText ?? '').includes({json.dumps(text)})"):
                break
        else:
            raise AssertionError(f"{text!r} is not reached")
        # And one sees where one is.
        assert ned.value(f"{focused}.matches(':focus-visible')")
        assert ned.value(f"getComputedStyle({focused}).outlineStyle") == "solid"

    tab_to("Create an account")
    ned.key("Enter")
    ned.wait(f"{focused}.id === 'field-name'")
    for text in ("Ned", "ned@example.com", "secret"):
        ned.call("Input.insertText", text=text)
        ned.key("Tab")
    ned.key("Enter")
    ned.wait(f"{focused}.id === 'find-people'")
    ned.call("Input.insertText", text="moe")
    ned.wait_text("#found-status", "1 found")
    tab_to("Follow Moe")
    ned.key("Enter")
    ned.wait(f"{focused}.ariaLabel === 'Unfollow Moe'")
    ned.key("Tab", modifiers=8)
    assert ned.value(f"{focused}.ariaLabel") == "Message Moe"
    ned.key("Enter")
    ned.wait(f"{focused}.ariaLabel === 'Message'")
    ned.call("Input.insertText", text="Not one click")
    ned.key("Enter")
    moe.wait_text(".thread", "Not one click")
    # Back to the list, to where one was, and in again.
    ned.wait_text(".thread", "Moe")
    ned.key("Escape")
    ned.wait(f"{focused}.className.includes('thread')")
    ned.key("Enter")
    ned.wait(f"{focused}.ariaLabel === 'Message'")
    ned.key("Escape")
    # A dialog takes the focus, and gives it back.
    ned.wait(f"{focused}.className.includes('thread')")
    for _ in range(5):
        if ned.value(f"{focused}.id") == "new-room":
            break
        ned.key("Tab", modifiers=8)
    ned.key("Space")
    ned.wait(f"{focused}.id === 'field-roomName'")
    ned.key("Escape")
    ned.wait("!document.getElementById('room-dialog').open")
    assert ned.value(f"{focused}.id") == "new-room"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_light_and_dark_and_fits_a_narrow_screen(pair, scheme, tmp_path):
    ana, _ = pair(
        f"Ana-{scheme}",
        f"Bea-{scheme}",
        width=360,
        height=640,
        media={"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"},
    )
    assert ana.head_is_one_row()
    ana.say("a-very-long-word-" * 30)
    ana.wait_gone(".message.pending")
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert ana.value(fits)
    assert contrast_faults(ana) == []
    # One thing at a time, and a way back.
    assert not ana.value("document.getElementById('threads').checkVisibility()")
    ana.press(".back")
    ana.wait_text(".thread", f"Bea-{scheme}")
    assert ana.value(fits)
    assert contrast_faults(ana) == []
    ana.picture(tmp_path / "narrow.png")
    brightness = ana.value("getComputedStyle(document.body).backgroundColor")
    red = int(brightness.removeprefix("rgb(").split(",")[0])
    assert (red < 64) == (scheme == "dark")
    assert ana.value("getComputedStyle(document.querySelector('button')).transitionDuration") == "0s"
