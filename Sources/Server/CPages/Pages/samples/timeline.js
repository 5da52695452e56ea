// The timeline page: what people I follow post, as they post it.

import { cardAddress, cardHues, cardSize, cardWords, isPictureAddress } from "./card.js";
import { ago, arrange, attempt, byId, count, deleteButton, el, fill, keepFocus, reason, say, wholeText, whenSubmitted } from "./dom.js";
import { fault, Files } from "./files.js";
import { openGate } from "./gate.js";
import { increased, NOW, settled } from "./hearth.js";
import { linked } from "./links.js";
import { picture as pictureOf } from "./photos.js";
import { offerOwnPicture } from "./pictures.js";
import { loadProfile, makeProfile, People, peopleFinder, usernameHint, usernamePattern } from "./social.js";
import { sendingLine, takeFiles } from "./uploads.js";

const pageSize = 20;
/** The width that `image_height` is for. */
const pictureWidth = 600;

openGate({
  database: "social",
  nameLabel: "Username",
  nameHint: usernameHint,
  namePattern: usernamePattern,
  load: loadProfile,
  make: makeProfile,
  run: (hearth, session, profile) => new Timeline(hearth, profile),
});

/** Where the picture of a post is. */
const folderOf = (key) => `timeline/posts/${key}`;

/** The height of a picture at the width that posts have. */
const heightOf = (width, height) => Math.min(Math.max(Math.round(pictureWidth * (height / (width || 1) || 1)), 1), 100_000);

const isPost = (value) =>
  typeof value?.image_url === "string" && typeof value.created_at === "number" &&
  typeof value.like_count === "number" && typeof value.poster?.uid === "string" &&
  typeof value.poster.username === "string";

/** One entry of the timeline: the post, and whether I like it. */
class Entry {
  post = null;
  isLiked = false;
  /** What I asked for and the server has not answered: true to like, false to end it, null for nothing. */
  wanted = null;

  /** `gone` is called when there is no such post any more. */
  constructor(hearth, me, key, poster, changed, gone) {
    Object.assign(this, { key, poster });
    this.stops = [
      hearth.observeValue(`posts/${poster}/${key}`, (value) => {
        this.post = isPost(value) ? value : null;
        changed();
        if (value === null) gone();
      }),
      hearth.observeValue(`postLikes/${key}/${me}`, (value) => {
        this.isLiked = value === true;
        changed();
      }),
    ];
  }

  stop() {
    for (const stop of this.stops) stop();
  }

  get shownLike() {
    return this.wanted ?? this.isLiked;
  }

  get shownCount() {
    return this.post.like_count + (this.shownLike ? 1 : 0) - (this.isLiked ? 1 : 0);
  }
}

class Timeline {
  #entries = new Map();
  #limit = pageSize;
  #stop = () => {};
  #isFull = false;
  /** The picture that is on its way, or that was refused. */
  #sent = null;

  constructor(hearth, me) {
    this.hearth = hearth;
    this.me = me;
    this.people = new People(hearth, me.uid);
    this.files = new Files(hearth, me.uid);
    // Rules from before there were files show no notes.
    this.files.mend().catch(() => {});
    offerOwnPicture(this.people, this.files, me);
    this.people.whenFollowingChanges(() => this.#drawFollowing());
    peopleFinder(
      this.people, byId("find-people"), byId("found-people"), byId("found-status"), () => null,
    );
    byId("more-posts").addEventListener("click", () => {
      this.#limit += pageSize;
      this.#follow();
    });
    this.#prepareForm();
    this.#follow();
    setInterval(() => this.#draw(), 60_000);
  }

  // The entries, newest first

  #follow() {
    this.#stop();
    this.#stop = this.hearth.observeChildren(
      `timeline/${this.me.uid}`,
      { orderByKey: true, limitToLast: this.#limit },
      (children) => {
        const wanted = new Map([...children].filter(([, value]) => typeof value?.poster_uid === "string"));
        for (const [key, entry] of this.#entries) {
          if (wanted.get(key)?.poster_uid === entry.poster) continue;
          entry.stop();
          this.#entries.delete(key);
        }
        for (const [key, { poster_uid: poster }] of wanted) {
          if (this.#entries.has(key)) continue;
          const entry = new Entry(
            this.hearth, this.me.uid, key, poster, () => this.#draw(), () => this.#clear(key),
          );
          this.#entries.set(key, entry);
        }
        this.#isFull = children.size >= this.#limit;
        this.#draw();
      },
    );
  }

  /** An entry whose post is gone would keep its place among the newest. What fails is done at the next look. */
  #clear(key) {
    this.hearth.set(`timeline/${this.me.uid}/${key}`, null).catch(() => {});
  }

  #draw() {
    const shown = [...this.#entries.values()].filter((entry) => entry.post);
    shown.sort((one, other) => other.post.created_at - one.post.created_at || (one.key < other.key ? 1 : -1));
    arrange(byId("posts"), shown, (entry) => entry.key, (entry, old) => {
      const item = old ?? this.#postElement(entry);
      this.#update(item, entry);
      return item;
    });
    byId("no-posts").hidden = shown.length > 0;
    byId("more-posts").hidden = !this.#isFull;
  }

  #postElement(entry) {
    const { post } = entry;
    const isOwn = entry.poster === this.me.uid;
    const name = post.poster.username;
    return el(
      "li",
      { class: "card post" },
      el(
        "div",
        { class: "post-head" },
        this.people.face(entry.poster, name),
        el(
          "div",
          { class: "grow" },
          el("p", { class: "name" }, el("strong", {}, name)),
          el("time", { datetime: new Date(post.created_at).toISOString(), title: wholeText(post.created_at) }),
        ),
        isOwn
          ? deleteButton("Delete this post", () => attempt("delete the post", () => this.#remove(entry)))
          : null,
      ),
      this.#picture(post),
      this.#links(post),
      el(
        "div",
        { class: "post-foot" },
        el(
          "button",
          { class: "small like", type: "button", onclick: () => this.#like(entry) },
          el("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, el("path", {
            d: "M12 20.5S3.5 15.4 3.5 9.3A4.6 4.6 0 0 1 12 6.8a4.6 4.6 0 0 1 8.5 2.5c0 6.1-8.5 11.2-8.5 11.2Z",
          })),
          el("span", { class: "count" }),
        ),
      ),
    );
  }

  #picture(post) {
    const name = post.poster.username;
    const instead = (text) => el("p", { class: "no-picture" }, text);
    if (!isPictureAddress(post.image_url)) return instead("This picture has no address that can be shown.");
    const words = cardWords(post.image_url);
    const picture = el("img", {
      class: "picture",
      alt: words ? `Card by ${name}: ${words}` : `Picture by ${name}`,
      width: pictureWidth,
      height: Math.min(Math.max(Math.round(post.image_height) || 400, 1), 1200),
      referrerpolicy: "no-referrer",
      src: post.image_url,
      onerror: () => picture.replaceWith(instead("This picture does not load.")),
    });
    return picture;
  }

