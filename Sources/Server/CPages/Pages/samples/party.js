// The party page: parties, the inbox, friends.

import { arrange, attempt, byId, el, face, fill, keepFocus, notice, say, whenSubmitted } from "./dom.js";
import { openGate } from "./gate.js";
import { applying, inOrder, isMessage, isQuestion, meaning, news, stillCounts } from "./inbox.js";
import { questionParts } from "./questions.js";
import { loadGuest, makeGuest, Parties } from "./parties.js";
import { askForParty, partyParts, timeOf } from "./partycard.js";
import { PhotoAlbum, PhotoOutbox, shrunk } from "./photos.js";
import { askForPicture, ownFace } from "./pictures.js";
import { takeFiles } from "./uploads.js";

openGate({
  database: "party",
  nameLabel: "Name",
  nameHint: "What your friends call you",
  namePattern: null,
  load: loadGuest,
  make: makeGuest,
  run: (hearth, session, profile) => new PartyPage(hearth, profile),
});

const isParty = (value) => typeof value?.owner === "string" && typeof value.description === "string" && "date" in value;

class PartyPage {
  #user = {};
  #isUserKnown = false;
  #messages = new Map();
  #names = new Map();
  #pictures = new Map();
  /** What is followed: `party` is null while it is not known, and when it cannot be seen: then it `isShut`. */
  #followed = new Map();
  #isApplying = false;
  #seenInvitations = new Set();

