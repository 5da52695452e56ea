// Photos of parties: shrunk to 300 pixels' width as PNG here, and kept as base64 in the database.

const width = 300;
const longest = 1200;
const textLimit = 1_000_000;
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

/** The PNG of a file in base64. */
export async function shrunk(file) {
  const png = shrunkTo(width, await picture(file)).toDataURL("image/png").split(",")[1];
  if (png.length > textLimit) throw new Error("the picture is too large, even when it is shrunk");
  return png;
}

/** Photos that were looked at, by key. */
export class PhotoAlbum {
  #hearth;
  #photos = new Map();

  constructor(hearth) {
    this.#hearth = hearth;
  }

  /** `{owner, address}`; null while it is not known, or cannot be seen. `later` is called once it is. */
  now(key, later) {
    const known = this.#photos.get(key);
    if (known !== undefined) return known;
    this.#photos.set(key, null);
    this.#hearth.get(`photos/${key}`).then((photo) => {
      if (typeof photo?.png !== "string" || !/^[A-Za-z0-9+/=]+$/.test(photo.png)) return;
      this.#photos.set(key, { owner: photo.owner, address: `data:image/png;base64,${photo.png}` });
      later();
    }, () => this.#photos.delete(key));
    return null;
  }
}
