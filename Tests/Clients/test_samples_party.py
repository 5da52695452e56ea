"""The party page as several people use it, each in a window of their own."""

import json
import struct
import urllib.parse
import zlib
from pathlib import Path

import pytest

from chat_people import wait_for
from hearth_server import Hearth
from page_requests import disturb, release
from sample_pages import Window, contrast_faults, links

OWNER = {"Authorization": "Bearer owner"}


@pytest.fixture(scope="module")
def server():
    with Hearth("--samples") as server:
        yield server


@pytest.fixture
def window(browser, server):
    windows = []

    def open_window(name, **options):
        window = Window(browser, f"http://localhost:{server.port}/.samples/party", **options)
        windows.append(window)
        return window.sign_up(name, email=f"{name.lower().replace(' ', '.')}@example.com")

    yield open_window
    for each in windows:
        each.check()
        each.close()


def answer(person, text, button="Accept"):
    """Presses a button of the question that says something: an older one may stand until its answer has come back."""
    person.wait(
        f"""(() => {{
            const questions = [...document.querySelectorAll(".question")].filter((each) => each.checkVisibility());
            const question = questions.find((each) => each.innerText.includes({json.dumps(text)}));
            const pressed = [...question.querySelectorAll("button")].find((each) => each.innerText === {json.dumps(button)});
            if (pressed.disabled) return false;
            pressed.click();
            return true;
        }})()"""
    )


def befriend(one, email, other, name):
    one.write("#friend-email", email)
    one.key("Enter")
    answer(other, "asks to be your friend")
    one.wait_text("#friends", name)


def invite(host, description):
    host.press("#new-party")
    host.write("#field-description", description)
    host.press("#party-dialog button", "Make the party")
    host.wait_text(".party-card", description)


