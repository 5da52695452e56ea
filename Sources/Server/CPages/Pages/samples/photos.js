// Photos of parties: shrunk to 300 pixels' width as PNG here, and kept as files. Earlier ones stand in the database.

import { Bucket, dataAddress } from "./bucket.js";
import { attempt, notice, reason } from "./dom.js";

/** Where the bytes of a photo are. */
export const photoPath = (party, photo) => `parties/${party}/photos/${photo}`;

const width = 300;
const longest = 1200;
const byteLimit = 750_000;
const fileLimit = 30 << 20;

/** What a file shows. */
export async function picture(file) {
  if (file.size > fileLimit) throw new Error("the file is too large");
  try {
    return await createImageBitmap(file);
  } catch {
    throw new Error("the file is no picture");
  }
}

/** A picture of this width at the most, drawn; the one that it is made from is closed. */
export function shrunkTo(width, whole) {
  const scale = Math.min(1, width / whole.width);
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(whole.width * scale));
  canvas.height = Math.min(longest, Math.max(1, Math.round(whole.height * scale)));
  canvas.getContext("2d").drawImage(whole, 0, 0, canvas.width, Math.max(1, Math.round(whole.height * scale)));
  whole.close();
  return canvas;
}

/** The PNG of a file. */
export async function shrunk(file) {
  const canvas = shrunkTo(width, await picture(file));
  const png = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (png.size > byteLimit) throw new Error("the picture is too large, even when it is shrunk");
  return png;
}

/** Photos that were looked at, by key. */
export class PhotoAlbum {
  #hearth;
  #bucket;
  #photos = new Map();

  constructor(hearth) {
    this.#hearth = hearth;
    this.#bucket = new Bucket(hearth, "party");
  }

  /** `{owner, address}`; null while it is not known, or cannot be seen. `later` is called once it is. */
  now(key, later) {
    const known = this.#photos.get(key);
    if (known !== undefined) return known;
    this.#photos.set(key, null);
    this.#load(key).then((address) => address && later(), () => this.#photos.delete(key));
    return null;
  }

  async #load(key) {
    const photo = await this.#hearth.get(`photos/${key}`);
    const address = typeof photo?.file === "number"
      ? await this.#bucket.picture(photoPath(photo.party, key))
      : /^[A-Za-z0-9+/=]+$/.test(photo?.png ?? "") && `data:image/png;base64,${photo.png}`;
    if (address) this.#photos.set(key, { owner: photo.owner, address });
    return address;
  }
}

/** Photos that are on their way to their parties, one after the other, and those that were refused. */
export class PhotoOutbox {
  #sent = [];
  #turn = Promise.resolve();

  /** `page` has the parties, and is drawn when something changes here. */
  constructor(page) {
    this.page = page;
  }

  /** What is on its way to a party. */
  to(party) {
    return this.#sent.filter((sent) => sent.party === party);
  }

  async add(party, owner, files) {
    for (const file of files) {
      await attempt(`add ${file.name}`, async () => {
        const png = await shrunk(file);
        const photo = this.page.hearth.key();
        const sent = { photo, party, owner, png, title: file.name, address: await dataAddress(png) };
        this.#sent.push(sent);
        this.deliver(sent);
      });
    }
  }

  deliver(sent) {
    this.#change(sent, { state: "pending", progress: 0 });
    this.#turn = this.#turn.then(() => this.#deliverNow(sent));
  }

  async #deliverNow(sent) {
    const { page } = this;
    try {
      await page.parties.addPhoto(sent, (count) =>
        this.#change(sent, { progress: Math.floor((count / sent.png.size) * 100) }));
    } catch (error) {
      this.#change(sent, { state: "refused", why: reason(error) });
      notice(`${sent.title} was not sent: ${sent.why}.`, true);
      if (!page.followed(sent.party).party) this.discard(sent);
      return;
    }
    this.#forget(sent);
    if (sent.owner !== page.me.uid) notice(`${page.nameOf(sent.owner)} was asked to add your photo.`);
  }

  /** Forgets a photo that was refused; what stays of it for want of a connection, the next start finds. */
  discard(sent) {
    this.#forget(sent);
    this.page.parties.discardPhoto(sent).catch(() => {});
  }

  #forget(sent) {
    this.#sent = this.#sent.filter((other) => other !== sent);
    this.page.draw();
  }

  #change(sent, facts) {
    Object.assign(sent, facts);
    this.page.draw();
  }
}
