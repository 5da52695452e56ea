// Chats of two people: each has a copy of the chat, and a message is one update of both copies and itself.

import { attachmentsOf } from "./files.js";
import { increased, NOW } from "./hearth.js";
import { sha256 } from "./sha256.js";
import { Threads } from "./threads.js";

/** Keys that are tried when strangers have claimed the first. */
const keyCount = 16;

const part = (text) => `${[...text].length}:${text}`;

/** What identifies two people in whatever order: over both uids, sorted by code points, each behind its length. */
function pairText(one, other) {
  const units = (text) => [...text].map((sign) => sign.codePointAt(0));
  const [first, second] = [units(one), units(other)];
  let place = 0;
  while (place < first.length && first[place] === second[place]) place += 1;
  const isSorted = place >= first.length || first[place] < (second[place] ?? -1);
  return isSorted ? part(one) + part(other) : part(other) + part(one);
}

export const memberHash = (one, other) => sha256(pairText(one, other));

/** What both call a chat at first, so that of two who start it at one moment the later one writes the same. */
const title = (one, other) => (one < other ? `${one}, ${other}` : `${other}, ${one}`);

const isMessage = (value) =>
  (typeof value?.content === "string" || typeof value?.deletedAt === "number") && typeof value.sentAt === "number" &&
  typeof value.sender?.uid === "string" && typeof value.sender.username === "string";

const isCopy = (value) =>
  typeof value?.lastMessage === "string" && typeof value.lastMessageAt === "number" &&
  typeof value.lastMessageKey === "string" && typeof value.title === "string" && value.members !== null;

export class Directs extends Threads {
  /** My copies by key. */
  known = new Map();

  /** Tells all chats of mine, whenever one changes. Copies that make no sense are left out. */
  observe(tell) {
    return this.hearth.observeValue(`chats/${this.me.uid}`, (copies) => {
      this.known = new Map(Object.entries(copies ?? {}).filter(([, copy]) => isCopy(copy)));
      tell([...this.known].flatMap(([key, copy]) => {
        const other = Object.keys(copy.members).find((uid) => uid !== this.me.uid);
        return other ? [{
          kind: "direct",
          key,
          other,
          lastText: copy.lastMessage,
          lastAt: copy.lastMessageAt,
          unread: typeof copy.unread === "number" ? copy.unread : 0,
        }] : [];
      }));
    });
  }

  /** The chat with a person: one that is there, else the key that it will have. */
  async with(other) {
    const hash = memberHash(this.me.uid, other);
    const mine = (await this.hearth.get(`chats/${this.me.uid}`, { orderByChild: "memberHash", equalTo: hash })) ?? {};
    for (const [key, copy] of Object.entries(mine)) {
      if (copy.members?.[this.me.uid] && copy.members[other]) return { kind: "direct", key, other };
    }
    const text = pairText(this.me.uid, other);
    for (let count = 0; count < keyCount; count += 1) {
      const key = count === 0 ? hash : sha256(text + part(String(count)));
      try {
        await this.hearth.get(`pairs/${key}`);
        return { kind: "direct", key, other };
      } catch (refusal) {
        // Strangers have it.
        if (refusal.code !== "permission_denied") throw refusal;
      }
    }
    throw new Error("all keys that this chat can have belong to others");
  }

  /** Sends, in up to two ways: as is, or with the copies whole, when the chat is new or the other has deleted theirs. */
  async send({ key: chat, other }, key, text, replyTo = null, attachments = null) {
    const { uid, username } = this.me;
    const message = { content: text, timestamp: Date.now() / 1000, sentAt: NOW, sender: { uid, username } };
    if (replyTo) message.replyTo = replyTo;
    if (attachments) message.attachments = attachments;
    const last = {
      lastMessage: `${username}: ${text}`,
      lastMessageSent: message.timestamp,
      lastMessageAt: NOW,
      lastMessageKey: key,
    };
    const said = { [`messages/${chat}/${key}`]: message, ...(attachments && { [this.files.note(key)]: null }) };
    // One more that the other has not read.
    const unread = (member) => increased(member === uid ? 0 : 1);
    const touched = (member) => Object.fromEntries(
      Object.entries(member === uid ? last : { ...last, unread: unread(member) })
        .map(([name, value]) => [`chats/${member}/${chat}/${name}`, value]),
    );
    const otherName = await this.people.name(other);
    const copy = (member) => ({
      title: title(username, otherName),
      memberHash: memberHash(uid, other),
      members: { [uid]: true, [other]: true },
      unread: unread(member),
      ...last,
    });
    if (!this.known.has(chat)) {
      const claim = { [`pairs/${chat}`]: { [uid]: other, [other]: uid } };
      const copies = { [`chats/${uid}/${chat}`]: copy(uid), [`chats/${other}/${chat}`]: copy(other) };
      await this.hearth.update({ ...said, ...claim, ...copies });
      return;
    }
    try {
      await this.hearth.update({ ...said, ...touched(uid), ...touched(other) });
    } catch (refusal) {
      if (refusal.code !== "permission_denied") throw refusal;
      await this.hearth.update({ ...said, ...touched(uid), [`chats/${other}/${chat}`]: copy(other) });
    }
  }

