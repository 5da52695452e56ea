"""The timeline page as several people use it, each in a window of their own."""

import base64
import urllib.error
import urllib.parse
import urllib.request

import pytest

from chat_people import PNG, wait_for
from hearth_server import Hearth
from page_requests import disturb, release
from sample_pages import Window, contrast_faults, links

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
OWNER = {"Authorization": "Bearer owner"}


@pytest.fixture(scope="module")
def server():
    with Hearth("--samples") as server:
        yield server


@pytest.fixture
def window(browser, server):
    windows = []

    def open_window(name, **options):
        window = Window(browser, f"http://localhost:{server.port}/.samples/timeline", **options)
        windows.append(window)
        return window.sign_up(name)

    yield open_window
    for each in windows:
        each.check()
        each.close()


def post(window, words):
    window.write("#card-text", words)
    window.press("#compose button.primary")
    window.wait_text("#compose", "Post")
    window.wait("document.getElementById('card-text').value === ''")


def show(window, *alts):
    """Waits until these are the posts, newest first."""
    expected = "|".join(alts)
    window.wait(f"[...document.querySelectorAll('.post .picture')].map((p) => p.alt).join('|') === {expected!r}")


def likes(window, count, is_pressed):
    """Waits until the newest post has so many likes, and one's own or not."""
    window.wait(
        f"""(() => {{
            const like = document.querySelector(".post .like");
            return like.innerText.trim() === {count!r} && like.ariaPressed === {is_pressed!r};
        }})()"""
    )


def test_what_one_posts_the_others_see_and_like(window):
    ann, bob, cyd = window("Ann"), window("Bob"), window("Cyd")
    post(bob, "Before anybody follows me")
    ann.follow("Bob")
    # Following brings what was there before.
    show(ann, "Card by Bob: Before anybody follows me")
    cyd.follow("Bob")
    post(bob, "Live <b>& 'all'</b> \"of it\"")
    newest = "Card by Bob: Live <b>& \\'all\\'</b> \"of it\""
    for each in (ann, cyd, bob):
        each.wait("document.querySelectorAll('.post').length === 2")
        text = each.value("document.querySelector('.post .picture').alt")
        assert text == newest.replace("\\", "")
        each.wait("[...document.querySelectorAll('.post .picture')].every((p) => p.naturalWidth > 0)")

    # Likes of all at once are counted exactly, everywhere.
    for each in (ann, bob, cyd):
        each.value("void document.querySelector('.post .like').click()")
    for each in (ann, bob, cyd):
        likes(each, "3 likes", "true")
    # A press is of no use before the one before it is done.
    bob.wait(
        """(() => {
            const like = document.querySelector(".post .like");
            if (like.ariaPressed === "true") like.click();
            return like.ariaPressed === "false";
        })()"""
    )
    for each, is_pressed in ((ann, "true"), (bob, "false"), (cyd, "true")):
        likes(each, "2 likes", is_pressed)
    bob.wait("document.querySelector('.post .like').ariaLabel === 'Like this post of Bob, 2 likes'")

    # A post that is deleted is gone from every timeline; who no longer follows sees none.
    bob.press(".post:first-child button", "Delete this post")
    bob.wait_text(".post:first-child button", "Really?")
    # A user who does something else meanwhile has not meant it.
    bob.write("#card-text", "")
    bob.wait_gone(".post button", "Really?")
    for _ in range(2):
        bob.press(".post:first-child button", "Delete this post")
    for each in (ann, bob, cyd):
        show(each, "Card by Bob: Before anybody follows me")
    ann.press("#following button", "Unfollow Bob")
    ann.wait_text("#no-posts", "Nothing here yet")


def test_a_refused_like_is_rolled_back_and_shown_once(window, server):
    dan = window("Dan")
    post(dan, "Like me")
    dan.wait_text(".like", "0 likes")
    closed = {"rules": {".read": "auth != null", ".write": False}}
    assert server.put("/.settings/rules.json?ns=social", closed).status == 200
    dan.press(".like")
    dan.wait_notice("Could not like the post: the server's rules do not allow it.", "alerts")
    likes(dan, "0 likes", "false")
    dan.write("#card-text", "Not this one")
    dan.press("#compose button.primary")
    dan.wait_text("#compose-problem", "Could not post: the server's rules do not allow it.")
    # What was written is still there, to be tried again.
    assert dan.value("document.getElementById('card-text').value") == "Not this one"
    assert dan.value("noticed.alerts.length") == 1
    show(dan, "Card by Dan: Like me")
    assert server.request("DELETE", "/.settings/rules.json?ns=social").status == 200
    dan.press("#compose button.primary")
    dan.wait("document.querySelectorAll('.post').length === 2")


def test_a_picture_is_posted_by_its_address(window):
    eve = window("Eve")
    eve.press("#compose input[value=address]")
    for address, problem in [
        ("javascript:alert(1)", "Write the whole address of a picture"),
        ("data:image/png;base64,AAAA", "There is no picture at this address."),
    ]:
        eve.write("#address", address)
        eve.press("#compose button.primary")
        eve.wait_text("#compose-problem", problem)
    eve.write("#address", PIXEL)
    eve.press("#compose button.primary")
    show(eve, "Picture by Eve")
    assert eve.value("document.querySelector('.post .picture').getAttribute('src')") == PIXEL


