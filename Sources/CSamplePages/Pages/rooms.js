// Rooms of many people, with a log of events. An event is one update: the log, the room's copy of its latest event,
// and the room's line in the list of every member.

import { increased, NOW } from "./hearth.js";

const roles = new Set(["owner", "admin", "member", "watcher", "banned"]);
const kinds = new Set(["message", "createdChat", "addedUser", "userLeft", "renamedChat"]);

const isEntry = (value) =>
  typeof value?.name === "string" && typeof value.lastEventText === "string" &&
  typeof value.lastEventAt === "number" && typeof value.unread === "number";

const isEvent = (value) =>
  kinds.has(value?.kind) && typeof value.at === "number" && typeof value.by === "string" &&
  (value.kind !== "message" || typeof value.text === "string" || typeof value.picture === "string" || value.location);

export class Rooms {
  constructor(hearth, people, me) {
    Object.assign(this, { hearth, people, me });
  }

  /** Tells the lines of all rooms of mine, whenever one changes. */
  observe(tell) {
    return this.hearth.observeValue(`userRooms/${this.me.uid}`, (entries) => {
      const rooms = Object.entries(entries ?? {}).filter(([, entry]) => isEntry(entry));
      tell(rooms.map(([key, entry]) => ({
        kind: "room",
        key,
        title: entry.name,
        lastText: entry.lastEventText,
        lastAt: entry.lastEventAt,
        unread: entry.unread,
      })));
    });
  }

  /** Follows what a room is: `{name, type, members}`, the members without those who are banned; null when it is gone. */
  observeRoom({ key: room }, tell, cancelled) {
    return this.hearth.observeValue(`rooms/${room}`, (value) => {
      if (typeof value?.name !== "string") return tell(null);
      const members = Object.entries(value.members ?? {}).filter(([, role]) => roles.has(role) && role !== "banned");
      tell({ name: value.name, type: value.type, members: new Map(members), lastKey: value.lastEvent?.key ?? null });
    }, cancelled);
  }

  observeItems({ key: room }, count, tell, cancelled) {
    return this.hearth.observeChildren(
      `roomEvents/${room}`,
      { orderByChild: "at", limitToLast: count },
      (children, isWhole) => tell(items(children), isWhole),
      cancelled,
    );
  }

  async older({ key: room }, oldest, count) {
    const page = await this.hearth.get(`roomEvents/${room}`, {
      orderByChild: "at",
      endBefore: { value: oldest.at, key: oldest.key },
      limitToLast: count,
    });
    return items(new Map(Object.entries(page ?? {})));
  }

  // What people do

  /** Makes a room, that everybody finds where it is public; gives its key. */
  async make(name, others, isPublic) {
    const room = this.hearth.key();
    const key = this.hearth.key();
    const { uid } = this.me;
    const members = Object.fromEntries([[uid, "owner"], ...others.map((other) => [other, "member"])]);
    const event = { kind: "createdChat", at: NOW, by: uid };
    const places = {
      [`rooms/${room}`]: {
        name, createdAt: NOW, createdBy: uid, type: isPublic ? "public" : "private", members, lastEvent: { key, ...event },
      },
      [`roomEvents/${room}/${key}`]: event,
      ...(isPublic && { [`publicRooms/${room}`]: name }),
    };
    for (const member of Object.keys(members)) {
      places[`userRooms/${member}/${room}`] = this.#line(name, `${this.me.username} made the room`, member);
    }
    await this.hearth.update(places);
    return room;
  }

  send({ key: room }, key, text) {
    return this.#tell(room, { kind: "message", text }, text, () => ({}), key);
  }

  async invite({ key: room }, other) {
    await this.#add(room, other, `${this.me.username} added ${await this.people.name(other)}`);
  }

  /** Comes into a public room. */
  join({ key: room }) {
    return this.#add(room, this.me.uid, `${this.me.username} joined`);
  }

