// The chat page: people, the list of chats, and the conversation that is open.

import { ago, arrange, attempt, byId, el, face, fill, shortTime, whenSubmitted } from "./dom.js";
import { Conversation } from "./conversation.js";
import { Directs } from "./directs.js";
import { field, openGate } from "./gate.js";
import { Rooms } from "./rooms.js";
import { Bell } from "./bell.js";
import { offerOwnPicture } from "./pictures.js";
import { appear, loadProfile, makeProfile, People, peopleFinder, usernameHint, usernamePattern } from "./social.js";

openGate({
  database: "social",
  nameLabel: "Username",
  nameHint: usernameHint,
  namePattern: usernamePattern,
  load: loadProfile,
  make: makeProfile,
  run: (hearth, session, profile) => new Chat(hearth, profile),
});

/** Follows each of `wanted` once, and no other: `follow(key)` gives what stops it, which `stops` keeps. */
function followEach(stops, wanted, follow) {
  for (const [key, stop] of stops) {
    if (wanted.includes(key)) continue;
    stop();
    stops.delete(key);
  }
  for (const key of wanted) if (!stops.has(key)) stops.set(key, follow(key));
}

class Chat {
  #directs = [];
  #rooms = [];
  #open = null;
  #presences = new Map();
  #online = new Set();
  #roomPictures = new Map();
  #pictureStops = new Map();
  #hasThreads = { direct: false, room: false };
  #mutes = new Set();
  #bell = new Bell(byId("sound"));

  constructor(hearth, me) {
    this.hearth = hearth;
    this.me = me;
    this.people = new People(hearth, me.uid);
    this.sources = {
      direct: new Directs(hearth, this.people, me),
      room: new Rooms(hearth, this.people, me),
    };
    appear(hearth, me.uid);
    offerOwnPicture(this.people, this.sources.room.files, me);
    // Rules from before there were files show no notes.
    this.sources.room.files.mend().catch(() => {});
    this.sources.direct.observe((threads) => {
      this.#directs = threads;
      this.#hasThreads.direct = true;
      this.#followPresences();
      this.#drawThreads();
      // What came before the list said so could not be marked as read.
      this.#open?.markRead();
    });
    hearth.observeValue(`mutes/${me.uid}`, (mutes) => {
      this.#mutes = new Set(Object.keys(mutes ?? {}));
      this.#drawThreads();
    });
    document.addEventListener("visibilitychange", () => this.#drawThreads());
    this.sources.room.observe((threads) => {
      this.#rooms = threads;
      this.#hasThreads.room = true;
      followEach(this.#pictureStops, threads.map(({ key }) => key), (room) =>
        this.sources.room.observePicture(room, (picture) => {
          this.#roomPictures.set(room, picture?.url);
          this.#drawThreads();
        }));
      this.#drawThreads();
    });
    this.finder = peopleFinder(
      this.people,
      byId("find-people"),
      byId("found-people"),
      byId("found-status"),
      (person, isFollowed) => isFollowed ? el(
        "button",
        {
          class: "small primary",
          type: "button",
          "aria-label": `Message ${person.username}`,
          "data-focus": `message-${person.uid}`,
          onclick: () => this.#talkTo(person.uid),
        },
        "Message",
      ) : null,
    );
    byId("new-room").addEventListener("click", () => this.#askForRoom());
    byId("public-rooms").addEventListener("click", () => this.#showPublicRooms());
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
      if (this.#open && !byId("room-dialog").open) this.back();
    });
    byId("find-people").focus();
  }

  // The list

  get #threads() {
    const threads = [...this.#directs, ...this.#rooms];
    return threads.sort((one, other) => other.lastAt - one.lastAt || (one.key < other.key ? 1 : -1));
  }

  #drawThreads() {
    const threads = this.#threads;
    if (this.#hasThreads.direct && this.#hasThreads.room) {
      this.#bell.tell(new Map(threads.filter(({ key }) => !this.#mutes.has(key)).map((thread) =>
        [thread.key, this.#isInSight(thread) ? 0 : thread.unread])));
    }
    const isKnown = this.#hasThreads.direct && this.#hasThreads.room;
    byId("no-threads").hidden = threads.length > 0 || !isKnown;
    arrange(byId("threads"), threads, (thread) => thread.key, (thread, old) => {
      const item = old ?? el("li", {}, el("button", {
        class: "thread",
        type: "button",
        onclick: () => this.#show(this.#threads.find(({ key }) => key === item.dataset.key)),
      }));
      this.#drawThread(thread, item.firstElementChild);
      return item;
    });
  }

  #drawThread(thread, button) {
    const name = thread.title ?? this.people.nameNow(thread.other, () => this.#drawThreads());
    const isOpen = this.#open?.thread.key === thread.key;
    const unread = this.#unread(thread);
    const isOnline = this.#online.has(thread.other);
    button.className = unread ? "thread unread" : "thread";
    button.setAttribute("aria-current", String(isOpen));
    fill(button, [
      el(
        "span",
        { class: "faced" },
        thread.other ? this.people.face(thread.other, name) : face(name, thread.key, this.#roomPictures.get(thread.key)),
        isOnline ? el("span", { class: "dot" }, el("span", { class: "unseen" }, "online")) : null,
      ),
      el(
        "span",
        { class: "lines" },
        el(
          "span",
          { class: "line" },
          el("span", { class: "title" }, name),
          el("time", { datetime: new Date(thread.lastAt).toISOString() }, shortTime(thread.lastAt, this.hearth.now)),
        ),
        el(
          "span",
          { class: "line" },
          el("span", { class: "last" }, thread.lastText),
          unread ? el("span", { class: "badge" }, unread, el("span", { class: "unseen" }, " unread")) : null,
        ),
      ),
    ]);
  }

  #isInSight(thread) {
    return this.#open?.thread.key === thread.key && document.visibilityState === "visible";
  }

  /** What the badge says. */
  #unread(thread) {
    if (this.#isInSight(thread) || !(thread.unread > 0)) return "";
    return thread.unread > 99 ? "99+" : String(thread.unread);
  }

  #followPresences() {
    followEach(this.#presences, this.#directs.map((thread) => thread.other), (uid) =>
      this.hearth.observeValue(`presence/${uid}`, (value) => {
        if (value === null) this.#online.delete(uid);
        else this.#online.add(uid);
        this.#drawThreads();
      }));
  }

  // Conversations

  async #talkTo(uid) {
    await attempt("open the chat", async () => {
      this.#show(await this.sources.direct.with(uid));
      await this.finder.clear();
    });
  }

