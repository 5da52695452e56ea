"""Queries as they are defined: sort all children, keep those in range, cut."""

import re

BOUNDS = ["startAt", "startAfter", "endAt", "endBefore", "equalTo"]


def text_order(text):
    return text.encode("utf-16-be")


def key_order(key):
    if re.fullmatch(r"-?0*[0-9]{1,10}", key) and -(2**31) <= int(key) < 2**31:
        return (0, int(key), len(key), b"")
    return (1, 0, 0, text_order(key))


def value_order(value):
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (2,) if value else (1,)
    if isinstance(value, (int, float)):
        return (3, value)
    return (4, text_order(value)) if isinstance(value, str) else (5,)


def plain(node):
    """An exported node without its own priority."""
    if not isinstance(node, dict):
        return node
    if ".value" in node:
        return node[".value"]
    return {key: child for key, child in node.items() if key != ".priority"}


def index_order(query, node):
    if "orderByKey" in query:
        return ()
    if "orderByValue" in query:
        return value_order(plain(node))
    if "orderByChild" not in query:
        return value_order(node.get(".priority") if isinstance(node, dict) else None)
    value = plain(node)
    for key in query["orderByChild"].split("/"):
        value = plain(value.get(key)) if isinstance(value, dict) else None
    return value_order(value)


def in_range(query, name, child):
    """Whether a child, as (index order, key order), is within one bound."""
    bound = query[name]
    if "orderByKey" in query:
        place = ((), key_order(bound))
    elif isinstance(bound, dict):
        place = (value_order(bound["value"]), key_order(bound["key"]))
    else:
        place = (value_order(bound),)
    child = child[: len(place)]
    return {
        "startAt": child >= place,
        "startAfter": child > place,
        "endAt": child <= place,
        "endBefore": child < place,
        "equalTo": child == place,
    }[name]


def selected(query, children):
    """The keys that a query selects among exported children, in its order."""
    places = {
        key: (index_order(query, node), key_order(key))
        for key, node in plain(children or {}).items()
    }
    keys = sorted(places, key=places.get)
    for name in BOUNDS:
        if name in query:
            keys = [key for key in keys if in_range(query, name, places[key])]
    if "limitToFirst" in query:
        return keys[: query["limitToFirst"]]
    return keys[-query["limitToLast"] :] if "limitToLast" in query else keys
