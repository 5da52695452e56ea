"""The keys and values that applications write, for every test that draws some: the counterpart of `KeyOrder` and
`ValueSize` in Tests/Simulation."""

import hashlib
import os
import random

ORDERS = [
    "ascending", "descending", "shuffled", "inside_out", "newest_first", "integers", "hashes", "push_ids", "uids",
    "unicode", "longest",
]
SIGNS = [
    "é", "o\u0301", "ß", "～", "😀", "𝄞", "\ufeff", "\ufffd", "\U0010ffff", "%41", "%", "a b", '"', "\\", "A", "a",
    "\ue000", "中", "ı", "\x80",
]
EDGES = [
    "0", "-0", "00", "-00", "01", "-2147483648", "-2147483649", "2147483647", "2147483648", "02147483647",
    "99999999999",
]
NUMBERS = [
    0, 1, -1, 127, 128, -128, -129, 2147483647, 2147483648, -2147483649, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1,
    -(2**63), 0.5, -0.1, 1e300, 5e-324, 1.7976931348623157e308,
]
CHARACTERS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"


# Where all random tests of a run begin; the gate takes another one for each commit.
SEED = int(os.environ.get("HEARTH_SEED") or 1)


def drawn(number=0):
    """Random numbers of the run's seed, which a failure shows; others for another number."""
    print(f"HEARTH_SEED={SEED}")
    return random.Random(SEED + number)


class Places:
    """Endless different paths, `list/key`: the keys of each list come in the same order of `ORDERS`."""

    COUNT = 500

    def __init__(self, chance):
        self.order = chance.choice(ORDERS)
        self.keys = keys(self.order, self.COUNT, chance)

    def __getitem__(self, number):
        return f"l{number // self.COUNT}/{self.keys[number % self.COUNT]}"

    def numbers(self, stored):
        """The numbers of the places that hold their own number, in `stored`, all that stands there; None for another value."""
        found = [
            (key, value) for part in (stored or {}).values() for key, value in items(part)
        ]
        if any(self.keys[value % self.COUNT] != key for key, value in found):
            return None
        return sorted(value for _, value in found)


def items(part):
    """The members of a map, which comes as an array where its keys are those of one."""
    if not isinstance(part, list):
        return part.items()
    return [(str(index), value) for index, value in enumerate(part) if value is not None]


def padded(count):
    return [f"k{number:06}" for number in range(count)]


def push_id(number, chance):
    time = 1_700_000_000_000 + number * 10 - (40_000 if chance.random() < 0.2 else 0)
    text = ""
    for _ in range(8):
        text = CHARACTERS[time % 64] + text
        time //= 64
    return f"{text}{chance.randrange(10**6):06}{number:06}"


def keys(order, count, chance):
    """`count` different keys in one of `ORDERS`."""
    if order == "ascending":
        return padded(count)
    if order == "descending":
        return padded(count)[::-1]
    if order == "inside_out":
        middle = padded(count)
        return [middle[count // 2 + (n + 1) // 2 * (1 if n % 2 == 0 else -1)] for n in range(count)]
    if order == "newest_first":
        start = 1_700_000_000_000 + chance.randrange(10**9)
        return [f"-{start + number}" for number in range(count)]
    if order == "hashes":
        return [hashlib.sha1(f"{chance.random()}{n}".encode()).hexdigest() for n in range(count)]
    if order == "push_ids":
        return [push_id(number, chance) for number in range(count)]
    if order == "uids":
        return ["".join(chance.choices(CHARACTERS[11:63], k=22)) + f"{n:06}" for n in range(count)]
    if order == "integers":
        rest = [f"{('-', '', '0')[n % 3]}{n + 7}" for n in range(max(0, count - len(EDGES)))]
        found = (EDGES + rest)[:count]
    elif order == "unicode":
        found = [
            SIGNS[n] if n < len(SIGNS) else f"{SIGNS[n % len(SIGNS)]}{n // len(SIGNS)}{SIGNS[n % 7]}"
            for n in range(count)
        ]
    elif order == "longest":
        found = [f"{'long' * 190}lk{number:06}" for number in range(count)]
    else:
        found = padded(count)
    chance.shuffle(found)
    return found


def text(chance, huge=False):
    """A text of some size: mostly a message, sometimes about a page or more."""
    size = chance.choice([3, 60, 150, 150, 150, 500, 512, 3_000]) if not huge else 300_000
    character = chance.choice(["x", "é", "中", "😀", "\ufeff"])
    return character * (size // len(character.encode()) or 1)


def priority(chance):
    return chance.choice([1, -7, 2.5, "p", "p" * 700])


def value(chance, depth=2):
    """A value of any kind, priorities included, in the export form."""
    draw = chance.randrange(10)
    if draw < 5:
        found = text(chance)
    elif draw < 7:
        found = chance.choice(NUMBERS)
    elif draw == 7:
        found = chance.random() < 0.5
    elif depth == 0:
        found = "leaf"
    else:
        names = keys(chance.choice(["unicode", "integers", "shuffled"]), chance.randrange(1, 12), chance)
        # Names that arrays are made of come back as arrays, unless there is another.
        found = {"x": 1, **{name: value(chance, depth - 1) for name in names}}
    if chance.random() < 0.15:
        if isinstance(found, dict):
            found[".priority"] = priority(chance)
        elif not isinstance(found, dict):
            found = {".value": found, ".priority": priority(chance)}
    return found
