// The children of one node, live, however many there are: a window over them in key order, which follows what is looked at;
// or those that a query selects.

import { compareKeys, join, read, shown } from "./values.js";

/** Children that are fetched at once, and how many of them stand before the first that is looked at. */
const windowSize = 200;
const margin = 60;
/** Milliseconds from one window to the next while a person scrolls, so that the server makes none that is not looked at. */
const pauseBetweenMoves = 60;

/** One child: its key and outline, and its own children while it is open. */
export class Item {
  listing = null;
  /** "added" or "changed", until that was shown. */
  news = null;
  /** Whether the person may read it whom the tree is seen as: true, or why not; undefined until that is known. */
  sight = undefined;

  constructor(parentPath, key, outline) {
    Object.assign(this, { key, path: join(parentPath, key), node: read(outline) });
  }

  /** Asks, as the person whom the data is seen as, for what a row shows. */
  lookAs(viewer, changed) {
    if (!viewer || this.sight !== undefined) return;
    this.sight = null;
    viewer.ask({ do: "get", path: `/${this.path}`, outline: true }, true).then(
      () => (this.sight = true),
      (refusal) => (this.sight = refusal.message),
    ).then(changed);
  }
}

export class Listing {
  /** Of the node, however many are in the window. */
  count = 0;
  /** The index of the first child in the window. */
  first = 0;
  items = [];
  /** Whether the rules have no index for the query. */
  lacksIndex = false;
  #query;
  #hearth;
  #path;
  #changed;
  #stop = () => {};
  #turn = 0;
  #wantedFirst = null;
  #timer = 0;
  #movedAt = 0;

  /** `changed(words)` is called whenever something in sight is another; `words` say what is gone. */
  constructor(hearth, path, count, changed, query = null) {
    Object.assign(this, { count });
    this.#query = query;
    this.#hearth = hearth;
    this.#path = path;
    this.#changed = changed;
    this.#observe(0, null);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#turn += 1;
    this.#stop();
    for (const item of this.items) item.listing?.stop();
  }

  /** How many rows it has, when its node has so many children. */
  length(count) {
    return this.#query ? this.items.length : count;
  }

  /** The child at an index; nothing while it is not in the window. */
  at(index) {
    return this.items[index - this.first];
  }

  /** The first child whose key is not before this one: `{index, key}`, `key` null when there is none. Asks for some 20 keys of a million. */
  async find(start) {
    const near = this.items.findIndex(({ key }) => key === start);
    if (near >= 0) return { index: this.first + near, key: start };
    if (this.#query) return { index: -1, key: null };
    let [from, to, found] = [0, this.count, null];
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const { key } = await this.#hearth.ask({ do: "keyAt", path: `/${this.#path}`, index: middle }, true);
      // Beyond the end there is none.
      if (key === null || compareKeys(key, start) >= 0) [to, found] = [middle, key];
      else from = middle + 1;
    }
    return { index: from, key: found };
  }

  /** Says that the children from one index to another are looked at. */
  lookAt(from, to) {
    if (this.#query) return;
    const end = this.first + this.items.length;
    const isThere = from >= this.first && (to <= end || end >= this.count);
    if (isThere) return;
    const first = Math.max(0, Math.min(from - margin, this.count - windowSize));
    if (first === this.#wantedFirst) return;
    this.#wantedFirst = first;
    this.#timer ||= setTimeout(() => this.#move(), this.#movedAt + pauseBetweenMoves - performance.now());
  }

  async #move() {
    this.#timer = 0;
    this.#movedAt = performance.now();
    const first = this.#wantedFirst;
    const turn = (this.#turn += 1);
    let key = null;
    if (first > 0) {
      try {
        ({ key } = await this.#hearth.ask({ do: "keyAt", path: `/${this.#path}`, index: first }, true));
      } catch {
        // What may not be read says so where it is listed.
      }
    }
    if (turn === this.#turn) this.#observe(key === null ? 0 : first, key);
  }

  #observe(first, key) {
    this.#wantedFirst = first;
    const stopOld = this.#stop;
    let items = [];
    let isWhole = false;
    const put = (event, news) => {
      const old = items.findIndex((item) => item.key === event.key);
      const item = old < 0 ? new Item(this.#path, event.key, event.value) : items[old];
      item.node = read(event.value);
      if (isWhole) Object.assign(item, { news, sight: undefined });
      if (old >= 0) items.splice(old, 1);
      items.splice(items.findIndex((each) => each.key === event.previousKey) + 1, 0, item);
      if (isWhole) this.#changed();
    };
    const inOrder = { orderByKey: true, limitToFirst: windowSize, ...(key !== null && { startAt: key }) };
    const query = this.#query ?? inOrder;
    const stop = this.#hearth.observe(
      {
        path: `/${this.#path}`,
        query,
        outline: true,
        events: ["childRemoved", "childAdded", "childMoved", "childChanged"],
      },
      {
        begin: () => {
          items = [];
          isWhole = false;
        },
        end: ({ warning }) => {
          isWhole = true;
          this.lacksIndex = warning === "no_index";
          stopOld();
          this.#take(items, first);
        },
        childAdded: (event) => put(event, "added"),
        childChanged: (event) => put(event, "changed"),
        // Where several move at once, no place is right before all have moved.
        childMoved: () => {
          if (this.#stop === stop) this.#observe(0, null);
        },
        childRemoved: (event) => {
          const index = items.findIndex((item) => item.key === event.key);
          if (index < 0) return;
          items.splice(index, 1)[0].listing?.stop();
          this.#changed(`${shown(event.key)} removed`);
        },
        cancelled: (refusal) => {
          this.refusal = refusal;
          stopOld();
          this.#take([], 0);
        },
      },
    );
    this.#stop = stop;
  }

  /** Puts another window in place; what is open in both stays open. */
  #take(items, first) {
    const old = new Map(this.items.map((item) => [item.key, item]));
    for (const item of items) {
      item.listing = old.get(item.key)?.listing ?? null;
      old.delete(item.key);
    }
    for (const item of old.values()) item.listing?.stop();
    Object.assign(this, { items, first });
    this.#changed();
  }
}