  constructor(hearth, me) {
    this.hearth = hearth;
    this.me = me;
    this.parties = new Parties(hearth, me);
    this.album = new PhotoAlbum(hearth);
    this.outbox = new PhotoOutbox(this);
    hearth.observeValue(`users/${me.uid}`, (user) => {
      const isFirst = !this.#isUserKnown;
      this.#user = user ?? {};
      this.#isUserKnown = true;
      if (isFirst) {
        this.parties.finishUploads(this.#user.uploads).catch(() => {});
        this.parties.mendPictures(this.#user.pictures).catch(() => {});
      }
      this.#changed();
    });
    hearth.observeValue(`messages/${me.uid}`, (messages) => {
      this.#messages = new Map(inOrder(Object.entries(messages ?? {}).filter(([, value]) => isMessage(value))));
      this.#changed();
    });
    byId("new-party").addEventListener("click", () => askForParty(this));
    whenSubmitted(byId("ask-friend"), (data) => this.#ask(data.get("email").trim()));
    ownFace(this.faceOf(me.uid), () => this.#askForPicture());
    hearth.observeValue(`profiles/${me.uid}/picture`, (picture) => {
      this.#pictures.set(me.uid, picture);
      document.querySelector(".own-face .face").replaceWith(this.faceOf(me.uid));
    });
    takeFiles(document.body, (given) => this.#addToTheOnly(given));
    setInterval(() => this.#drawParties(), 60_000);
  }

  get #owned() {
    return new Set(Object.keys(this.#user.ownedParties ?? {}));
  }

  get friends() {
    return Object.keys(this.#user.friends ?? {}).filter((uid) => this.#user.friends[uid] === true);
  }

  /** The name of a person; "…" until it is known, and then the page is drawn again. */
  nameOf(uid) {
    if (uid === this.me.uid) return this.me.name;
    if (!this.#names.has(uid)) {
      this.#names.set(uid, "…");
      this.hearth.get(`profiles/${uid}`).then((profile) => {
        this.#names.set(uid, typeof profile?.name === "string" ? profile.name : "A person");
        this.#pictures.set(uid, profile?.picture);
        this.draw();
      }, () => this.#names.delete(uid));
    }
    return this.#names.get(uid);
  }

  faceOf(uid) {
    return face(this.nameOf(uid), uid, this.#pictures.get(uid));
  }

  #askForPicture() {
    const old = this.#pictures.get(this.me.uid);
    const key = this.parties.pictureKey(old);
    askForPicture({
      title: "Your picture",
      face: () => this.faceOf(this.me.uid),
      change: async (file, report) => {
        const png = await shrunk(file);
        await this.parties.setPicture(png, key, (count) => report(count / png.size));
      },
      remove: old ? () => this.parties.removePicture(key) : null,
    });
  }

  followed(key) {
    return this.#followed.get(key) ?? { party: null, isShut: false };
  }

  async #ask(email) {
    if (!(await attempt(`ask ${email}`, () => this.parties.ask(email)))) return;
    byId("ask-friend").reset();
    notice(`${email} was asked.`);
  }

  #changed() {
    // Whose a party is decides what a message means.
    if (!this.#isUserKnown) return;
    this.#applyAnswers();
    this.#followParties();
    this.draw();
  }

  draw() {
    this.#drawParties();
    this.#drawInbox();
    this.#drawFriends();
  }

  /** Answers to what I asked, also those that waited while I was away: one after the other, the oldest first. */
  async #applyAnswers() {
    if (this.#isApplying) return;
    this.#isApplying = true;
    const tried = new Set();
    for (;;) {
      const next = [...this.#messages].find(([key, message]) =>
        !tried.has(key) && !isQuestion(meaning(message, this.#owned)));
      if (!next) break;
      tried.add(next[0]);
      await this.#apply(...next);
    }
    this.#isApplying = false;
  }

  async #apply(key, message) {
    const kind = meaning(message, this.#owned);
    try {
      if (!(await stillCounts(this.hearth, message, kind))) return await this.parties.dismiss(key);
      await this.hearth.update(applying(this.me.uid, key, message, kind));
    } catch (refusal) {
      // Without a connection it stays where it is, and comes again with the next one.
      if (refusal.code !== "permission_denied") return;
      // What it is about is gone.
      return this.parties.dismiss(key).catch(() => {});
    }
    const name = await this.hearth.get(`profiles/${message.from}/name`).catch(() => null);
    const text = news(message, kind, name ?? "A person");
    if (text) notice(text);
  }

  // Parties

  #followParties() {
    const attending = Object.entries(this.#user.attendingParties ?? {}).filter(([, isComing]) => isComing);
    const wanted = new Set([...this.#owned, ...attending.map(([key]) => key)]);
    for (const [key, message] of this.#messages) {
      if (meaning(message, this.#owned) !== "invitation") continue;
      wanted.add(message.party);
      // Who could not see it any more can be invited again.
      if (!this.#seenInvitations.has(key) && this.followed(message.party).isShut) this.#followed.delete(message.party);
      this.#seenInvitations.add(key);
    }
    for (const [key, followed] of this.#followed) {
      if (wanted.has(key)) continue;
      followed.stop();
      this.#followed.delete(key);
    }
    for (const key of wanted) if (!this.#followed.has(key)) this.#follow(key);
  }

  #follow(key) {
    const followed = { party: null, isShut: false, stop: () => {} };
    this.#followed.set(key, followed);
    const tell = (value) => {
      followed.party = isParty(value) ? value : null;
      followed.isShut = value === null;
      this.draw();
    };
    followed.stop = this.hearth.observeValue(`parties/${key}`, tell, () => tell(null));
  }

  get #shown() {
    const invited = new Set([...this.#messages.values()]
      .filter((message) => meaning(message, this.#owned) === "invitation").map((message) => message.party));
    return [...this.#followed].filter(([key, { party }]) => party && !invited.has(key));
  }

  addPhotos(key, files) {
    const { party } = this.followed(key);
    if (party) this.outbox.add(key, party.owner, [...files]);
  }

  /** Pictures that are given to the page and to none of its parties. */
  #addToTheOnly(files) {
    const [only, ...others] = this.#shown;
    if (!only || others.length) return notice("Drop pictures on a party, or press it before you paste them.", true);
    this.addPhotos(only[0], files);
  }

  #drawParties() {
    const shown = this.#shown;
    shown.sort(([one, { party }], [other, { party: next }]) =>
      timeOf(party.date) - timeOf(next.date) || (one < other ? -1 : 1));
    byId("no-parties").hidden = shown.length > 0;
    arrange(byId("parties"), shown, ([key]) => key, ([key, { party }], old) => {
      const item = old ?? this.#card(key);
      keepFocus(item, () => fill(item, partyParts(this, key, party)));
      return item;
    });
  }

  /** A party, which pictures can be dropped on, and which a press chooses for those that are pasted. */
  #card(key) {
    const item = el("li", { class: "card party-card", tabindex: -1 });
    takeFiles(item, (given) => this.addPhotos(key, given));
    return item;
  }

  // The inbox and friends

  #drawInbox() {
    const questions = [...this.#messages]
      .map(([key, message]) => ({ key, message, kind: meaning(message, this.#owned) }))
      .filter(({ kind }) => isQuestion(kind));
    byId("no-inbox").hidden = questions.length > 0;
    byId("inbox-count").hidden = questions.length === 0;
    say(byId("inbox-count"), String(questions.length));
    arrange(byId("inbox"), questions, ({ key }) => key, (question, old) => {
      const { stamp, make } = questionParts(this, question);
      // One that shows the same stays as it is, so nothing is read out twice.
      if (old?.dataset.stamp === stamp) return old;
      const item = old ?? el("li", { class: "question" });
      item.dataset.stamp = stamp;
      keepFocus(item, () => fill(item, make()));
      return item;
    });
  }

  #drawFriends() {
    const list = byId("friends");
    byId("no-friends").hidden = this.friends.length > 0;
    keepFocus(list, () => fill(list, this.friends.map((uid) => {
      const name = this.nameOf(uid);
      return el(
        "li",
        { class: "person" },
        this.faceOf(uid),
        el("span", { class: "grow name" }, name),
        el(
          "button",
          {
            class: "small",
            type: "button",
            "aria-label": `End the friendship with ${name}`,
            "data-focus": `unfriend-${uid}`,
            onclick: () => attempt("end the friendship", () => this.parties.unfriend(uid)),
          },
          "Unfriend",
        ),
      );
    })));
  }
}