  /** Public rooms by name: `{key, name}`, a page of them. */
  async findPublic() {
    const found = (await this.hearth.get("publicRooms", { orderByValue: true, limitToFirst: 100 })) ?? {};
    const rooms = Object.entries(found).filter(([, name]) => typeof name === "string");
    return rooms.map(([key, name]) => ({ key, name })).sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  #add(room, other, text) {
    return this.#tell(room, { kind: "addedUser", target: other }, text, (now) => ({
      [`rooms/${room}/members/${other}`]: "member",
      [`userRooms/${other}/${room}`]: this.#line(now.name, text, other),
    }));
  }

  leave({ key: room }) {
    return this.#remove(room, this.me.uid, `${this.me.username} left`);
  }

  async putOut({ key: room }, other) {
    await this.#remove(room, other, `${await this.people.name(other)} was put out`);
  }

  #remove(room, who, text) {
    return this.#tell(room, { kind: "userLeft", target: who }, text, () => ({
      [`rooms/${room}/members/${who}`]: null,
      [`userRooms/${who}/${room}`]: null,
    }));
  }

  async rename({ key: room }, name) {
    const text = `${this.me.username} named the room ${name}`;
    const listed = (await this.findPublic()).some((found) => found.key === room);
    await this.#tell(room, { kind: "renamedChat", name }, text.slice(0, 200), (now) => ({
      [`rooms/${room}/name`]: name,
      ...(listed && { [`publicRooms/${room}`]: name }),
      ...Object.fromEntries([...now.members.keys()].map((member) => [`userRooms/${member}/${room}/name`, name])),
    }));
  }

  markRead({ key: room }, lastKey) {
    return this.hearth.update({
      [`userRooms/${this.me.uid}/${room}/unread`]: 0,
      [`readStatus/${room}/${this.me.uid}`]: { upTo: lastKey, at: NOW },
    });
  }

  observeRead({ key: room }, tell) {
    return this.hearth.observeValue(`readStatus/${room}`, (read) => tell(new Map(Object.entries(read ?? {}))));
  }

  observeTyping({ key: room }, tell) {
    return this.hearth.observeValue(`typing/${room}`, (typing) => {
      tell(Object.keys(typing ?? {}).filter((uid) => uid !== this.me.uid));
    });
  }

  /** Says that I write something, until I do not; the server takes it back when the connection ends. */
  type({ key: room }, isTyping) {
    const place = `typing/${room}/${this.me.uid}`;
    if (!this.hearth.isOnline) return;
    const left = isTyping ? this.hearth.leave(place, null) : this.hearth.forgetLeft(place);
    Promise.all([left, this.hearth.set(place, isTyping || null)]).catch(() => {});
  }

  async hasArrived({ key: room }, key) {
    return (await this.hearth.get(`roomEvents/${room}/${key}`)) !== null;
  }

  /** A member's line of a room as it is new to them. */
  #line(name, text, member) {
    return { name, lastEventText: text.slice(0, 200), lastEventAt: NOW, unread: member === this.me.uid ? 0 : 1 };
  }

  /**
   * An event, with what comes with it. Everybody who is a member has to be told; if that has changed meanwhile the
   * update is refused, and made once more for those who are members now.
   */
  async #tell(room, facts, text, more, key = this.hearth.key()) {
    for (let attempt = 1; ; attempt += 1) {
      const value = await this.hearth.get(`rooms/${room}`);
      if (!value) throw new Error("the room is gone");
      const members = new Map(Object.entries(value.members ?? {}).filter(([, role]) => role !== "banned"));
      const event = { at: NOW, by: this.me.uid, ...facts };
      const places = { [`roomEvents/${room}/${key}`]: event, [`rooms/${room}/lastEvent`]: { key, ...event } };
      const own = more({ name: value.name, members });
      for (const member of members.keys()) {
        const place = `userRooms/${member}/${room}`;
        if (place in own) continue;
        places[`${place}/lastEventText`] = text;
        places[`${place}/lastEventAt`] = NOW;
        if (member !== this.me.uid) places[`${place}/unread`] = increased(1);
      }
      try {
        return await this.hearth.update({ ...places, ...own });
      } catch (refusal) {
        if (refusal.code !== "permission_denied" || attempt === 2) throw refusal;
      }
    }
  }
}

function items(children) {
  return [...children].filter(([, value]) => isEvent(value)).map(([key, value]) => ({
    key,
    at: value.at,
    by: value.by,
    kind: value.kind,
    text: value.text ?? (value.picture ? "A picture" : value.location ? "A place" : ""),
    target: value.target,
    name: value.name,
  }));
}