def test_a_picture_of_ones_own_is_posted_and_goes_with_its_post(window, server):
    una, uli = window("Una"), window("Uli")
    uli.write("#find-people", "Una")
    uli.press("#found-people button", "Follow Una")
    for how in ("picker", "drop", "paste"):
        una.press("#compose input[value=file]")
        una.give(how, "lake.png", PNG, "image/png", "#compose", "#file")
        una.press("#compose button.primary")
        show(uli, "Picture by Una")
        uli.wait("document.querySelector('.post .picture').naturalWidth === 400")
        address = uli.value("document.querySelector('.post .picture').src")
        assert urllib.request.urlopen(address).read() == PNG
        una.press(".post button", "Delete this post")
        una.press(".post button", "press again")
        show(uli)
        wait_for(lambda: server.request("GET", "/uploads.json?ns=social", None, OWNER).json is None)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address)
    una.press("#compose input[value=file]")
    una.press("#compose button.primary")
    una.wait_text("#compose-problem", "Choose a picture.")


def test_a_picture_that_is_cut_is_posted_when_it_is_tried_again_and_leaves_nothing_when_it_is_discarded(window, server):
    ula = window("Ula")
    uid = ula.value("JSON.parse(sessionStorage['hearth.samples.session']).uid")
    notes = f"/uploads/{uid}.json?ns=social"
    known = lambda: set(server.request("GET", notes, None, OWNER).json or {})
    ula.cut_files("social")
    earlier = set()
    for name in ("lake.png", "wood.png"):
        # Another picture takes the place of one that was refused.
        ula.give("drop", name, PNG, "image/png", "#compose", "#file")
        ula.press("#compose button.primary")
        wait_for(lambda: len(known()) == 1 and known() != earlier)
        earlier = known()
        ula.wait_text("#file-progress", "Not sent: the server cannot be reached.")
    ula.reach_files()
    ula.press("#file-progress button", "Try again")
    show(ula, "Picture by Ula")
    ula.wait("document.getElementById('file-progress').innerText === ''")
    ula.cut_files("social")
    ula.give("paste", "sea.png", PNG, "image/png", "#compose", "#file")
    ula.press("#compose button.primary")
    ula.press("#file-progress button", "Discard")
    assert ula.value("document.getElementById('file').files.length") == 0
    wait_for(lambda: server.request("GET", notes, None, OWNER).json is None)
    ula.press("#compose button.primary")
    ula.wait_text("#compose-problem", "Choose a picture.")
    show(ula, "Picture by Ula")


def test_posts_show_the_picture_of_who_posts(window):
    ida, ike = window("Ida"), window("Ike")
    ike.write("#find-people", "Ida")
    ike.press("#found-people button", "Follow Ida")
    ida.press(".own-face", "Your picture")
    ida.give("drop", "me.png", PNG, "image/png", ".picture-dialog", "")
    ida.wait_gone(".picture-dialog")
    ida.write("#card-text", "hello")
    ida.press("#compose button.primary")
    ida.wait("document.querySelector('.post-head img.face').naturalWidth === 300")
    ike.reload()
    for place in (".post-head", "#following"):
        ike.wait(f"document.querySelector('{place} img.face').naturalWidth === 300")


def test_a_card_that_is_too_long_is_reported_before_it_is_posted(window):
    fay = window("Fay")
    fay.write("#card-text", "\U0001f525" * 80)
    fay.wait("!document.getElementById('card-preview').hidden || document.getElementById('compose-problem').innerText")
    address = fay.value("document.getElementById('card-preview').src")
    problem = fay.value("document.getElementById('compose-problem').innerText")
    assert problem == "That is too much for a card. Write fewer words." or len(address) <= 2000
    fay.write("#card-text", "\u6f22\u5b57 and words")
    fay.wait("!document.getElementById('card-preview').hidden")
    address = urllib.parse.unquote(fay.value("document.getElementById('card-preview').src"))
    assert len(address) <= 2000


def test_older_posts_are_shown_on_demand(window):
    gil = window("Gil")
    gil.value(
        """(async () => {
            const form = document.getElementById("compose");
            for (let count = 1; count <= 23; count += 1) {
                form.elements.text.value = `card ${count}`;
                form.requestSubmit();
                while (form.ariaBusy) await new Promise((resolve) => setTimeout(resolve, 5));
            }
        })()"""
    )
    gil.wait("document.querySelectorAll('.post').length === 20")
    gil.press("#more-posts")
    gil.wait("document.querySelectorAll('.post').length === 23")
    alts = gil.value("[...document.querySelectorAll('.post .picture')].map((p) => p.alt)")
    assert alts == [f"Card by Gil: card {count}" for count in range(23, 0, -1)]


def uid(window):
    return window.value("JSON.parse(sessionStorage['hearth.samples.session']).uid")


def read(server, path):
    """What is there, for every user."""
    return server.get(f"/{path}.json?ns=social", headers=OWNER).json