  /** The addresses and numbers among the words of a card: in a picture nothing can be pressed. */
  #links({ image_url: address }) {
    const words = isPictureAddress(address) ? cardWords(address) : null;
    const links = linked(words ?? "").filter((node) => node instanceof Element);
    return links.length ? el("p", { class: "post-links" }, links) : null;
  }

  #update(item, entry) {
    say(item.querySelector("time"), ago(entry.post.created_at, this.hearth.now));
    const button = item.querySelector(".like");
    const isLiked = entry.shownLike;
    button.setAttribute("aria-pressed", String(isLiked));
    button.setAttribute(
      "aria-label",
      `${isLiked ? "Unlike" : "Like"} this post of ${entry.post.poster.username}, ${count(entry.shownCount, "like")}`,
    );
    say(button.querySelector(".count"), count(entry.shownCount, "like"));
  }

  // What I do

  /** The like and the step of the count are one update, so of many at once each counts exactly once. */
  async #like(entry) {
    if (entry.wanted !== null) return;
    const isLiked = !entry.isLiked;
    entry.wanted = isLiked;
    this.#draw();
    await attempt(isLiked ? "like the post" : "end the like", () => this.hearth.update({
      [`postLikes/${entry.key}/${this.me.uid}`]: isLiked || null,
      [`posts/${entry.poster}/${entry.key}/like_count`]: increased(isLiked ? 1 : -1),
    }));
    entry.wanted = null;
    this.#draw();
  }

  async #followers() {
    return Object.keys((await this.hearth.get(`followers/${this.me.uid}`)) ?? {});
  }

  /** Posts a picture; `more` goes along in the same update. */
  async #post(address, height, key = this.hearth.key(), more = {}) {
    const { uid, username } = this.me;
    let followers;
    // A follower may leave meanwhile.
    await settled(async () => {
      followers = await this.#followers();
      const places = {
        [`postOwners/${key}`]: uid,
        [`posts/${uid}/${key}`]: {
          image_url: address,
          image_height: height,
          created_at: NOW,
          like_count: 0,
          poster: { uid, username },
        },
        ...this.#places(key, [uid, ...followers], { poster_uid: uid }),
        ...more,
      };
      await this.hearth.updateOnce(places, `postOwners/${key}`, uid);
    });
    this.#reachLatecomers(key, new Set(followers));
  }

  /** Who has begun to follow while a post was on its way. It is out, so a failure is none of it: they look, too. */
  #reachLatecomers(key, reached) {
    settled(async () => {
      const late = (await this.#followers()).filter((follower) => !reached.has(follower));
      await this.hearth.update(this.#places(key, late, { poster_uid: this.me.uid }));
    }).catch(() => {});
  }

  /** A post's place in the timelines of its readers. */
  #places(key, readers, entry) {
    return Object.fromEntries(readers.map((reader) => [`timeline/${reader}/${key}`, entry]));
  }

  /** Deletes a post, and its picture if that is one of this server. */
  async #remove({ key, post }) {
    const { uid } = this.me;
    const hasFile = post.image_url.includes(`/o/timeline%2Fposts%2F${key}%2F`);
    const places = {
      [`postOwners/${key}`]: null,
      [`posts/${uid}/${key}`]: null,
      [`postLikes/${key}`]: null,
      ...this.#places(key, [uid, ...(await this.#followers())], null),
      ...(hasFile && this.files.removal(folderOf(key))),
    };
    await this.hearth.updateOnce(places, `postOwners/${key}`, null);
    if (hasFile) await this.files.remove(folderOf(key));
  }

  // The form

  #prepareForm() {
    const form = byId("compose");
    const preview = byId("card-preview");
    const problem = byId("compose-problem");
    fill(byId("hues"), Object.keys(cardHues).map((name, index) => el(
      "label",
      { class: `card-hue-${index}`, title: name },
      el("input", { type: "radio", name: "hue", value: name, checked: index === 0 }),
      el("span", { class: "swatch" }),
      el("span", { class: "unseen" }, name),
    )));
    [...byId("hues").children].forEach((label, index) => {
      label.style.setProperty("--hue", Object.values(cardHues)[index]);
    });
    const kind = () => form.elements.kind.value;
    const show = () => {
      for (const part of ["card", "file", "address"]) byId(`${part}-part`).hidden = kind() !== part;
      say(problem, "");
      const words = form.elements.text.value.trim();
      const address = words ? cardAddress(words, cardHues[form.elements.hue.value]) : null;
      preview.hidden = !address;
      if (address) preview.src = address;
      if (words && !address) say(problem, "That is too much for a card. Write fewer words.");
    };
    form.addEventListener("input", show);
    takeFiles(form, (given) => {
      form.elements.kind.value = "file";
      form.elements.file.files = given;
      show();
    });
    whenSubmitted(form, async () => {
      try {
        if (kind() === "file") {
          if (!(await this.#postFile(form))) return;
        } else await this.#post(...(kind() === "card" ? this.#cardOf(form) : await this.#pictureOf(form)));
        form.reset();
        show();
      } catch (error) {
        say(problem, error.code ? `Could not post: ${reason(error)}.` : error.message);
      }
    });
    show();
  }

  #cardOf(form) {
    const words = form.elements.text.value.trim();
    if (!words) throw new Error("Write some words for the card.");
    const address = cardAddress(words, cardHues[form.elements.hue.value]);
    if (!address) throw new Error("That is too much for a card. Write fewer words.");
    return [address, (pictureWidth * cardSize.height) / cardSize.width];
  }

  async #pictureOf(form) {
    const address = form.elements.address.value.trim();
    if (!isPictureAddress(address)) throw new Error("Write the whole address of a picture: https://…");
    const picture = new Image();
    picture.referrerPolicy = "no-referrer";
    picture.src = address;
    try {
      await picture.decode();
    } catch {
      throw new Error("There is no picture at this address.");
    }
    return [address, heightOf(picture.naturalWidth, picture.naturalHeight)];
  }

  /** First the picture, then the post that names it; whether it is out. What is refused can be tried again. */
  async #postFile(form) {
    const [file] = form.elements.file.files;
    if (!file) throw new Error("Choose a picture.");
    const why = fault([file]);
    if (why) throw new Error(why);
    const whole = await pictureOf(file).catch(() => {
      throw new Error("This file is no picture that this browser shows.");
    });
    const height = heightOf(whole.width, whole.height);
    whole.close();
    if (this.#sent?.file !== file) {
      this.#discard();
      this.#sent = { file, key: this.hearth.key(), uploaded: new Map() };
    }
    const sent = this.#sent;
    const draw = (facts) => fill(byId("file-progress"), [
      sendingLine(Object.assign(sent, facts), () => form.requestSubmit(), () => {
        this.#discard();
        form.elements.file.value = "";
      }),
    ]);
    draw({ state: "pending", progress: 0 });
    try {
      const named = await this.files.upload(folderOf(sent.key), [file], sent.uploaded, (part) =>
        draw({ progress: Math.floor(part * 100) }));
      await this.#post(named["0"].url, height, sent.key, { [this.files.note(sent.key)]: null });
    } catch (error) {
      draw({ state: "refused", why: reason(error) });
      return false;
    }
    this.#sent = null;
    fill(byId("file-progress"), []);
    return true;
  }

  /** Forgets the picture that was refused, with what was uploaded of it. */
  #discard() {
    fill(byId("file-progress"), []);
    if (this.#sent) this.files.remove(folderOf(this.#sent.key)).catch(() => {});
    this.#sent = null;
  }

  // Whom I follow

  #drawFollowing() {
    const list = byId("following");
    const uids = [...this.people.following];
    byId("no-following").hidden = uids.length > 0;
    keepFocus(list, () => fill(list, uids.map((uid) => {
      const name = this.people.nameNow(uid, () => this.#drawFollowing());
      return el(
        "li",
        { class: "person" },
        this.people.face(uid, name),
        el("span", { class: "grow name" }, name),
        el(
          "button",
          {
            class: "small",
            type: "button",
            "aria-label": `Unfollow ${name}`,
            "data-focus": `unfollow-${uid}`,
            onclick: () => attempt(`unfollow ${name}`, () => this.people.unfollow(uid)),
          },
          "Unfollow",
        ),
      );
    })));
  }
}
