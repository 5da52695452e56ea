// Rooms of many people, with a log of events. An event is one update: the log, the room's copy of its latest event,
// and the room's line in the list of every member.

import { attachmentsOf } from "./files.js";
import { increased, NOW } from "./hearth.js";
import { Threads } from "./threads.js";

const roles = new Set(["owner", "admin", "member", "watcher", "banned"]);
const kinds = new Set(["message", "createdChat", "addedUser", "userLeft", "renamedChat"]);

const isEntry = (value) =>
  typeof value?.name === "string" && typeof value.lastEventText === "string" &&
  typeof value.lastEventAt === "number" && typeof value.unread === "number";

const isEvent = (value) =>
  kinds.has(value?.kind) && typeof value.at === "number" && typeof value.by === "string" &&
  (value.kind !== "message" || typeof value.text === "string" || typeof value.picture === "string" || value.location ||
    typeof value.deletedBy === "string");

const pictureFolder = (room, picture) => picture && `rooms/${room}/${picture.key}`;

export class Rooms extends Threads {
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
      tell({
        name: value.name,
        type: value.type,
        members: new Map(members),
        membersRename: value.membersRename === true,
        picture: value.picture ?? null,
        lastKey: value.lastEvent?.key ?? null,
      });
    }, cancelled);
  }

  /** The picture of a room: `{key, url}`, null for none. */
  observePicture(room, tell) {
    return this.hearth.observeValue(`rooms/${room}/picture`, tell);
  }

  setPicture({ key: room }, old, file, report) {
    const key = this.hearth.key();
    const place = `rooms/${room}/picture`;
    const places = (url) => ({ [place]: { key, url } });
    return this.files.replacePicture(`rooms/${room}/${key}`, file, pictureFolder(room, old), places, `${place}/url`, report);
  }

  removePicture({ key: room }, old) {
    return this.files.removePicture(pictureFolder(room, old), { [`rooms/${room}/picture`]: null });
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
  async make(name, others, isPublic, membersRename) {
    const room = this.hearth.key();
    const key = this.hearth.key();
    const { uid } = this.me;
    const members = Object.fromEntries([[uid, "owner"], ...others.map((other) => [other, "member"])]);
    const event = { kind: "createdChat", at: NOW, by: uid };
    const places = {
      [`rooms/${room}`]: {
        name, createdAt: NOW, createdBy: uid, type: isPublic ? "public" : "private", members, lastEvent: { key, ...event },
        ...(membersRename && { membersRename }),
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

  /** Sends a message; `attachments` are what `Files.upload` has given. */
  send({ key: room }, key, text, replyTo = null, attachments = null) {
    const message = { kind: "message", text, ...(replyTo && { replyTo }) };
    const note = attachments ? { [this.files.note(key)]: null } : {};
    return this.#tell(room, message, text, () => note, key, attachments && { attachments });
  }

  /** Whether files can be sent now. */
  takesFiles() {
    return true;
  }

  /** Where the files of a message are. */
  folder({ key: room }, key) {
    return `chat/rooms/${room}/${key}`;
  }

  /** Other words for one of my messages. */
  edit({ key: room }, { key }, text) {
    const changed = { text, editedAt: NOW };
    return this.#revise(room, key, text, (place) =>
      Object.fromEntries(Object.entries(changed).map(([name, value]) => [`${place}/${name}`, value])));
  }

  /** Deletes a message: who said it and when stays, and who has deleted it. */
  async delete({ key: room }, { key }) {
    const { kind, at, by, deletedAt, attachments } = await this.hearth.get(`roomEvents/${room}/${key}`);
    if (deletedAt) return;
    const rest = { kind, at, by, deletedAt: NOW, deletedBy: this.me.uid };
    const folder = this.folder({ key: room }, key);
    await this.#revise(room, key, `${this.me.username} deleted a message`, (place, more) => ({
      [place]: { ...rest, ...more },
      ...(attachments && this.files.removal(folder)),
    }));
    if (attachments) await this.files.remove(folder);
  }

  /** A message, with the room's copy of it and the lists of the members if it is the latest event. */
  async #revise(room, key, text, facts) {
    for (let attempt = 1; ; attempt += 1) {
      const value = await this.hearth.get(`rooms/${room}`);
      const places = facts(`roomEvents/${room}/${key}`, {});
      if (value?.lastEvent?.key === key) {
        Object.assign(places, facts(`rooms/${room}/lastEvent`, { key }));
        for (const [member, role] of Object.entries(value.members ?? {})) {
          if (role !== "banned") places[`userRooms/${member}/${room}/lastEventText`] = text;
        }
      }
      try {
        return await this.hearth.update(places);
      } catch (refusal) {
        if (refusal.code !== "permission_denied" || attempt === 2) throw refusal;
      }
    }
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
      ...this.readUntil(room, lastKey),
    });
  }

  async hasArrived({ key: room }, key) {
    return (await this.hearth.get(`roomEvents/${room}/${key}`)) !== null;
  }

  /** A member's line of a room as it is new to them. */
  #line(name, text, member) {
    return { name, lastEventText: text.slice(0, 200), lastEventAt: NOW, unread: member === this.me.uid ? 0 : 1 };
  }

  /**
   * An event, with what comes with it. Every member has to receive it; if that has changed meanwhile the
   * update is refused, and made once more for those who are members now. `own` is of the event alone, not of the room's
   * copy of it.
   */
  async #tell(room, facts, text, more, key = this.hearth.key(), own = null) {
    for (let attempt = 1; ; attempt += 1) {
      const value = await this.hearth.get(`rooms/${room}`);
      if (!value) throw new Error("the room is gone");
      const members = new Map(Object.entries(value.members ?? {}).filter(([, role]) => role !== "banned"));
      const event = { at: NOW, by: this.me.uid, ...facts };
      const places = { [`roomEvents/${room}/${key}`]: { ...event, ...own }, [`rooms/${room}/lastEvent`]: { key, ...event } };
      const added = more({ name: value.name, members });
      for (const member of members.keys()) {
        const place = `userRooms/${member}/${room}`;
        if (place in added) continue;
        places[`${place}/lastEventText`] = text;
        places[`${place}/lastEventAt`] = NOW;
        if (member !== this.me.uid) places[`${place}/unread`] = increased(1);
      }
      try {
        return await this.hearth.update({ ...places, ...added });
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
    isDeleted: value.deletedBy !== undefined,
    isEdited: value.editedAt !== undefined,
    replyTo: value.replyTo,
    target: value.target,
    name: value.name,
    attachments: attachmentsOf(value.attachments),
  }));
}