def change(server, places):
    """Changes several places as another client would have."""
    answer = server.request("PATCH", "/.json?ns=social", places, headers=OWNER)
    assert answer.status == 200, answer.text


@pytest.mark.parametrize("fate", ["lost", "unanswered", "late"])
def test_a_post_whose_connection_is_cut_is_posted_once(window, server, fate):
    ian = window(f"Ian-{fate}")
    disturb(ian, "postOwners/", fate)
    post(ian, "Once")
    show(ian, f"Card by Ian-{fate}: Once")
    assert ian.value("disturbed")
    assert len(read(server, f"posts/{uid(ian)}")) == 1
    assert ian.texts("#compose-problem") == [""]


@pytest.mark.parametrize("fate", ["lost", "unanswered"])
def test_a_post_whose_connection_is_cut_while_it_is_deleted_goes_without_a_complaint(window, server, fate):
    joy = window(f"Joy-{fate}")
    post(joy, "Not for long")
    disturb(joy, "postLikes/", fate)
    for _ in range(2):
        joy.press(".post button", "Delete this post")
    joy.wait("disturbed && document.getElementById('connection').dataset.state === 'online'")
    joy.wait_text("#no-posts", "Nothing here yet")
    assert joy.texts("#alerts .toast") == []
    assert read(server, f"posts/{uid(joy)}") is None


def test_who_follows_gets_what_is_posted_meanwhile(window, server):
    ken, liv = window("Ken"), window("Liv")
    poster, old, new = uid(liv), "-A" + "0" * 18, "-B" + "0" * 18

    def posted(key):
        return {
            f"postOwners/{key}": poster,
            f"posts/{poster}/{key}": {
                "image_url": PIXEL,
                "image_height": 600,
                "created_at": 1,
                "like_count": 0,
                "poster": {"uid": poster, "username": "Liv"},
            },
            f"timeline/{poster}/{key}/poster_uid": poster,
        }

    change(server, posted(old))
    show(liv, "Picture by Liv")
    disturb(ken, "following/", "held")
    ken.write("#find-people", "Liv")
    ken.press("#found-people button", "Follow Liv")
    release(ken, lambda: change(server, posted(new)))
    ken.wait_text("#found-people button[aria-pressed=true]", "Following")
    show(ken, "Picture by Liv", "Picture by Liv")
    # What is taken back meanwhile makes the update one that is refused: it is made again.
    ken.press("#following button", "Unfollow Liv")
    ken.wait_text("#no-posts", "Nothing here yet")
    # Pressed while it still shows that Ken follows her, the button would unfollow once more.
    ken.wait_text("#found-people button[aria-pressed=false]", "Follow")
    disturb(ken, "following/", "held")
    ken.press("#found-people button", "Follow Liv")
    release(ken, lambda: change(server, dict.fromkeys(posted(old))))
    show(ken, "Picture by Liv")
    assert list(read(server, f"timeline/{uid(ken)}")) == [new]


def test_who_follows_while_a_post_is_on_its_way_gets_it(window, server):
    mia, ned = window("Mia"), window("Ned")
    disturb(mia, "postOwners/", "held")
    mia.write("#card-text", "On its way")
    mia.press("#compose button.primary")
    # Not by the page, which would look for itself.
    edges = {f"following/{uid(ned)}/{uid(mia)}": True, f"followers/{uid(mia)}/{uid(ned)}": True}
    release(mia, lambda: change(server, edges))
    show(mia, "Card by Mia: On its way")
    show(ned, "Card by Mia: On its way")


def test_entries_whose_posts_are_gone_make_room_for_older_ones(window, server):
    ola = window("Ola")
    post(ola, "Still here")
    gone = {f"timeline/{uid(ola)}/-z{number:018}/poster_uid": "nobody" for number in range(45)}
    ola.leave()
    change(server, gone)
    ola.come_back()
    show(ola, "Card by Ola: Still here")
    ola.wait("document.getElementById('more-posts').hidden")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_in_light_and_dark_and_fits_a_narrow_screen(window, scheme):
    hal = window(f"Hal-{scheme}", width=360, height=640, media={"prefers-color-scheme": scheme})
    post(hal, "Narrow: https://example.com/" + "long-" * 12 + ". Or call +43 1 234 5678")
    hal.wait_text(".post", "Hal")
    hal.wait("document.querySelector('.picture').complete")
    # People are found above what they post.
    top = "document.querySelector('{}').getBoundingClientRect().top"
    assert hal.value(f"{top.format('#find-people')} < {top.format('#posts')}")
    assert hal.head_is_one_row()
    assert hal.value("document.documentElement.scrollWidth <= innerWidth")
    assert contrast_faults(hal) == []
    # What a card names can be pressed below it; nothing stands there where it names nothing.
    assert links(hal, ".post-links a") == [
        ["https://example.com/" + "long-" * 12, "noopener noreferrer", "_blank"],
        ["tel:+4312345678", "noopener noreferrer", ""],
    ]
    post(hal, "No address")
    hal.wait("document.querySelectorAll('.post').length === 2")
    assert hal.value("document.querySelectorAll('.post-links').length") == 1
