// One conversation as a window shows it: a direct chat or a room, with what is on its way and what was refused.

import { arrange, attempt, dayText, deleteButton, el, fill, isSameDay, keepFocus, notice, reason, say, timeText } from "./dom.js";
import { caption, fault, sizeText } from "./files.js";
import { messageElement, quoteText } from "./message.js";
import { roomPanel } from "./roompanel.js";
import { sendingLine, takeFiles } from "./uploads.js";

const pageSize = 40;
/** Behind each other's messages without a name between them. */
const joinedWithin = 5 * 60_000;
const typingFor = 4_000;

export class Conversation {
  #stops = [];
  #items = new Map();
  #outbox = [];
  #hasOlder = true;
  #isAskingOlder = false;
  #sticksToEnd = true;
  #room = null;
  #read = new Map();
  #typing = [];
  #typingTimer = 0;
  #saysTyping = false;
  #presence = "";
  #markedKey = null;
  /** What is typed changes this message of mine, or answers that one. */
  #edited = null;
  #answered = null;
  #flagged = new Set();
  /** What goes along with the next message. */
  #chosen = [];
  #hasBegun = false;
  #isClosed = false;
  #turn = Promise.resolve();

  /** `source` is `Directs` or `Rooms`; `page` is notified of what a conversation changes outside of itself. */
  constructor(page, thread, source) {
    Object.assign(this, { page, thread, source });
    this.me = source.me;
    this.hearth = source.hearth;
    this.people = source.people;
    this.element = this.#draw();
    this.#follow();
  }

  get isRoom() {
    return this.thread.kind === "room";
  }

  get title() {
    if (this.isRoom) return this.#room?.name ?? this.thread.title ?? "";
    return this.people.nameNow(this.thread.other, () => this.#drawHead());
  }

  close() {
    this.#isClosed = true;
    if (this.#saysTyping) this.#stopTyping();
    for (const stop of this.#stops) stop();
    document.removeEventListener("visibilitychange", this.markRead);
  }

  // What is followed

  #follow() {
    const { thread, source } = this;
    this.#stops.push(this.#followItems());
    if (this.isRoom) {
      this.#stops.push(
        source.observeRoom(thread, (room) => {
          // Who is put out of a public room could still read it.
          const wasMember = this.#room?.members.has(this.me.uid);
          this.#room = room;
          if (wasMember && !room?.members.has(this.me.uid)) return this.page.closed(this);
          this.#drawHead();
          this.#drawPanel();
        }, () => this.page.closed(this)),
      );
    } else {
      let isOnline = false;
      let last = null;
      const tell = () => {
        this.#presence = isOnline ? "online" : last ? `last here ${this.page.ago(last)}` : "not here";
        this.#drawHead();
      };
      this.#stops.push(
        this.hearth.observeValue(`presence/${thread.other}`, (value) => {
          isOnline = value !== null;
          tell();
        }),
        this.hearth.observeValue(`lastOnline/${thread.other}`, (value) => {
          last = typeof value === "number" ? value : null;
          tell();
        }),
      );
    }
    document.addEventListener("visibilitychange", this.markRead);
    this.#drawHead();
  }

