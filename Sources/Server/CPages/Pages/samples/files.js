// Files of messages: uploaded under a note in the tree, named by the message in the update that takes the note away, and
// removed with it. What a cut leaves is found by its note when the page is opened again.

import { Bucket } from "./bucket.js";
import { el } from "./dom.js";
import { NOW } from "./hearth.js";
import { picture, shrunk, shrunkTo } from "./photos.js";

const mostFiles = 10;
const fileLimit = 100 << 20;
const thumbnailWidth = 300;
/** An upload that began later may go on, in another window. */
const unnamedFor = 24 * 60 * 60_000;

/** The key of the message, which a folder ends with. */
const keyOf = (folder) => folder.split("/").at(-1);

/** What a message with these titles says when it has no other text. */
export const caption = (titles) => (titles.length > 1 ? `${titles[0]} and ${titles.length - 1} more` : titles[0]);

export const sizeText = (size) =>
  size < 1000 ? `${size} bytes` : size < 999_500 ? `${Math.round(size / 1000)} kB` : `${(size / 1e6).toFixed(1)} MB`;

/** Why these cannot be sent as one message; empty when they can. */
export function fault(files) {
  if (files.length > mostFiles) return `A message has up to ${mostFiles} files.`;
  const large = files.find(({ size }) => size > fileLimit);
  return large ? `${large.name} has more than ${sizeText(fileLimit)}.` : "";
}

/** The files of one person. */
export class Files {
  constructor(hearth, uid) {
    Object.assign(this, { hearth, uid, bucket: new Bucket(hearth, "social") });
  }

  /** Where the note of a message's files is. */
  note(key) {
    return `uploads/${this.uid}/${key}`;
  }

  /** What the update that deletes a message says of its files. */
  removal(folder) {
    return { [this.note(keyOf(folder))]: { folder, at: NOW, removing: true } };
  }

  /**
   * Uploads what is not there yet of `files` and gives what a message says of them, by name; `done` keeps it for when
   * this is called again. `report` gets how much of all is there, from 0 to 1.
   */
  async upload(folder, files, done, report) {
    if (!done.size) await this.hearth.set(this.note(keyOf(folder)), { folder, at: NOW });
    const total = files.reduce((sum, { size }) => sum + size, 0) || 1;
    let sent = 0;
    for (const [index, file] of files.entries()) {
      const name = String(index);
      const type = file.type || "application/octet-stream";
      if (!done.has(name)) {
        const url = await this.bucket.put(`${folder}/${name}`, file, type, (count) => report((sent + count) / total));
        done.set(name, { title: file.name.slice(0, 200), type, size: file.size, url });
      }
      const facts = done.get(name);
      const small = facts.thumbnail ? null : await thumbnail(file);
      if (small) facts.thumbnail = await this.bucket.put(`${folder}/${name}-small`, small, "image/png", () => {});
      sent += file.size;
      report(sent / total);
    }
    return Object.fromEntries(done);
  }

  // Pictures of people and rooms

  /** The folder that an address of this server leads to, below `above`; null for what is elsewhere. */
  folderOf(address, above) {
    const [, name] = /\/o\/([^?]+)/.exec(address ?? "") ?? [];
    const path = name ? decodeURIComponent(name) : "";
    return path.startsWith(`${above}/`) ? path.slice(0, path.lastIndexOf("/")) : null;
  }

  /**
   * Uploads a picture, shrunk, and names it in the update that `places(url)` gives, which leaves the address at `path`;
   * then the folder `old` goes, of the one that it replaces.
   */
  async replacePicture(folder, file, old, places, path, report) {
    const png = new File([await shrunk(file)], file.name, { type: "image/png" });
    try {
      const { 0: { url } } = await this.upload(folder, [png], new Map(), report);
      const note = { [this.note(keyOf(folder))]: null };
      await this.hearth.updateOnce({ ...places(url), ...note, ...(old && this.removal(old)) }, path, url);
    } catch (error) {
      this.remove(folder).catch(() => {});
      throw error;
    }
    if (old) this.remove(old).catch(() => {});
  }

  /** Takes a picture away: what names it in the update, then its folder `old`. */
  async removePicture(old, places) {
    await this.hearth.update({ ...places, ...(old && this.removal(old)) });
    if (old) this.remove(old).catch(() => {});
  }

  /** Takes back the right to name the files, then removes them and the note. */
  async remove(folder) {
    await this.hearth.set(`${this.note(keyOf(folder))}/removing`, true);
    for (let name = 0; name < mostFiles; name += 1) {
      const gone = [await this.bucket.delete(`${folder}/${name}`), await this.bucket.delete(`${folder}/${name}-small`)];
      if (!gone.includes(true)) break;
    }
    await this.hearth.set(this.note(keyOf(folder)), null);
  }

  /** Removes what uploads that were cut and deletions have left. */
  async mend() {
    const notes = Object.values((await this.hearth.get(`uploads/${this.uid}`)) ?? {});
    for (const { folder, at, removing } of notes) {
      if (removing || at < this.hearth.now - unnamedFor) await this.remove(folder);
    }
  }
}

/** A smaller picture of one that is wider than that; null for all else. */
async function thumbnail(file) {
  if (!file.type.startsWith("image/")) return null;
  let whole;
  try {
    whole = await picture(file);
  } catch {
    return null;
  }
  if (whole.width <= thumbnailWidth) return whole.close(), null;
  return new Promise((resolve) => shrunkTo(thumbnailWidth, whole).toBlob(resolve, "image/png"));
}

/** The files that a message names; what makes no sense is left out. */
export function attachmentsOf(value) {
  return Object.entries(value ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)).map(([, facts]) => facts)
    .filter((facts) => typeof facts?.title === "string" && typeof facts.type === "string" &&
      typeof facts.size === "number" && isAddress(facts.url));
}

const isAddress = (text) => typeof text === "string" && /^https?:\/\//.test(text) && URL.canParse(text);

/** A file as a message shows it: a picture, a voice, or its title; each a link. */
export function attachmentElement({ title, type, size, url, thumbnail: small }) {
  const label = `${title}, ${sizeText(size)}`;
  const link = (...content) =>
    el("a", { href: url, target: "_blank", rel: "noopener noreferrer", class: "file", title: label }, ...content);
  if (type.startsWith("image/")) {
    return link(el("img", { src: isAddress(small) ? small : url, alt: label, loading: "lazy" }));
  }
  const named = link(el("span", { "aria-hidden": "true" }, "⬇ "), title, el("span", { class: "size" }, ` ${sizeText(size)}`));
  if (!type.startsWith("audio/")) return named;
  return el("div", {}, el("audio", { controls: true, src: url, preload: "none", "aria-label": label }), named);
}
