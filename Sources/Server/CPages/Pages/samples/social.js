// People of the database `social`, which chat and timeline share: profiles, search, following.

import { attempt, el, face, fill, keepFocus, say } from "./dom.js";
import { NOW, settled } from "./hearth.js";

export const usernamePattern = "[A-Za-z0-9_\\-]{1,30}";
export const usernameHint = "1 to 30 ASCII letters, digits, - or _";

// Search

/** Characters and digits in lower case without accents, anything between as one space. */
export function normalised(name) {
  let text = "";
  for (const sign of name.toUpperCase().toLowerCase().normalize("NFKD")) {
    if (/[\p{L}\p{N}\p{Mc}]/u.test(sign)) text += sign === "ς" ? "σ" : sign;
    else if (/[\p{Mn}\p{Me}\p{Cf}'’ʼ`]/u.test(sign)) continue;
    else if (text && !text.endsWith(" ")) text += " ";
  }
  return text.trimEnd();
}

/** The prefixes that a person is found under: from each word of the name on, up to 32 characters. */
export function prefixes(name) {
  const words = normalised(name).split(" ");
  const keys = new Set();
  for (let first = 0; first < Math.min(words.length, 8); first += 1) {
    const start = words.slice(first).join(" ");
    for (let prefix = "", signs = [...start]; signs.length; ) {
      prefix += signs.shift();
      if (prefix.length > 32) break;
      keys.add(prefix);
    }
  }
  return keys;
}

/** The key of a whole address, which no search finds by a beginning of it; nothing for one that is too short or long. */
export function addressKey(email) {
  const signs = [...(email ?? "").trim().toLowerCase()];
  const key = signs.map((sign) => {
    const code = sign.codePointAt(0);
    if (code >= 32 && code !== 127 && !"=.#$/[]".includes(sign)) return sign;
    return `=${code.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
  return signs.length >= 5 && key.length <= 64 ? key : null;
}

// Profiles

export class People {
  #hearth;
  #names = new Map();
  /** Addresses of pictures; null for a person who has none. */
  #pictures = new Map();
  /** The uids that `me` follows. */
  following = new Set();
  #whenFollowing = [];

  constructor(hearth, uid) {
    this.#hearth = hearth;
    this.uid = uid;
    hearth.observeValue(`following/${uid}`, (edges) => {
      this.following = new Set(Object.keys(edges ?? {}));
      for (const tell of this.#whenFollowing) tell();
    });
    // The own picture changes in any window.
    hearth.observeValue(`users/${uid}/picture`, (picture) => {
      Promise.resolve(this.name(uid)).then((name) => {
        this.#pictures.set(uid, picture);
        for (const old of document.querySelectorAll(`.face[data-uid="${uid}"]`)) old.replaceWith(this.face(uid, name));
      }, () => {});
    });
  }

  /** A new key. */
  key() {
    return this.#hearth.key();
  }

  whenFollowingChanges(tell) {
    this.#whenFollowing.push(tell);
  }

  /** The name of a person, looked up once; the uid for a person who has none. */
  name(uid) {
    if (!this.#names.has(uid)) {
      const asked = this.#hearth.get(`users/${uid}`).then((user) => {
        const known = typeof user?.username === "string" ? user.username : uid;
        this.#names.set(uid, known);
        this.#pictures.set(uid, user?.picture ?? null);
        return known;
      });
      asked.catch(() => this.#names.delete(uid));
      this.#names.set(uid, asked);
    }
    return this.#names.get(uid);
  }

  /** The name if it is known already; else "…", and `later` is called once it is. */
  nameNow(uid, later) {
    const name = this.name(uid);
    if (typeof name === "string") return name;
    name.then(later, () => {});
    return "…";
  }

  /** The address of a person's picture, where it is known. */
  picture(uid) {
    return this.#pictures.get(uid) ?? null;
  }

  /** The face of a person, with their picture once that is known. */
  face(uid, name) {
    const draw = () => {
      const drawn = face(name, uid, this.picture(uid));
      drawn.dataset.uid = uid;
      return drawn;
    };
    const drawn = draw();
    if (!this.#pictures.has(uid)) Promise.resolve(this.name(uid)).then(() => drawn.replaceWith(draw()), () => {});
    return drawn;
  }

  /** People whose name begins with a text: `{uid, username}` in the order of their names. */
  async find(text) {
    const prefix = normalised(text).slice(0, 32).trimEnd();
    if (!prefix) return [];
    const found = Object.keys((await this.#hearth.get(`searchIndex/name/${prefix}`)) ?? {});
    const others = found.filter((uid) => uid !== this.uid).slice(0, 20);
    const people = await Promise.all(others.map(async (uid) => ({ uid, username: await this.name(uid) })));
    return people.sort((one, other) => (one.username.toLowerCase() < other.username.toLowerCase() ? -1 : 1));
  }

  /** Both edges, and what they have posted into the own timeline. */
  async follow(other) {
    let entered;
    await settled(async () => {
      entered = await this.#postsOf(other);
      await this.#hearth.update({ ...this.#edges(other, true), ...this.#entries(entered, other) });
    });
    // What they posted while the edges were on their way. They are followed already, so a failure is none of that.
    await settled(async () => {
      const posts = await this.#postsOf(other);
      await this.#hearth.update({
        ...this.#entries([...posts].filter((key) => !entered.has(key)), other),
        ...this.#entries([...entered].filter((key) => !posts.has(key)), null),
      });
    }).catch(() => {});
  }

  /** The edges go, and their posts out of the own timeline. */
  async unfollow(other) {
    await settled(async () =>
      this.#hearth.update({ ...this.#edges(other, null), ...this.#entries(await this.#enteredBy(other), null) }));
    // What they posted while the edges were going.
    await settled(async () => this.#hearth.update(this.#entries(await this.#enteredBy(other), null))).catch(() => {});
  }

  async #postsOf(other) {
    return new Set(Object.keys((await this.#hearth.get(`posts/${other}`)) ?? {}));
  }

  /** The keys of their posts in the own timeline. */
  async #enteredBy(other) {
    const entries = Object.entries((await this.#hearth.get(`timeline/${this.uid}`)) ?? {});
    return entries.filter(([, entry]) => entry.poster_uid === other).map(([key]) => key);
  }

  /** What puts posts of `poster` into the own timeline; without a poster, what takes them out. */
  #entries(keys, poster) {
    const entry = poster && { poster_uid: poster };
    return Object.fromEntries([...keys].map((key) => [`timeline/${this.uid}/${key}`, entry]));
  }

  #edges(other, value) {
    return { [`following/${this.uid}/${other}`]: value, [`followers/${other}/${this.uid}`]: value };
  }
}

export async function loadProfile(hearth, { uid }) {
  const user = await hearth.get(`users/${uid}`);
  return user ? { uid, username: user.username } : null;
}

export async function makeProfile(hearth, { uid, email }, username) {
  if (!new RegExp(`^${usernamePattern}$`).test(username)) throw new Error(`A name has ${usernameHint}.`);
  const owner = await hearth.get(`usernames/${username.toLowerCase()}`);
  if (owner && owner !== uid) throw new Error(`${username} is taken. Choose another name.`);
  const places = {
    [`users/${uid}`]: { username },
    [`usernames/${username.toLowerCase()}`]: uid,
    [`profiles/${uid}`]: { username, name: username },
    [`private/${uid}`]: { email },
  };
  for (const prefix of prefixes(username)) places[`searchIndex/name/${prefix}/${uid}`] = true;
  const address = addressKey(email);
  if (address) places[`searchIndex/email/${address}/${uid}`] = true;
  await hearth.update(places);
}

// Presence

/** Says that this person is here, on each connection anew; the server takes it back when that ends. */
export function appear(hearth, uid) {
  const place = `presence/${uid}/${hearth.key()}`;
  const say = () => {
    Promise.all([
      hearth.leave(place, null),
      hearth.leave(`lastOnline/${uid}`, NOW),
      hearth.set(place, { online: true, at: NOW }),
    ]).catch(() => {});
  };
  hearth.whenConnected = say;
  if (hearth.isOnline) say();
}

// The list of people that are found

/** A search field, whom it finds, and what can be done with each: `actions(person)` gives buttons. */
export function peopleFinder(people, input, list, status, actions) {
  let found = [];
  let wanted = 0;
  const draw = () => {
    keepFocus(list, () => fill(list, found.map((person) => personRow(people, person, actions))));
  };
  const search = async () => {
    const turn = (wanted += 1);
    const text = input.value.trim();
    const result = text ? await people.find(text).catch(() => []) : [];
    // An answer to what was typed before is no longer wanted.
    if (turn !== wanted) return;
    found = result;
    draw();
    say(status, !text ? "" : found.length ? `${found.length} found` : "No one is found");
    list.hidden = found.length === 0;
  };
  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !input.value) return;
    event.stopPropagation();
    input.value = "";
    search();
  });
  people.whenFollowingChanges(draw);
  return {
    clear: () => {
      input.value = "";
      return search();
    },
  };
}

function personRow(people, person, actions) {
  const isFollowed = people.following.has(person.uid);
  const toggle = el(
    "button",
    {
      type: "button",
      class: isFollowed ? "small" : "small primary",
      "aria-pressed": String(isFollowed),
      "aria-label": `${isFollowed ? "Unfollow" : "Follow"} ${person.username}`,
      "data-focus": `follow-${person.uid}`,
      onclick: () =>
        attempt(`${isFollowed ? "unfollow" : "follow"} ${person.username}`, () =>
          isFollowed ? people.unfollow(person.uid) : people.follow(person.uid),
        ),
    },
    isFollowed ? "Following" : "Follow",
  );
  return el(
    "li",
    { class: "person" },
    people.face(person.uid, person.username),
    el("span", { class: "grow name" }, person.username),
    actions(person, isFollowed),
    toggle,
  );
}