def png(path, width=640, height=480):
    """A picture wider than photos are kept."""
    row = b"\0" + bytes(value for x in range(width) for value in (x * 255 // width, 90, 120))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(row * height)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b""))
    return str(path)


def upload(window, file):
    # The element itself: a card that is drawn anew meanwhile has another.
    window.wait("document.querySelector('.upload input') !== null")
    element = window.call("Runtime.evaluate", expression="document.querySelector('.upload input')")["result"]
    window.call("DOM.setFileInputFiles", objectId=element["objectId"], files=[file])


def photo_count(window, count):
    window.wait(f"document.querySelectorAll('.party-card .photos img').length === {count}")


def test_an_evening_from_the_first_friend_to_the_end(window, tmp_path):
    ann, bob, cyd = window("Ann Lee"), window("Bob"), window("Cyd")
    ann.write("#friend-email", "nobody@example.com")
    ann.key("Enter")
    ann.wait_notice("Could not ask nobody@example.com: no account here has this address.", "alerts")
    befriend(ann, "bob@example.com", bob, "Bob")
    befriend(ann, "cyd@example.com", cyd, "Cyd")

    # All friends are invited; one comes, one does not, and is asked again.
    invite(ann, "Midsummer <i>at the lake</i>")
    bob.wait_text(".question", "Ann Lee invites you: Midsummer <i>at the lake</i>")
    assert bob.value("document.querySelectorAll('.question i, .question b, h3 i').length") == 0
    answer(bob, "invites you")
    ann.wait_text(".guest.coming", "Bob")
    bob.wait_text(".party-card", "Party of Ann Lee")
    answer(cyd, "invites you", "Refuse")
    ann.wait_text(".guest.refused", "Cyd")
    bob.wait_text(".guest.refused", "Cyd")
    cyd.wait_gone(".party-card", "Midsummer")
    ann.press(".guest button", "Ask Cyd again")
    cyd.wait_text(".question", "Midsummer")
    answer(cyd, "invites you")
    ann.wait_text(".guest.coming", "Cyd")

    # The host changes it, and everybody sees that.
    ann.press(".party-card button", "Change")
    ann.write("#field-description", "Midsummer in the garden")
    ann.press("#party-dialog button", "Change")
    for each in (ann, bob, cyd):
        each.wait_text(".party-card h3", "Midsummer in the garden")

    # A guest's photo waits for the host; the host's own does not.
    file = png(tmp_path / "photo.png")
    upload(bob, file)
    ann.wait_text(".question", "has a photo for")
    ann.wait("document.querySelector('.question img').naturalWidth === 300")
    answer(ann, "has a photo for")
    for each in (ann, bob, cyd):
        photo_count(each, 1)
    upload(ann, file)
    for each in (ann, bob, cyd):
        photo_count(each, 2)
    cyd.wait("document.querySelector('.party-card .photos img').naturalHeight === 225")
    # The uploader takes the bytes away, and the host's page the key.
    bob.press(".photos button", "Remove this photo by Bob")
    for each in (ann, bob, cyd):
        photo_count(each, 1)

    # A guest who cannot come says so, and does not see it any more.
    cyd.press(".party-card button", "I cannot come")
    ann.wait_text(".guest.refused", "Cyd")
    cyd.wait_text("#no-parties", "No parties yet")

    # Cancelled, it is gone for everybody.
    ann.press(".party-card button", "Cancel the party")
    ann.press("#party-dialog button.danger", "Cancel the party")
    ann.wait_text("#no-parties", "No parties yet")
    bob.wait_text("#no-parties", "No parties yet")
    bob.wait_notice("Ann Lee has cancelled a party.")
    # And so is a friendship that one ends.
    ann.press("#friends button", "End the friendship with Bob")
    bob.wait_text("#no-friends", "No friends yet")


def give_photo(window, how, content, name="lake.png"):
    window.give(how, name, content, "image/png", ".party-card h3", ".upload input")


def test_photos_are_dropped_and_pasted_and_shown_while_they_go_up(window, tmp_path):
    lou = window("Lou")
    invite(lou, "Swimming")
    content = Path(png(tmp_path / "photo.png")).read_bytes()
    for count, how in enumerate(("picker", "drop", "paste"), start=1):
        # The bytes are there, and the update that links them is held.
        disturb(lou, "photos/", "held")
        lou.wait("window.release === null")
        give_photo(lou, how, content)
        lou.wait("window.release")
        lou.value("release()")
        photo_count(lou, count)
        lou.wait_gone(".sendings")
    # To the page as a whole, which has one party.
    lou.give("paste", "all.png", content, "image/png", "body", "")
    photo_count(lou, 4)
    invite(lou, "Diving")
    lou.give("drop", "which.png", content, "image/png", "body", "")
    lou.wait_notice("Drop pictures on a party", "alerts")
    give_photo(lou, "drop", b"no picture at all", "no.png")
    lou.wait_notice("Could not add no.png: the file is no picture.", "alerts")
    assert lou.value("document.querySelectorAll('.sendings').length") == 0


def test_a_photo_that_is_cut_is_added_when_it_is_tried_again_and_leaves_nothing_when_it_is_discarded(
    window, server, tmp_path
):
    mia, ned = window("Mia"), window("Ned")
    befriend(mia, "ned@example.com", ned, "Ned")
    invite(mia, "Rowing")
    answer(ned, "invites you")
    ned.wait_text(".party-card", "Party of Mia")
    content = Path(png(tmp_path / "photo.png")).read_bytes()
    ned.cut_files("party")
    give_photo(ned, "drop", content, "one.png")
    give_photo(ned, "paste", content, "two.png")
    ned.wait("document.querySelectorAll('.sendings li.refused').length === 2")
    ned.wait_notice("two.png was not sent: the server cannot be reached.", "alerts")
    assert ned.texts(".sendings li span") == ["Not sent: the server cannot be reached."] * 2
    assert ned.value("[...document.querySelectorAll('.sendings img')].every((image) => image.naturalWidth === 300)")
    assert len(read(server, f"users/{uid(ned)}/uploads")) == 2
    ned.press(".sendings button", "Discard")
    ned.wait("document.querySelectorAll('.sendings li').length === 1")
    ned.reach_files()
    ned.press(".sendings button", "Try again")
    ned.wait_gone(".sendings")
    ned.wait_notice("Mia was asked to add your photo.")
    answer(mia, "has a photo for")
    photo_count(mia, 1)
    wait_for(lambda: read(server, f"users/{uid(ned)}/uploads") is None)
    assert [photo["owner"] for photo in read(server, "photos").values() if photo["owner"] == uid(ned)] == [uid(ned)]


def test_an_upload_whose_answer_is_lost_is_not_made_twice(window, server, tmp_path):
    ola = window("Ola")
    invite(ola, "Fishing")
    # The bytes arrive, and the page does not learn so.
    ola.value(
        """void ((send) => {
            XMLHttpRequest.prototype.send = function (content) {
                XMLHttpRequest.prototype.send = send;
                const { onerror } = this;
                this.onload = onerror;
                send.call(this, content);
            };
        })(XMLHttpRequest.prototype.send)"""
    )
    upload(ola, png(tmp_path / "photo.png"))
    ola.wait_text(".sendings", "Not sent: the server cannot be reached.")
    ola.press(".sendings button", "Try again")
    photo_count(ola, 1)
    assert len([photo for photo in read(server, "photos").values() if photo["owner"] == uid(ola)]) == 1


def test_friends_see_the_picture_of_a_person_whose_earlier_one_is_gone(window, server, tmp_path):
    ivo, jil = window("Ivo"), window("Jil")
    befriend(ivo, "jil@example.com", jil, "Jil")
    content = Path(png(tmp_path / "me.png")).read_bytes()
    give = lambda: ivo.give("drop", "me.png", content, "image/png", ".picture-dialog", "")
    addresses = []
    for _ in range(2):
        ivo.press(".own-face", "Your picture")
        ivo.cut_files("party")
        give()
        ivo.wait_text(".picture-dialog", "Not sent: the server cannot be reached.")
        wait_for(lambda: read(server, f"users/{uid(ivo)}/pictures") is None)
        ivo.reach_files()
        ivo.press(".picture-dialog button", "Try again")
        ivo.wait_gone(".picture-dialog")
        wait_for(lambda: read(server, f"profiles/{uid(ivo)}/picture") not in [None, *addresses])
        addresses.append(read(server, f"profiles/{uid(ivo)}/picture"))
        ivo.wait(f"document.querySelector('.own-face img').src === {json.dumps(addresses[-1])}")
    wait_for(lambda: read(server, f"users/{uid(ivo)}/pictures") is None)
    jil.reload()
    jil.wait("document.querySelector('#friends img.face').naturalWidth === 300")
    paths = [urllib.parse.urlsplit(address) for address in addresses]
    assert [server.get(f"{each.path}?{each.query}").status for each in paths] == [403, 200]
    # What a cut leaves of an update that was not made goes at the next start.
    note = f"/users/{uid(ivo)}/pictures/-cut.json?ns=party"
    assert server.put(note, True, headers=OWNER).status == 200
    ivo.reload()
    wait_for(lambda: read(server, f"users/{uid(ivo)}/pictures") is None)
    ivo.press(".own-face", "Your picture")
    ivo.press(".picture-dialog button", "Remove the picture")
    ivo.wait("document.querySelector('.own-face span.face').innerText === 'I'")
    wait_for(lambda: server.get(f"{paths[1].path}?{paths[1].query}").status == 403)
    assert read(server, f"profiles/{uid(ivo)}") == {"name": "Ivo"}


def test_a_guest_suggests_a_friend_whom_the_host_invites(window):
    dan, eve, fay = window("Dan"), window("Eve"), window("Fay")
    befriend(dan, "eve@example.com", eve, "Eve")
    befriend(eve, "fay@example.com", fay, "Fay")
    invite(dan, "Chess")
    answer(eve, "invites you")
    eve.wait_text(".party-card", "Chess")
    eve.wait("document.querySelector('.suggest')")
    eve.value(
        """(() => {
            const select = document.querySelector(".suggest");
            select.selectedIndex = 1;
            select.dispatchEvent(new Event("change"));
        })()"""
    )
    dan.wait_text(".question", "Eve suggests that you invite Fay to “Chess”.")
    answer(dan, "suggests")
    eve.wait_notice("Dan has invited whom you suggested.")
    fay.wait_text(".question", "Dan invites you: Chess")
    fay.wait_text(".question", "Dan asks to be your friend.")
    answer(fay, "asks to be your friend")
    answer(fay, "invites you")
    dan.wait_text(".guest.coming", "Fay")
    dan.wait_text("#friends", "Fay")


def test_answers_that_waited_are_applied_when_their_owner_comes_back(window):
    gil, hal = window("Gil"), window("Hal")
    befriend(gil, "hal@example.com", hal, "Hal")
    invite(gil, "Reading")
    gil.leave()
    answer(hal, "invites you")
    hal.wait_text(".party-card", "Reading")
    hal.press(".party-card button", "I cannot come")
    hal.wait_text("#no-parties", "No parties yet")
    gil.come_back()
    # The last word counts.
    gil.wait_text(".guest.refused", "Hal")
    gil.wait("document.getElementById('connection').dataset.state === 'online'")
    assert gil.texts(".guest .answer") == ["does not come"]


def test_an_invitation_to_a_party_that_is_gone_can_be_put_away(window):
    ivy, jon = window("Ivy"), window("Jon")
    befriend(ivy, "jon@example.com", jon, "Jon")
    invite(ivy, "Skating")
    jon.wait_text(".question", "Skating")
    ivy.press(".party-card button", "Cancel the party")
    ivy.press("#party-dialog button.danger", "Cancel the party")
    jon.wait_text(".question", "a party that is no longer on")
    answer(jon, "no longer on", "Dismiss")
    jon.wait_text("#no-inbox", "Nothing to answer")


def session(window, part):
    return window.value(f"JSON.parse(sessionStorage['hearth.samples.session']).{part}")


def uid(window):
    return session(window, "uid")


def read(server, path):
    """What is there, for every user."""
    return server.get(f"/{path}.json?ns=party", headers=OWNER).json


def only_party(server, host):
    """The key of the one party of a host, and what is there."""
    [key] = read(server, f"users/{uid(host)}/ownedParties")
    return key, read(server, f"parties/{key}")


def message(sender, receiver, kind, content, **more):
    """A message as an old client, or one that a developer wrote, writes it: without a time."""
    return {
        "from": sender,
        "to": receiver,
        "messageType": kind,
        "messageContent": content,
        "party": "null",
        "photo": "null",
        **more,
    }


def test_a_guest_cannot_take_the_photo_of_another_off(window, server, tmp_path):
    mae, nic, oda = window("Mae"), window("Nic"), window("Oda")
    befriend(mae, "nic@example.com", nic, "Nic")
    befriend(mae, "oda@example.com", oda, "Oda")
    invite(mae, "Kites")
    for guest, name in ((nic, "Nic"), (oda, "Oda")):
        answer(guest, "invites you")
        mae.wait_text(".guest.coming", name)
    upload(nic, png(tmp_path / "photo.png"))
    answer(mae, "has a photo for")
    photo_count(mae, 1)
    key, party = only_party(server, mae)
    [photo] = party["photos"]
    forged = message(uid(oda), uid(mae), "image_uploaded", "refuse", party=key, photo=photo)
    place = f"/messages/{uid(mae)}/forged.json?ns=party&auth={session(oda, 'idToken')}"
    assert server.put(place, forged).status == 200
    # What comes later is applied later.
    oda.press(".party-card button", "I cannot come")
    mae.wait_text(".guest.refused", "Oda")
    assert read(server, f"messages/{uid(mae)}") is None
    assert list(only_party(server, mae)[1]["photos"]) == [photo]
    photo_count(mae, 1)
    # Nic's own word counts, as ever.
    nic.press(".photos button", "Remove this photo by Nic")
    photo_count(mae, 0)


def test_a_suggestion_of_a_guest_who_comes_meanwhile_leaves_them_be(window, server):
    pam, qin, ray = window("Pam"), window("Qin"), window("Ray")
    befriend(pam, "qin@example.com", qin, "Qin")
    befriend(qin, "ray@example.com", ray, "Ray")
    invite(pam, "Go")
    answer(qin, "invites you")
    qin.wait("document.querySelector('.suggest')")
    qin.value(
        """(() => {
            const select = document.querySelector(".suggest");
            select.selectedIndex = 1;
            select.dispatchEvent(new Event("change"));
        })()"""
    )
    pam.wait_text(".question", "Qin suggests that you invite Ray to “Go”.")
    befriend(pam, "ray@example.com", ray, "Ray")
    pam.press(".guest button", "Invite Ray")
    answer(ray, "invites you")
    pam.wait_text(".guest.coming", "Ray")
    answer(pam, "suggests")
    pam.wait_text("#no-inbox", "Nothing to answer")
    assert only_party(server, pam)[1]["guests"] == {uid(qin): True, uid(ray): True}
    # No second invitation.
    assert read(server, f"messages/{uid(ray)}") is None


def test_an_old_yes_does_not_bring_back_whom_the_host_took_off(window, server):
    sal, tim = window("Sal"), window("Tim")
    befriend(sal, "tim@example.com", tim, "Tim")
    invite(sal, "Bowls")
    key, _ = only_party(server, sal)
    host, guest = uid(sal), uid(tim)
    sal.leave()
    answer(tim, "invites you")
    tim.wait_text(".party-card", "Bowls")
    taken_off = server.request("DELETE", f"/parties/{key}/guests/{guest}.json?ns=party", headers=OWNER)
    assert taken_off.status == 200
    # What comes later is applied later.
    tim.press("#friends button", "End the friendship with Sal")
    tim.wait_text("#no-friends", "No friends yet")
    sal.come_back()
    sal.wait_text("#no-friends", "No friends yet")
    assert "guests" not in read(server, f"parties/{key}")
    assert read(server, f"messages/{host}") is None


def test_messages_without_a_time_come_last(window, server):
    uma, vic, wes = window("Uma"), window("Vic"), window("Wes")
    for key, sender, more in (("-A", vic, {}), ("-Z", wes, {"sentAt": 1})):
        request = message(uid(sender), uid(uma), "friend_request", "invite", **more)
        assert server.put(f"/messages/{uid(uma)}/{key}.json?ns=party", request, headers=OWNER).status == 200
    uma.wait_text(".question", "Vic asks")
    uma.wait_text(".question", "Wes asks")
    assert [text.split()[0] for text in uma.texts(".question p")] == ["Wes", "Vic"]


@pytest.mark.parametrize("fate", ["lost", "unanswered", "late"])
def test_what_is_made_while_the_connection_is_cut_is_made_once(window, server, tmp_path, fate):
    xia, yul = window(f"Xia {fate}"), window(f"Yul {fate}")
    befriend(xia, f"yul.{fate}@example.com", yul, f"Yul {fate}")

    def is_disturbed():
        xia.wait("disturbed")
        assert xia.texts("#alerts .toast") == []

    disturb(xia, "parties/", fate)
    invite(xia, "Tea")
    xia.wait("!document.getElementById('party-dialog').open")
    is_disturbed()
    only_party(server, xia)
    assert len(read(server, f"messages/{uid(yul)}")) == 1

    # A photo: its bytes, and then what links to them.
    for count, part in ((1, '"file"'), (2, "parties/")):
        disturb(xia, part, fate)
        upload(xia, png(tmp_path / "photo.png"))
        photo_count(xia, count)
        is_disturbed()
    photos = [photo for photo in read(server, "photos").values() if photo["owner"] == uid(xia)]
    assert len(photos) == len(only_party(server, xia)[1]["photos"]) == 2

    answer(yul, "invites you")
    xia.wait_text(".guest.coming", "Yul")
    disturb(xia, "parties/", fate)
    xia.press(".party-card button", "Cancel the party")
    xia.press("#party-dialog button.danger", "Cancel the party")
    xia.wait_text("#no-parties", "No parties yet")
    xia.wait("!document.getElementById('party-dialog').open")
    is_disturbed()
    yul.wait_text("#no-parties", "No parties yet")


def test_a_party_that_is_made_late_closes_no_other_dialog(window):
    zoe = window("Zoe")
    disturb(zoe, "parties/", "held")
    zoe.press("#new-party")
    zoe.write("#field-description", "The first")
    zoe.press("#party-dialog button", "Make the party")

    def go_on():
        zoe.press("#party-dialog button", "Cancel")
        zoe.press("#new-party")
        zoe.write("#field-description", "The second")

    release(zoe, go_on)
    zoe.wait_text(".party-card", "The first")
    zoe.press("#party-dialog button", "Make the party")
    zoe.wait_text(".party-card", "The second")
    zoe.wait("!document.getElementById('party-dialog').open")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_light_and_dark_and_fits_a_narrow_screen(window, scheme):
    media = {"prefers-color-scheme": scheme}
    kim = window(f"Kim {scheme}", width=360, height=640, media=media)
    assert kim.head_is_one_row()
    lea = window(f"Lea {scheme}", width=360, height=640, media=media)
    befriend(kim, f"lea.{scheme}@example.com", lea, "Lea")
    invite(kim, "A party with a rather long name, and a-very-long-word-" + "on-and-" * 20 + ", www.example.com/party")
    lea.wait_text(".question", "invites you")
    for each, place in ((kim, ".party-card h3 a"), (lea, ".question a")):
        assert links(each, place) == [["https://www.example.com/party", "noopener noreferrer", "_blank"]]
    for each in (kim, lea):
        assert each.value("document.documentElement.scrollWidth <= innerWidth")
        assert contrast_faults(each) == []
    # A dialog, too.
    kim.press(".party-card button", "Change")
    assert contrast_faults(kim) == []
    kim.write("#field-description", "Tea\nAsk me: kim@example.com")
    kim.press("#party-dialog button", "Change")
    kim.wait_text(".party-card .more a", "kim@example.com")
    assert links(kim, ".party-card a") == [["mailto:kim@example.com", "noopener noreferrer", ""]]
