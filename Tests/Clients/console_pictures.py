"""Takes the pictures of the console that its guide shows (scripts/console-screenshots)."""

import argparse
import random
import tempfile
from pathlib import Path

from browser import Browser
from console_window import OWNER, Console, put
from hearth_server import Hearth

NOW = 1_763_812_345_000
PEOPLE = {"ada": "Ada Lindqvist", "bo": "Bo Okafor", "cleo": "Cleo Marchetti", "dev": "Dev Raman", "eli": "Eli Navarro"}
LINES = [
    "Who brings the lanterns on Friday?", "I do. Two red ones, and the string lights.", "The bakery keeps a table for us at six.",
    "Is the tea still in the blue tin?", "It was empty, so I filled it again.", "The ferry goes at 17:40, not at 18:00.",
    "Then we meet at the pier.", "I have the map, and the good umbrella.", "Rain is announced for seven.", "Perfect.",
]
MENU = [
    ("Cardamom bun", "bakery", 3.2), ("Rye toast with egg", "kitchen", 6.5), ("Sencha", "tea", 4), ("Lapsang souchong", "tea", 4.5),
    ("Plum cake", "bakery", 4.8), ("Lentil soup", "kitchen", 7.9), ("Lemonade", "cold", 3.5), ("Flat white", "coffee", 3.9),
]
RULES = """{
  "rules": {
    // Everybody sees the menu; only the kitchen writes it.
    "menu": {".read": true, ".write": "auth.token.kitchen === true", ".indexOn": "price"},
    "users": {"$uid": {".read": "auth != null", ".write": "auth.uid === $uid"}},
    "rooms": {"$room": {
      ".read": "auth != null && data.child('members').hasChild(auth.uid)",
      "messages": {"$message": {
        ".write": "data.parent().parent().child('members').child(auth.uid).exists()",
        ".validate": "newData.child('text').isString() && newData.child('text').val().length <= 500"
      }}
    }}
  }
}
"""


def fill(server):
    """Sample data, the same in each run."""
    draw = random.Random(7)
    rooms = {}
    for room, title in (("pier", "Down at the pier"), ("tea", "Tea on Fridays"), ("garden", "The garden")):
        messages = {
            f"-OaZ{number:04d}{''.join(draw.choices('abcdefghKLMNPQRS', k=12))}": {
                "author": draw.choice(list(PEOPLE)), "text": LINES[number % len(LINES)], "at": NOW - (40 - number) * 173_000,
            }
            for number in range(40)
        }
        rooms[room] = {"title": title, "open": True, "members": {uid: True for uid in PEOPLE}, "messages": messages}
    users = {uid: {"name": name, "seen": NOW - draw.randrange(9_000_000), "color": draw.choice(["amber", "teal", "plum"])} for uid, name in PEOPLE.items()}
    menu = {f"m{number + 1}": {"name": name, "kind": kind, "price": price, "sold": draw.randrange(5, 90)} for number, (name, kind, price) in enumerate(MENU)}
    put(server, "", {"menu": menu, "rooms": rooms, "users": users, "visits": {f"v{number:06d}": NOW + number for number in range(120_000)}})
    answer = server.put("/.settings/rules.json?ns=default", None, raw=RULES.encode(), headers=OWNER)
    assert answer.status == 200, answer.text
    for path, uid in (("menu", None), ("rooms/tea", "ada"), ("rooms/pier", "kim"), ("users/bo", "cleo"), ("users/bo", None), ("rooms/garden", "dev")):
        who = "" if uid is None else f'&auth_variable_override={{"uid":"{uid}"}}'
        server.get(f"/{path}.json?ns=default{who}", headers={} if uid is None else OWNER)


def data(page):
    for key in ("menu", "m3", "users", "rooms", "tea"):
        page.opens(key)
    page.shows("title")
    page.chooses("title")


def table(page):
    page.wait("document.querySelectorAll('[role=row].row').length === 8")


def search(page):
    page.wait("document.querySelectorAll('.hits li').length > 5")


def rules(page):
    page.press(".bar button", "Coverage")
    page.wait("document.querySelector('.rule')")


def requests(page):
    page.press(".request", "/rooms/pier")
    page.wait("document.querySelector('.inspector')?.innerText.includes('auth.uid')")


# Name, address, and what is done before the picture is taken.
PICTURES = [
    ("data", "data?ns=default", data),
    ("table", "data/menu?ns=default&view=table&order=child&by=price", table),
    ("search", "data?ns=default&find=tea", search),
    ("rules", "rules?ns=default", rules),
    ("requests", "requests?ns=default", requests),
]


def take(browser, server, folder, name, address, work, width=1280, height=800, scheme="light"):
    page = Console(browser, server, address, width=width, height=height, media={"prefers-color-scheme": scheme})
    page.wait("document.getElementById('connection').dataset.state === 'online'")
    work(page)
    page.wait("!document.querySelector('.added, .changed')?.getAnimations().length")
    page.picture(folder / f"{name}.png")
    page.check()
    page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", action="store_true", help="the page of the data in three widths, light and dark")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Hearth() as server, Browser(Path(place)) as browser:
        fill(server)
        if not options.sizes:
            for name, address, work in PICTURES:
                take(browser, server, options.folder, name, address, work)
            return
        for width, height in ((390, 780), (768, 900), (1440, 900)):
            for scheme in ("light", "dark"):
                for name, address, work in PICTURES[:3]:
                    take(browser, server, options.folder, f"{name}-{width}-{scheme}", address, work, width, height, scheme)


if __name__ == "__main__":
    main()