  /** Whether files can be sent now: a chat begins with words. */
  takesFiles({ key }) {
    return this.known.has(key);
  }

  /** Where the files of a message are. */
  folder({ key: chat }, key) {
    return `chat/direct/${chat}/${key}`;
  }

  /** Other words for one of my messages. `isLatest` says that none is behind it. */
  edit({ key: chat, other }, { key, name }, text, isLatest) {
    const place = `messages/${chat}/${key}`;
    const said = { [`${place}/content`]: text, [`${place}/editedAt`]: NOW };
    return this.#revise(chat, other, key, said, `${name}: ${text}`, isLatest);
  }

  /** Deletes one of my messages: who said it and when stays. */
  async delete({ key: chat, other }, { key, name }, isLatest) {
    const message = await this.hearth.get(`messages/${chat}/${key}`);
    if (!message || message.deletedAt) return;
    const { timestamp, sentAt, sender, attachments } = message;
    const folder = this.folder({ key: chat }, key);
    const rest = {
      [`messages/${chat}/${key}`]: { timestamp, sentAt, sender, deletedAt: NOW },
      ...(attachments && this.files.removal(folder)),
    };
    await this.#revise(chat, other, key, rest, `${name}: message deleted`, isLatest);
    if (attachments) await this.files.remove(folder);
  }

  /** Both copies show the latest message, but for those that were deleted: no client sees whether the other has one. */
  async #revise(chat, other, key, said, shown, isLatest) {
    const mine = this.known.get(chat);
    const isShown = mine ? mine.lastMessageKey === key : isLatest;
    const own = mine && isShown ? { [`chats/${this.me.uid}/${chat}/lastMessage`]: shown } : {};
    try {
      await this.hearth.update({ ...said, ...own, ...(isShown && { [`chats/${other}/${chat}/lastMessage`]: shown }) });
    } catch (refusal) {
      if (refusal.code !== "permission_denied" || !isShown) throw refusal;
      await this.hearth.update({ ...said, ...own });
    }
  }

  /** Everything up to the latest message is read; refused when another has come. */
  markRead({ key: chat }, lastKey) {
    const place = `chats/${this.me.uid}/${chat}`;
    const count = { [`${place}/unread`]: 0, [`${place}/lastMessageKey`]: lastKey };
    return this.hearth.update({ ...this.readUntil(chat, lastKey), ...(this.known.has(chat) && count) });
  }

  /** Whether a message whose answer was lost has arrived. */
  async hasArrived({ key: chat }, key) {
    try {
      return (await this.hearth.get(`messages/${chat}/${key}`)) !== null;
    } catch (refusal) {
      // A chat that is not there belongs to no one.
      if (refusal.code === "permission_denied") return false;
      throw refusal;
    }
  }

  observeItems({ key: chat }, count, tell, cancelled) {
    return this.hearth.observeChildren(
      `messages/${chat}`,
      { orderByChild: "sentAt", limitToLast: count },
      (children, isWhole) => tell(this.#items(children), isWhole),
      cancelled,
    );
  }

  async older({ key: chat }, oldest, count) {
    const page = await this.hearth.get(`messages/${chat}`, {
      orderByChild: "sentAt",
      endBefore: { value: oldest.at, key: oldest.key },
      limitToLast: count,
    });
    return this.#items(new Map(Object.entries(page ?? {})));
  }

  #items(children) {
    return [...children].filter(([, value]) => isMessage(value)).map(([key, value]) => ({
      key,
      at: value.sentAt,
      by: value.sender.uid,
      name: value.sender.username,
      text: value.content ?? "",
      isDeleted: value.deletedAt !== undefined,
      isEdited: value.editedAt !== undefined,
      replyTo: value.replyTo,
      attachments: attachmentsOf(value.attachments),
    }));
  }

  remove({ key: chat }) {
    return this.hearth.set(`chats/${this.me.uid}/${chat}`, null);
  }
}