  #show(thread) {
    if (!thread) return;
    this.#open?.close();
    this.#open = new Conversation(this, thread, this.sources[thread.kind]);
    fill(byId("conversation"), [this.#open.element]);
    byId("app").classList.add("is-talking");
    this.#open.focus();
    this.#drawThreads();
  }

  /** From a conversation back to the list. */
  back() {
    const key = this.#open?.thread.key;
    this.#open?.close();
    this.#open = null;
    byId("app").classList.remove("is-talking");
    fill(byId("conversation"), [el("p", { class: "empty big" }, "Choose a chat, or find a person to talk to.")]);
    this.#drawThreads();
    const item = [...byId("threads").children].find((child) => child.dataset.key === key);
    (item?.firstElementChild ?? byId("find-people")).focus();
  }

  /** A conversation is over: left, deleted, or no longer to be read. */
  closed(conversation) {
    if (this.#open === conversation) this.back();
  }

  ago(time) {
    return ago(time, this.hearth.now);
  }

  // A new room

  async #askForRoom() {
    const dialog = byId("room-dialog");
    const known = await Promise.all(
      [...this.people.following].map(async (uid) => ({ uid, name: await this.people.name(uid) })),
    ).catch(() => []);
    const form = el(
      "form",
      {},
      el("h2", { id: "room-dialog-title" }, "New room"),
      field("Name of the room", { name: "roomName", required: true, maxlength: 100, autocomplete: "off" }),
      el(
        "fieldset",
        {},
        el("legend", {}, "With"),
        known.length
          ? el("div", { class: "choices" }, known.map(({ uid, name }) =>
            el("label", {}, el("input", { type: "checkbox", name: "member", value: uid }), name)))
          : el("p", { class: "hint" }, "You follow no one yet; people can be added later."),
      ),
      el("label", { class: "row" }, el("input", { type: "checkbox", name: "public" }), "Everybody may find and join it"),
      el("label", { class: "row" }, el("input", { type: "checkbox", name: "rename" }), "Members may rename it"),
      el(
        "div",
        { class: "row" },
        el("button", { class: "primary", type: "submit" }, "Make the room"),
        el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      ),
    );
    whenSubmitted(form, async (data) => {
      const name = data.get("roomName").trim();
      if (!name) return;
      await attempt("make the room", async () => {
        const key = await this.sources.room.make(name, data.getAll("member"), data.has("public"), data.has("rename"));
        dialog.close();
        this.#show({ kind: "room", key, title: name });
      });
    });
    fill(dialog, [form]);
    dialog.showModal();
  }

  async #showPublicRooms() {
    const dialog = byId("room-dialog");
    await attempt("look for rooms", async () => {
      const rooms = await this.sources.room.findPublic();
      const mine = new Set(this.#rooms.map((room) => room.key));
      const open = (room) => {
        dialog.close();
        this.#show({ kind: "room", key: room.key, title: room.name });
      };
      const join = (room) => attempt(`join ${room.name}`, async () => {
        if (!mine.has(room.key)) await this.sources.room.join(room);
        open(room);
      });
      fill(dialog, [
        el("h2", { id: "room-dialog-title" }, "Public rooms"),
        rooms.length
          ? el("ul", { class: "list choices", "aria-label": "Public rooms" }, rooms.map((room) => el(
            "li",
            { class: "person" },
            el("span", { class: "grow name" }, room.name),
            el(
              "button",
              {
                class: "small primary",
                type: "button",
                "aria-label": `${mine.has(room.key) ? "Open" : "Join"} ${room.name}`,
                onclick: () => join(room),
              },
              mine.has(room.key) ? "Open" : "Join",
            ),
          )))
          : el("p", { class: "empty" }, "There are none yet."),
        el("div", { class: "row" }, el("button", { type: "button", onclick: () => dialog.close() }, "Close")),
      ]);
      dialog.showModal();
    });
  }
}
