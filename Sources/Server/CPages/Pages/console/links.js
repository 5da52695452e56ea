// Where texts and keys lead: those that are keys of a list at the top of the database, such as users/{uid}.

import { Listing } from "./listing.js";
import { parentOf } from "./values.js";

/** Lists that are looked in, texts that are looked up at once, and texts whose answers are kept. */
const mostLists = 12;
const batch = 20;
const mostKept = 5_000;

const isPath = (text) => text.length <= 256 && !/^\w+:/.test(text) && /^\/?[^/.#$[\]\s]+(\/[^/.#$[\]\s]+)+$/.test(text);
const isKey = (text) => text.length > 1 && text.length <= 128 && /^[^/.#$[\]\s\u0000-\u001f]+$/.test(text);

export class Links {
  #hearth;
  #top;
  #changed;
  /** By text the paths where it is a key; undefined until that is known. A key stands behind the list that it is of. */
  #known = new Map();
  #waiting = [];
  #isLooking = false;

  /** `changed()` is called when more is known. */
  constructor(hearth, changed) {
    this.#hearth = hearth;
    this.#changed = changed;
    this.#top = new Listing(hearth, "", 0, () => {
      // Once is enough: every write below would be an event.
      this.#top.stop();
      this.#look();
    });
  }

  close() {
    this.#top.stop();
    this.#waiting = [];
  }

  /** The paths that the value and the key of an item lead to. */
  of({ path, key, node }) {
    const text = node.kind === "leaf" && typeof node.value === "string" ? node.value : "";
    if (isPath(text)) return [text.replace(/^\//, "")];
    return [...this.#find(text), ...this.#find(key, parentOf(path))].filter((found) => found !== path && !path.startsWith(`${found}/`));
  }

  /** `own` is the list of which it is a key, in which it need not be looked for. */
  #find(text, own = null) {
    if (!isKey(text)) return [];
    const name = own === null ? text : `${own}/${text}`;
    if (!this.#known.has(name) && this.#known.size < mostKept) {
      this.#known.set(name, []);
      this.#waiting.push({ name, text, own });
      this.#look();
    }
    return this.#known.get(name) ?? [];
  }

  /** The lists at the top that may have a key like this: where all keys are of one length, it has that length. */
  #listsFor(text) {
    return this.#top.items.filter(({ node }) => {
      if (node.kind !== "map") return false;
      const lengths = new Set(Object.keys(node.first).map((key) => key.length));
      return lengths.size !== 1 || node.count === 1 || [...lengths][0] < 16 || lengths.has(text.length);
    }).slice(0, mostLists);
  }

  async #look() {
    if (this.#isLooking || this.#top.items.length === 0) return;
    this.#isLooking = true;
    while (this.#waiting.length > 0) {
      const asked = this.#waiting.splice(0, batch).flatMap(({ name, text, own }) =>
        this.#listsFor(text).filter(({ path }) => path !== own).map((list) => [name, `${list.path}/${text}`]));
      const found = await Promise.all(asked.map(async ([name, path]) => {
        try {
          return (await this.#hearth.ask({ do: "get", path: `/${path}`, outline: true }, true)).value === null ? null : [name, path];
        } catch {
          return null;
        }
      }));
      for (const [name, path] of found.filter(Boolean)) this.#known.set(name, [...this.#known.get(name), path]);
      if (found.some(Boolean)) this.#changed();
    }
    this.#isLooking = false;
  }
}
