// What people do at parties: each is one update, as the rules ask.

import { Bucket } from "./bucket.js";
import { messageTo } from "./inbox.js";
import { photoPath } from "./photos.js";

/** The key of an e-mail in the index: lower case, what no key may hold as `=` and two digits. */
export const encoded = (email) =>
  email.toLowerCase().replace(/[=.#$/[\]]/g, (sign) =>
    `=${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

export async function loadGuest(hearth, { uid }) {
  const [user, profile] = await Promise.all([hearth.get(`users/${uid}`), hearth.get(`profiles/${uid}`)]);
  return user && profile?.name ? { uid, name: profile.name } : null;
}

export async function makeGuest(hearth, { uid, email }, name) {
  if (!name || name.length > 100) throw new Error("A name has 1 to 100 characters.");
  const user = await hearth.get(`users/${uid}`);
  await hearth.update({
    ...(user ? {} : { [`users/${uid}`]: { uid, email } }),
    [`profiles/${uid}`]: { name },
    [`emails/${encoded(email)}`]: uid,
  });
}

export class Parties {
  constructor(hearth, me) {
    this.hearth = hearth;
    this.me = me.uid;
    this.bucket = new Bucket(hearth, "party");
  }

  #to(other, type, content, about) {
    return { [`messages/${other}/${this.hearth.key()}`]: messageTo(other, this.me, type, content, about) };
  }

  // Friends

  async ask(email) {
    const other = await this.hearth.get(`emails/${encoded(email)}`);
    if (!other) throw new Error("no account here has this address");
    if (other === this.me) throw new Error("this is your own address");
    await this.hearth.update(this.#to(other, "friend_request", "invite"));
  }

  /** The answer goes under the key of the request, which shows that it was asked for. */
  answerFriend(key, { from }, isYes) {
    return this.hearth.update({
      ...(isYes && { [`users/${this.me}/friends/${from}`]: true }),
      [`messages/${from}/${key}`]: messageTo(from, this.me, "friend_request", isYes ? "accept" : "refuse"),
      [`messages/${this.me}/${key}`]: null,
    });
  }

  unfriend(other) {
    return this.hearth.update({
      [`users/${this.me}/friends/${other}`]: false,
      ...this.#to(other, "friend_request", "refuse"),
    });
  }

  // Parties

  make(description, date, friends) {
    const key = this.hearth.key();
    const guests = Object.fromEntries(friends.map((uid) => [uid, "invited"]));
    const places = {
      [`parties/${key}`]: { owner: this.me, description, date, ...(friends.length && { guests }) },
      [`users/${this.me}/ownedParties/${key}`]: true,
    };
    for (const uid of friends) Object.assign(places, this.#to(uid, "party_invite", "invite", { party: key }));
    return this.hearth.updateOnce(places, `users/${this.me}/ownedParties/${key}`, true);
  }

  /** Also once more, for a guest who has refused. */
  invite(party, uid) {
    return this.hearth.update({
      [`parties/${party}/guests/${uid}`]: "invited",
      ...this.#to(uid, "party_invite", "invite", { party }),
    });
  }

  /** `key` is that of the invitation, where there still is one. */
  answer(party, owner, isYes, key = null) {
    return this.hearth.update({
      [`users/${this.me}/attendingParties/${party}`]: isYes,
      ...this.#to(owner, "party_invite", isYes ? "accept" : "refuse", { party }),
      ...(key && { [`messages/${this.me}/${key}`]: null }),
    });
  }

  cancel(party, guests) {
    const places = { [`parties/${party}`]: null, [`users/${this.me}/ownedParties/${party}`]: null };
    for (const [uid, answer] of Object.entries(guests ?? {})) {
      if (answer === true) Object.assign(places, this.#to(uid, "party_invite", "refuse", { party }));
    }
    return this.hearth.updateOnce(places, `users/${this.me}/ownedParties/${party}`, null);
  }

  change(party, description, date) {
    return this.hearth.update({ [`parties/${party}/description`]: description, [`parties/${party}/date`]: date });
  }

  // Pictures of people

  /** First a note, then the bytes; the update that names them leaves a note for the picture before them, which goes. */
  async setPicture(png, old, report) {
    const key = this.hearth.key();
    const note = (picture) => `users/${this.me}/pictures/${picture}`;
    const named = `profiles/${this.me}/picture`;
    await this.hearth.set(note(key), true);
    try {
      const url = await this.bucket.put(this.#picturePath(key), png, "image/png", report);
      await this.hearth.updateOnce({ [named]: url, [note(key)]: null, ...(old && { [note(old)]: true }) }, named, url);
    } catch (refusal) {
      this.#dropPicture(key).catch(() => {});
      throw refusal;
    }
    if (old) this.#dropPicture(old).catch(() => {});
  }

  async removePicture(old) {
    await this.hearth.update({
      [`profiles/${this.me}/picture`]: null, ...(old && { [`users/${this.me}/pictures/${old}`]: true }),
    });
    if (old) this.#dropPicture(old).catch(() => {});
  }

  /** The key of a picture of mine by its address; null for one that is elsewhere. */
  pictureKey(address) {
    const [, name] = /\/o\/([^?]+)/.exec(address ?? "") ?? [];
    const path = name ? decodeURIComponent(name) : "";
    return path.startsWith(`people/${this.me}/`) ? path.split("/")[2] : null;
  }

  /** Removes what the profile does not name: what was cut on its way here, and what it was to replace. */
  async mendPictures(notes) {
    const named = this.pictureKey(await this.hearth.get(`profiles/${this.me}/picture`));
    for (const key of Object.keys(notes ?? {})) if (key !== named) await this.#dropPicture(key);
  }

  #picturePath(key) {
    return `people/${this.me}/${key}`;
  }

  /** The bytes go, then the note. Where an update that was cut has named them there is no note, and they stay. */
  async #dropPicture(key) {
    const note = `users/${this.me}/pictures/${key}`;
    if ((await this.hearth.get(note)) !== true) return;
    await this.bucket.delete(this.#picturePath(key));
    await this.hearth.set(note, null);
  }

  // Photos

  /**
   * First the photo with a note of what is left to do, then its bytes; what links to them only once they are
   * acknowledged. One that was refused may be added again. `report` gets how many bytes are there.
   */
  async addPhoto({ photo, party, owner, png }, report) {
    const note = `users/${this.me}/uploads/${photo}`;
    if ((await this.hearth.get(note)) !== party) {
      const places = { [`photos/${photo}`]: { owner: this.me, host: owner, party, file: png.size }, [note]: party };
      await this.hearth.updateOnce(places, note, party);
    }
    await this.bucket.put(photoPath(party, photo), png, "image/png", report);
    await this.#linkPhoto(party, owner, photo);
  }

  /** Takes away a photo that could not be added. */
  discardPhoto({ photo, party }) {
    return this.#removeUpload(party, photo);
  }

  /** Takes away a photo that nothing links to: the note goes when its bytes are gone. */
  async #removeUpload(party, photo) {
    if (await this.hearth.get(`photos/${photo}/owner`).catch(() => null)) {
      await this.hearth.update({ [`photos/${photo}`]: null });
    }
    await this.#removeBytes(party, photo);
  }

  async #removeBytes(party, photo) {
    await this.bucket.delete(photoPath(party, photo));
    await this.hearth.set(`users/${this.me}/uploads/${photo}`, null);
  }

  #linkPhoto(party, owner, photo) {
    const link = `users/${this.me}/photos/${photo}`;
    const places = {
      [link]: true,
      [`users/${this.me}/uploads/${photo}`]: null,
      ...(owner === this.me
        ? { [`parties/${party}/photos/${photo}`]: true }
        : this.#to(owner, "image_uploaded", "invite", { party, photo })),
    };
    return this.hearth.updateOnce(places, link, true);
  }

  /** Links what was uploaded when the page was cut off; what cannot be linked any more goes. */
  async finishUploads(uploads) {
    for (const [photo, party] of Object.entries(uploads ?? {})) {
      try {
        const { host, png } = await this.hearth.get(`photos/${photo}`);
        if (png || (await this.bucket.has(photoPath(party, photo)))) await this.#linkPhoto(party, host, photo);
        else await this.#removeUpload(party, photo);
      } catch (refusal) {
        if (refusal.code !== "permission_denied") throw refusal;
        await this.#removeUpload(party, photo);
      }
    }
  }

  answerPhoto(key, { from, party, photo }, isYes) {
    return this.hearth.update({
      ...(isYes && { [`parties/${party}/photos/${photo}`]: true }),
      ...this.#to(from, "image_uploaded", isYes ? "accept" : "refuse", { party, photo }),
      [`messages/${this.me}/${key}`]: null,
    });
  }

  /** The uploader takes the bytes away, and the host the key off the party. */
  async removePhoto(party, owner, photo, isUploader) {
    const isHost = owner === this.me;
    const note = `users/${this.me}/uploads/${photo}`;
    await this.hearth.update({
      ...(isUploader && { [`photos/${photo}`]: null, [`users/${this.me}/photos/${photo}`]: null, [note]: party }),
      ...(isHost && { [`parties/${party}/photos/${photo}`]: null }),
      ...(!isHost && this.#to(owner, "image_uploaded", "refuse", { party, photo })),
    });
    if (isUploader) await this.#removeBytes(party, photo);
  }

  // Suggestions

  suggest(party, owner, guest) {
    return this.hearth.update(this.#to(owner, "party_invite", "invite", { party, guest }));
  }

  /** A guest who was invited meanwhile, or comes already, is left as they are. */
  async answerSuggestion(key, { from, party, guest }, isYes, isFriend) {
    const place = `parties/${party}/guests/${guest}`;
    const isOnList = isYes && ["invited", true].includes(await this.hearth.get(place));
    return this.hearth.update({
      ...(isYes && !isOnList && { [place]: "invited", ...this.#to(guest, "party_invite", "invite", { party }) }),
      ...(isYes && !isFriend && this.#to(guest, "friend_request", "invite")),
      ...this.#to(from, "party_invite", isYes ? "accept" : "refuse", { party, guest }),
      [`messages/${this.me}/${key}`]: null,
    });
  }

  dismiss(key) {
    return this.hearth.set(`messages/${this.me}/${key}`, null);
  }
}