  /** The messages; those of a chat that is still to be started cannot be followed yet. */
  #followItems() {
    let stops = [];
    const begin = () => {
      for (const stop of stops) stop();
      stops = [this.source.observeItems(this.thread, pageSize, (items, isWhole) => {
        this.#hasBegun = true;
        this.#take(items, isWhole);
      }, () => {
        this.#hasBegun = false;
        this.#hasOlder = false;
        this.#drawItems();
      }), this.source.observeRead(this.thread, (read) => {
        this.#read = read;
        this.#drawItems();
      }), this.source.observeTyping(this.thread, (typing) => {
        this.#typing = typing;
        this.#drawTyping();
      })];
    };
    begin();
    this.#followAnew = () => {
      if (!this.#hasBegun && !this.#isClosed) begin();
    };
    return () => {
      for (const stop of stops) stop();
    };
  }

  #followAnew = () => {};

  #take(items, isWhole) {
    // After an interruption of more than a page there would be a gap: what was there before it is left out.
    const isJoined = items.some((item) => this.#items.has(item.key));
    if (isWhole && (!isJoined || this.#items.size === 0)) {
      this.#items.clear();
      this.#hasOlder = items.length >= pageSize;
    }
    const isAtEnd = this.#isAtEnd();
    for (const item of items) this.#items.set(item.key, item);
    this.#outbox = this.#outbox.filter((sent) => !this.#items.has(sent.key));
    this.#drawItems();
    if (isAtEnd || isWhole) this.#scrollToEnd();
    this.markRead();
  }

  /** Messages in the order of the server's times, then those on their way in the order in which they were written. */
  get #sorted() {
    return [...this.#items.values()].sort((one, other) => one.at - other.at || (one.key < other.key ? -1 : 1));
  }

  /** What is in sight is read. */
  markRead = () => {
    const last = this.#sorted.at(-1);
    if (document.visibilityState !== "visible" || !last || last.key === this.#markedKey) return;
    this.#markedKey = last.key;
    this.source.markRead(this.thread, last.key).catch(() => {
      this.#markedKey = null;
    });
  };

  async #older() {
    const oldest = this.#sorted[0];
    if (!oldest || !this.#hasOlder || this.#isAskingOlder) return;
    this.#isAskingOlder = true;
    const scroll = this.element.querySelector(".scroll");
    await attempt("read older messages", async () => {
      const items = await this.source.older(this.thread, oldest, pageSize);
      this.#hasOlder = items.length >= pageSize;
      const fromEnd = scroll.scrollHeight - scroll.scrollTop;
      for (const item of items) this.#items.set(item.key, item);
      this.#drawItems();
      // What was in sight stays there.
      scroll.scrollTop = scroll.scrollHeight - fromEnd;
    });
    this.#isAskingOlder = false;
  }

  // Sending

  send(text, files = []) {
    const key = this.hearth.key();
    const sent = {
      key, text: text || caption(files.map(({ name }) => name)), replyTo: this.#answered?.key, state: "pending", why: "",
      files, uploaded: new Map(), progress: files.length ? 0 : null,
    };
    this.#outbox.push(sent);
    this.#drawItems();
    this.#scrollToEnd();
    this.#deliver(sent);
  }

  /** One after the other, so that they arrive in the order in which they were written. */
  #deliver(sent) {
    sent.state = "pending";
    this.#drawItems();
    this.#turn = this.#turn.then(() => this.#deliverNow(sent));
  }

  async #deliverNow(sent) {
    let refusal = null;
    for (;;) {
      try {
        // What was on its way when the connection was lost may have arrived: that is unknown before there is a new one.
        if (refusal && (await this.source.hasArrived(this.thread, sent.key))) break;
        const attachments = await this.#upload(sent);
        await this.source.send(this.thread, sent.key, sent.text, sent.replyTo, attachments);
        break;
      } catch (error) {
        refusal = error;
        if (error.code !== "connection_lost") return this.#refused(sent, error);
      }
    }
    this.#outbox = this.#outbox.filter((other) => other !== sent);
    this.#followAnew();
    this.#drawItems();
  }

  /** What the message says of its files, which are there then; null without any. */
  #upload(sent) {
    if (!sent.files.length) return null;
    return this.source.files.upload(this.source.folder(this.thread, sent.key), sent.files, sent.uploaded, (part) => {
      sent.progress = Math.floor(part * 100);
      this.#drawItems();
    });
  }

  /** Forgets a message that was refused, with what was uploaded for it. */
  #discard(sent) {
    this.#outbox = this.#outbox.filter((other) => other !== sent);
    this.#drawItems();
    this.focus();
    if (!sent.files.length) return;
    // Without a note there is nothing to remove; what stays for want of a connection, the next start finds.
    this.source.files.remove(this.source.folder(this.thread, sent.key)).catch(() => {});
  }

  /** Takes files for the next message. */
  #choose(files) {
    if (!files.length || this.#edited) return;
    const chosen = [...this.#chosen, ...files];
    const why = this.source.takesFiles(this.thread) ? fault(chosen) : "Say something first: a chat begins with words.";
    if (why) return notice(why, true);
    this.#chosen = chosen;
    this.#drawChosen();
    this.focus();
  }

  #drawChosen() {
    this.chosen.hidden = !this.#chosen.length;
    fill(this.chosen, this.#chosen.map((file) => el(
      "span",
      { class: "chip" },
      `${file.name} ${sizeText(file.size)} `,
      el("button", {
        class: "small",
        type: "button",
        "aria-label": `Leave out ${file.name}`,
        onclick: () => {
          this.#chosen = this.#chosen.filter((other) => other !== file);
          this.#drawChosen();
          this.focus();
        },
      }, "×"),
    )));
  }

  #refused(sent, error) {
    sent.state = "refused";
    sent.why = reason(error);
    this.#drawItems();
    if (this.#isClosed && error.code !== "closed") notice(`A message was not sent: ${sent.why}.`, true);
  }

  /** Other words for a message of mine. */
  #change(item, text) {
    if (text === item.text) return;
    attempt("change the message", () => this.source.edit(this.thread, item, text, item.key === this.#sorted.at(-1)?.key));
  }

  #delete(item) {
    attempt("delete the message", () => this.source.delete(this.thread, item, item.key === this.#sorted.at(-1)?.key));
  }

  #flag(item) {
    const isFlagged = !this.#flagged.has(item.key);
    attempt(isFlagged ? "flag the message" : "take the flag back", async () => {
      await this.source.flag(this.thread, item.key, isFlagged);
      if (isFlagged) this.#flagged.add(item.key);
      else this.#flagged.delete(item.key);
      notice(isFlagged ? "Flagged." : "Flagged no longer.");
      this.#drawItems();
    });
  }

  /** What is typed from now on changes a message, or answers one; neither for null. */
  #aim(edited, answered) {
    const wasEditing = this.#edited;
    this.#edited = edited;
    this.#answered = answered;
    if (wasEditing || edited) {
      this.input.value = edited?.text ?? "";
      this.input.dispatchEvent(new Event("input"));
    }
    const item = edited ?? answered;
    this.aim.hidden = !item;
    fill(this.aim, item ? [
      el("span", { class: "grow" }, edited ? "Changing your message" : `Answering ${quoteText(item, (uid) => this.#nameOf(uid))}`),
      el("button", { class: "small", type: "button", onclick: () => this.#aim(null, null) }, "Cancel"),
    ] : []);
    this.focus();
  }

  #typed() {
    if (!this.#hasBegun || this.#edited) return;
    if (!this.#saysTyping) this.source.type(this.thread, (this.#saysTyping = true));
    clearTimeout(this.#typingTimer);
    this.#typingTimer = setTimeout(() => this.#stopTyping(), typingFor);
  }

  #stopTyping() {
    clearTimeout(this.#typingTimer);
    if (!this.#saysTyping) return;
    this.source.type(this.thread, (this.#saysTyping = false));
  }

  // Drawing

  #draw() {
    const input = el("textarea", {
      rows: 1,
      maxlength: 4000,
      "aria-label": "Message",
      placeholder: "Write a message",
      onkeydown: (event) => {
        if (event.key === "Escape" && (this.#edited || this.#answered)) {
          event.preventDefault();
          this.#aim(null, null);
        }
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        form.requestSubmit();
      },
      oninput: () => {
        grow();
        if (input.value.trim()) this.#typed();
        else this.#stopTyping();
      },
      onblur: () => this.#stopTyping(),
    });
    const picker = el("input", {
      type: "file",
      multiple: true,
      hidden: true,
      onchange: () => {
        this.#choose(picker.files);
        picker.value = "";
      },
    });
    const grow = () => {
      input.style.height = "auto";
      input.style.height = `${input.scrollHeight + 2}px`;
    };
    const form = el(
      "form",
      {
        class: "composer",
        "aria-label": "New message",
        onsubmit: (event) => {
          event.preventDefault();
          const text = input.value.trim();
          const files = this.#edited ? [] : this.#chosen;
          if (!text && !files.length) return;
          input.value = "";
          grow();
          this.#stopTyping();
          const edited = this.#edited;
          if (edited) this.#change(edited, text);
          else this.send(text, files);
          if (!edited) this.#chosen = [];
          this.#drawChosen();
          this.#edited = null;
          this.#aim(null, null);
        },
      },
      picker,
      el("button", { class: "attach", type: "button", "aria-label": "Attach files", title: "Attach files", onclick: () => picker.click() }, "+"),
      input,
      el("button", { class: "primary", type: "submit" }, "Send"),
    );
    this.head = el("div", { class: "talk-head" });
    this.panel = el("div", { class: "room-panel", id: "room-panel", hidden: true });
    this.log = el("div", { class: "messages", role: "log", "aria-live": "polite", "aria-label": "Messages" });
    this.olderButton = el(
      "button",
      { class: "small older", type: "button", hidden: true, onclick: () => this.#older() },
      "Older messages",
    );
    this.aim = el("div", { class: "aim row", hidden: true });
    this.chosen = el("div", { class: "aim row chosen", role: "group", "aria-label": "Files to send", hidden: true });
    this.typingLine = el("p", { class: "typing", role: "status" });
    this.input = input;
    const scroll = el(
      "div",
      {
        class: "scroll",
        tabindex: 0,
        "aria-label": "Messages, scrollable",
        role: "region",
        onscroll: (event) => {
          this.#sticksToEnd = this.#isAtEnd();
          if (event.target.scrollTop < 80) this.#older();
        },
      },
      this.olderButton,
      this.log,
    );
    // A picture takes its room when it has come; such events do not bubble.
    scroll.addEventListener("load", () => {
      if (this.#sticksToEnd) this.#scrollToEnd();
    }, true);
    const whole = el(
      "div",
      { class: "conversation" },
      this.head, this.panel, scroll, this.typingLine, this.aim, this.chosen, form,
    );
    takeFiles(whole, (given) => this.#choose(given));
    return whole;
  }

  focus() {
    this.input.focus();
  }

  #isAtEnd() {
    const scroll = this.element.querySelector(".scroll");
    return scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 60;
  }

  #scrollToEnd() {
    const scroll = this.element.querySelector(".scroll");
    scroll.scrollTop = scroll.scrollHeight;
  }

  #drawHead() {
    const state = this.isRoom
      ? this.#room ? [...this.#room.members.keys()].map((uid) => this.#nameOf(uid)).join(", ") : ""
      : this.#presence;
    const isOpen = !this.panel.hidden;
    if (!this.head.firstChild) {
      fill(this.head, [
        el("button", { class: "small back", type: "button", onclick: () => this.page.back() }, "‹ Chats"),
        el("div", { class: "words" }, el("h2", {}), el("p", { class: "state" })),
        this.isRoom
          ? el("button", { class: "small", type: "button", onclick: () => this.#togglePanel() }, "Room")
          : deleteButton("Delete this chat from my list", () => this.#remove()),
      ]);
    }
    say(this.head.querySelector("h2"), this.title);
    say(this.head.querySelector(".state"), state);
    const button = this.head.lastElementChild;
    if (this.isRoom) {
      button.setAttribute("aria-expanded", String(isOpen));
      button.setAttribute("aria-controls", "room-panel");
    }
  }

  #remove() {
    attempt("delete the chat", async () => {
      await this.source.remove(this.thread);
      this.page.closed(this);
    });
  }

  #nameOf(uid) {
    return this.people.nameNow(uid, () => {
      this.#drawHead();
      this.#drawItems();
      this.#drawPanel();
    });
  }

  #drawItems() {
    const { uid } = this.me;
    const rows = [];
    let before = null;
    const sorted = this.#sorted;
    const lastOwn = sorted.findLast((item) => item.by === uid);
    for (const item of sorted) {
      if (!before || !isSameDay(before.at, item.at)) {
        rows.push({ key: `day-${new Date(item.at).toDateString()}`, day: item.at });
        before = null;
      }
      const isNote = item.kind && item.kind !== "message";
      const isJoined = !isNote && before?.by === item.by && item.at - before.at < joinedWithin;
      rows.push({ ...item, isNote, isJoined, seen: item === lastOwn ? this.#seenText(item, sorted) : "" });
      before = isNote ? { at: item.at, by: null } : item;
      if (isJoined) rows.at(-2).isFollowed = true;
    }
    for (const sent of this.#outbox) rows.push({ ...sent, by: uid, at: this.hearth.now, sent });
    arrange(this.log, rows, (row) => row.key, (row, old) => this.#row(row, old));
    this.olderButton.hidden = !this.#hasOlder || this.#items.size === 0;
  }

  #row(row, old) {
    // What a row shows, as one text: a row that shows the same stays as it is, so nothing is read out twice.
    const stamp = JSON.stringify([
      row.isJoined, row.isFollowed, row.text, row.isEdited, row.isDeleted, this.#quote(row), this.#flagged.has(row.key),
      this.#room?.members.get(this.me.uid), row.seen, row.state, row.why, row.sent?.progress, row.attachments, row.by && this.#nameOf(row.by), row.target && this.#nameOf(row.target),
    ]);
    if (old?.dataset.stamp === stamp) return old;
    const element = row.day
      ? el("h3", { class: "day" }, dayText(row.day))
      : row.isNote ? el("p", { class: "note" }, this.#noteText(row)) : this.#message(row);
    element.dataset.stamp = stamp;
    const menu = old?.querySelector("details");
    const next = element.querySelector("details");
    if (menu && next) {
      // A person who chooses what to do goes on choosing.
      next.open = menu.open;
      if (menu.contains(document.activeElement)) queueMicrotask(() => next.firstElementChild.focus());
    }
    return element;
  }

  #message(row) {
    const name = row.name ?? this.#nameOf(row.by);
    return messageElement(row, {
      isOwn: row.by === this.me.uid,
      name,
      face: this.people.face(row.by, name),
      quote: this.#quote(row),
      meta: this.#meta(row),
      actions: this.#actions(row),
    });
  }

  #quote(row) {
    return row.replyTo ? quoteText(this.#items.get(row.replyTo), (uid) => this.#nameOf(uid)) : "";
  }

  /** What I may do with a message; the rules decide in the end. */
  #actions(row) {
    if (row.state || row.isDeleted || !this.#items.has(row.key)) return [];
    const item = this.#items.get(row.key);
    const isOwn = row.by === this.me.uid;
    const role = this.#room?.members.get(this.me.uid);
    const isBelow = !["owner", "admin"].includes(this.#room?.members.get(row.by));
    const mayDelete = isOwn || role === "owner" || (role === "admin" && isBelow);
    return [
      ["Reply", () => this.#aim(null, item)],
      isOwn ? ["Edit", () => this.#aim(item, null)] : null,
      mayDelete ? ["Delete", () => this.#delete(item)] : null,
      isOwn ? null : [this.#flagged.has(row.key) ? "Take the flag back" : "Flag", () => this.#flag(item)],
    ].filter(Boolean);
  }

  #meta(row) {
    if (row.sent) return sendingLine(row.sent, () => this.#deliver(row.sent), () => this.#discard(row.sent));
    const time = row.isFollowed ? "" : timeText(row.at);
    const words = [time, row.seen].filter(Boolean).join(" · ");
    return words ? el("p", { class: "meta" }, words) : null;
  }

  #seenText(item, sorted) {
    const place = sorted.indexOf(item);
    const after = new Set(sorted.slice(place).map((other) => other.key));
    const names = [...this.#read]
      .filter(([uid, read]) => uid !== this.me.uid && after.has(read.upTo))
      .map(([uid]) => this.#nameOf(uid));
    if (!names.length) return "";
    return this.isRoom ? `Seen by ${names.join(", ")}` : "Seen";
  }

  #noteText(item) {
    const by = this.#nameOf(item.by);
    switch (item.kind) {
      case "createdChat":
        return `${by} made the room`;
      case "addedUser":
        return item.by === item.target ? `${by} joined` : `${by} added ${this.#nameOf(item.target)}`;
      case "userLeft":
        return item.by === item.target ? `${by} left` : `${by} put ${this.#nameOf(item.target)} out`;
      default:
        return `${by} named the room ${item.name}`;
    }
  }

  #drawTyping() {
    const names = this.#typing.map((uid) => this.people.nameNow(uid, () => this.#drawTyping()));
    const verb = names.length === 1 ? "is" : "are";
    say(this.typingLine, names.length ? `${names.join(", ")} ${verb} writing…` : "");
  }

  // The panel of a room

  #togglePanel() {
    this.panel.hidden = !this.panel.hidden;
    this.#drawPanel();
    this.#drawHead();
  }

  #drawPanel() {
    if (this.panel.hidden || !this.#room) return;
    keepFocus(this.panel, () => fill(this.panel, roomPanel(this, this.#room, (uid) => this.#nameOf(uid))));
  }
}
