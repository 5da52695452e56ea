// A tree of which only the rows in sight exist: the treegrid pattern of WAI-ARIA over listings.

import { leafParts, linkParts } from "./cells.js";
import { el, fill, keepFocus } from "./dom.js";
import { Item, Listing } from "./listing.js";
import { keyOf, leafText, number, parentOf, read, shown, summary } from "./values.js";

const rowHeight = 26;
/** Browsers cut elements that are higher than some 33 million pixels. */
const mostRows = 1_200_000;
/** Characters that do something; a key that begins so is gone to with Shift. */
const commands = new Set(["a", "g", "o", "+", "/", "?", " "]);
const typingPause = 1_000;

export class Tree {
  #hearth;
  #calls;
  /** Selects the children of the node at the top; null for all of them. */
  #query;
  /** The connection of the person whom the tree is seen as; null for the administrator's own sight. */
  #viewer;
  #root;
  #body = el("div", { class: "rows", role: "presentation" });
  #frame = 0;
  #chosen = "";
  #drawn = new Map();
  /** The path whose value is being edited. */
  #editing = null;
  /** The row to choose once its part of the list has come. */
  #awaited = null;
  #typed = "";
  #typedAt = 0;
  #resized = new ResizeObserver(() => this.draw());
  #number = 0;

  /**
   * `calls` are of the page: `actions(item)` gives the buttons of the chosen row, `edit(item)` the element to edit a leaf
   * with; `add(item)`, `remove(item)` and `open(path)` do what keys and links ask for.
   */
  constructor(hearth, path, outline, calls, { query = null, viewer = null, at = null } = {}) {
    this.#hearth = hearth;
    this.#calls = calls;
    this.#query = query;
    this.#viewer = viewer;
    this.#root = Object.assign(new Item("", keyOf(path), outline), { path });
    this.element = el("div", {
      class: "tree unmarked", role: "treegrid", tabindex: "0", "aria-label": `What is at /${shown(path)}`,
      onscroll: () => this.draw(), onkeydown: (event) => this.#press(event),
    }, this.#body);
    this.#chosen = path;
    this.#open(this.#root);
    if (at) this.#goTo(this.#root, at);
    this.#resized.observe(this.element);
  }

  close() {
    this.#resized.disconnect();
    this.#root.listing?.stop();
  }

  /** The node at the top is now this. */
  update(outline) {
    Object.assign(this.#root, { node: read(outline), sight: undefined });
    if (!this.#root.listing) this.#open(this.#root);
    this.draw();
  }

  get isEditing() {
    return this.#editing !== null;
  }

  get chosen() {
    return this.#find(this.#indexOf(this.#chosen))?.item ?? this.#root;
  }

  /** Draws in the next frame. */
  draw() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  // Rows: the node itself, then all that is open below it, each of the same height.

  #rowCount() {
    return Math.min(mostRows, 1 + this.#below(this.#root));
  }

  #below(item) {
    const { listing } = item;
    if (!listing) return 0;
    listing.count = listing.length(item.node.kind === "map" ? item.node.count : 0);
    return listing.items.reduce((sum, each) => sum + this.#below(each), listing.count);
  }

  /** What stands in a row: an item, or the place of one that is not here yet. */
  #find(row) {
    if (row <= 0) return row === 0 ? { item: this.#root, level: 1, index: 0, count: 1 } : null;
    return this.#findBelow(this.#root, row - 1, 2);
  }

  #findBelow(parent, row, level) {
    const { listing } = parent;
    let before = 0;
    for (const [place, item] of listing.items.entries()) {
      if (!item.listing) continue;
      const index = listing.first + place;
      if (row <= index + before) break;
      const height = this.#below(item);
      if (row <= index + before + height) return this.#findBelow(item, row - index - before - 1, level + 1);
      before += height;
    }
    const index = row - before;
    if (index >= listing.count) return null;
    return { item: listing.at(index) ?? null, level, index, count: listing.count, listing, parent };
  }

  /** The row of a path that is in a window; -1 for others. */
  #indexOf(path) {
    if (path === this.#root.path) return 0;
    let row = 1;
    let parent = this.#root;
    for (;;) {
      const { listing } = parent;
      if (!listing) return -1;
      const place = listing.items.findIndex((item) => path === item.path || path.startsWith(`${item.path}/`));
      if (place < 0) return -1;
      row += listing.first + place;
      for (const item of listing.items.slice(0, place)) row += this.#below(item);
      parent = listing.items[place];
      if (parent.path === path) return row;
      row += 1;
    }
  }

  #draw() {
    const total = this.#rowCount();
    const top = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - 8);
    const end = Math.min(total, top + Math.ceil(this.element.clientHeight / rowHeight) + 16);
    this.#body.style.height = `${total * rowHeight}px`;
    this.element.setAttribute("aria-rowcount", String(total));
    const wanted = new Map();
    const looked = new Map();
    for (let row = top; row < end; row += 1) {
      const found = this.#find(row);
      if (!found) break;
      wanted.set(found.item?.path ?? `${found.parent.path}/…${found.index}`, { row, ...found });
      if (!found.listing) continue;
      const range = looked.get(found.listing) ?? [found.index, found.index];
      looked.set(found.listing, [Math.min(range[0], found.index), Math.max(range[1], found.index + 1)]);
    }
    for (const [listing, [from, to]] of looked) listing.lookAt(from, to);
    const awaited = this.#awaited === null ? null : this.#find(this.#awaited)?.item;
    if (awaited) [this.#chosen, this.#awaited] = [awaited.path, null];
    for (const [key, { element }] of this.#drawn) {
      // What is being typed stays, wherever its row has gone.
      if (wanted.has(key) || key === this.#editing) continue;
      element.remove();
      this.#drawn.delete(key);
    }
    keepFocus(this.#body, () => {
      for (const [key, found] of wanted) this.#drawRow(key, found);
    });
    this.#sort([...wanted.keys()].map((key) => this.#drawn.get(key).element));
    const chosen = this.#drawn.get(this.#chosen)?.element;
    this.element.classList.toggle("unmarked", !chosen);
    if (chosen) this.element.setAttribute("aria-activedescendant", chosen.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /** Puts rows into the page in the order in which they are seen, which is how they are read out. */
  #sort(rows) {
    let next = this.#body.firstElementChild;
    for (const row of rows) {
      if (row === next) next = row.nextElementSibling;
      else this.#body.insertBefore(row, next);
    }
  }

  #drawRow(key, found) {
    const { item, row, level, index, count } = found;
    const isChosen = item !== null && item.path === this.#chosen;
    item?.lookAs(this.#viewer, () => this.draw());
    const state = item && JSON.stringify([item.node, item.listing !== null, isChosen, this.#editing === item.path, item.sight, this.#calls.links(item)]);
    let drawn = this.#drawn.get(key);
    if (!drawn) {
      const element = el("div", { role: "row", class: "row", id: `row-${(this.#number += 1)}` });
      drawn = { element, state: undefined };
      this.#drawn.set(key, drawn);
      this.#body.append(element);
    }
    const { element } = drawn;
    element.style.transform = `translateY(${row * rowHeight}px)`;
    for (const [name, value] of [["rowindex", row + 1], ["level", level], ["posinset", index + 1], ["setsize", count]]) {
      element.setAttribute(`aria-${name}`, String(value));
    }
    if (item?.news) {
      element.classList.remove("added", "changed");
      void element.offsetWidth;
      element.classList.add(item.news);
      this.#calls.say(`${shown(item.key)} ${item.news}`);
      item.news = null;
    }
    if (drawn.state === state && state !== undefined) return;
    const editor = this.#editing !== null && this.#editing === item?.path && drawn.state !== undefined && element.querySelector(".edit");
    if (editor) return editor.look(item.node);
    drawn.state = state;
    element.style.setProperty("--level", String(level - 1));
    element.setAttribute("aria-selected", String(isChosen));
    element.classList.toggle("unreadable", typeof item?.sight === "string");
    element.title = typeof item?.sight === "string" ? item.sight : "";
    if (item?.node.kind === "map") element.setAttribute("aria-expanded", String(item.listing !== null));
    else element.removeAttribute("aria-expanded");
    fill(element, item ? this.#cells(item, isChosen) : [el("span", { role: "gridcell", class: "waiting" }, "…")]);
    element.onclick = item ? (event) => this.#click(event, item) : null;
    element.ondblclick = item ? (event) => this.#doubleClick(event, item) : null;
  }

  #cells(item, isChosen) {
    const { node } = item;
    const isMap = node.kind === "map";
    const twisty = el("span", { class: isMap ? "twisty" : "twisty none", "aria-hidden": "true" }, isMap ? (item.listing ? "▾" : "▸") : "");
    const key = el("span", { role: "gridcell", class: "key" }, twisty, el("span", { class: "name", title: item.key.length > 40 ? shown(item.key) : null }, shown(item.key || "/")));
    const value = el("span", { role: "gridcell", class: "value" });
    if (this.#editing === item.path) fill(value, [this.#calls.edit(item)]);
    else fill(value, this.#valueParts(item));
    const actions = isChosen && this.#editing !== item.path ? this.#calls.actions(item) : [];
    return [key, value, el("span", { role: "gridcell", class: "actions" }, actions)];
  }

  #valueParts(item) {
    const { node } = item;
    const links = this.#calls.links(item);
    const priority = node.priority === null ? [] : [el("span", { class: "priority", title: "priority" }, `↑ ${leafText(node.priority, 40)}`)];
    if (node.kind === "nothing") return [el("span", { class: "nothing" }, "nothing")];
    if (node.kind === "map") {
      return [
        el("span", { class: "count" }, number(node.count)),
        el("span", { class: "summary" }, summary(node)),
        ...linkParts(links, this.#calls),
        ...priority,
      ];
    }
    return leafParts(item, this.#calls, links);
  }

  // What people do

  #open(item) {
    if (item.node.kind !== "map" || item.listing) return;
    const query = item === this.#root ? this.#query : null;
    item.listing = new Listing(this.#hearth, item.path, item.node.count, (words) => this.#listed(words), query);
    this.draw();
  }

  #listed(words) {
    if (words) this.#calls.say(words);
    const { lacksIndex = false, refusal = null } = this.#root.listing ?? {};
    this.#calls.listed?.(lacksIndex, refusal);
    this.draw();
  }

  #shut(item) {
    item.listing?.stop();
    item.listing = null;
    if (this.#editing?.startsWith(`${item.path}/`)) this.leaveEditor();
    if (this.#chosen.startsWith(`${item.path}/`)) this.#chosen = item.path;
    this.draw();
  }

  #click(event, item) {
    if (event.target.closest("a, button, input, textarea, select")) return;
    this.#chosen = item.path;
    this.#awaited = null;
    if (event.target.closest(".twisty")) this.#toggle(item);
    this.draw();
  }

  #doubleClick(event, item) {
    if (event.target.closest(".twisty, a, button, input, textarea, select")) return;
    item.node.kind === "map" ? this.#toggle(item) : this.edit(item);
  }

  #toggle(item) {
    item.listing ? this.#shut(item) : this.#open(item);
  }

  edit(item) {
    if (item.node.kind !== "leaf" && item.node.kind !== "cut" && item.node.kind !== "nothing") return;
    this.#chosen = item.path;
    if (this.#calls.hasOwnEditor(item)) return this.draw();
    this.#editing = item.path;
    this.#draw();
    this.#drawn.get(item.path)?.element.querySelector("input, textarea")?.focus();
  }

  /** Takes the editor away. */
  leaveEditor() {
    this.#editing = null;
    for (const drawn of this.#drawn.values()) drawn.state = undefined;
    this.element.focus({ preventScroll: true });
    this.draw();
  }

  #press(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.#type(event)) return;
    const row = this.#awaited ?? this.#indexOf(this.#chosen);
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const found = this.#find(row);
    const item = found?.item;
    if (event.key in moves) this.#moveTo(row + moves[event.key]);
    else if (event.key === "Home") this.#moveTo(0);
    else if (event.key === "End") this.#moveTo(this.#rowCount() - 1);
    else if (!item) return;
    else if (event.key === "ArrowRight") item.listing ? this.#moveTo(row + 1) : this.#open(item);
    else if (event.key === "ArrowLeft") item.listing && item !== this.#root ? this.#shut(item) : this.#toParent(item);
    else if (event.key === "F2") this.edit(item);
    else if (event.key === "Enter") item.node.kind === "map" ? this.#toggle(item) : this.edit(item);
    else if (event.key === "Delete") this.#calls.remove(item);
    else if (event.key === "o") this.#calls.follow(item);
    else if (event.key === "+" || event.key === "a") this.#calls.add(item);
    else return;
    event.preventDefault();
  }

  /** Goes to the sibling whose key begins as it was typed; whether the key of the keyboard was for that. */
  #type(event) {
    if (event.timeStamp - this.#typedAt > typingPause) this.#typed = "";
    if ([...event.key].length !== 1 || (!this.#typed && commands.has(event.key))) return false;
    event.preventDefault();
    // It is no key of the page then.
    event.stopPropagation();
    this.#typed += event.key;
    this.#typedAt = event.timeStamp;
    const { parent = this.#root } = this.#find(this.#indexOf(this.#chosen)) ?? {};
    const start = this.#typed.toLowerCase();
    const near = parent.listing?.items.find(({ key }) => key.toLowerCase().startsWith(start));
    this.#goTo(parent, near?.key ?? this.#typed);
    return true;
  }

  /** Chooses the child with this key, or the first one whose key begins so. */
  async #goTo(parent, start) {
    const { listing } = parent;
    if (!listing) return;
    try {
      const { index, key } = await listing.find(start);
      if (parent.listing !== listing || !key?.startsWith(start)) return;
      const above = listing.items.slice(0, Math.max(0, index - listing.first)).reduce((sum, item) => sum + this.#below(item), 0);
      this.#moveTo(this.#indexOf(parent.path) + 1 + index + above);
    } catch {
      // What may not be read says so where it is listed.
    }
  }

  #toParent(item) {
    if (item !== this.#root) this.#moveTo(this.#indexOf(parentOf(item.path)));
  }

  #moveTo(wanted) {
    const row = Math.max(0, Math.min(wanted, this.#rowCount() - 1));
    const top = row * rowHeight;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight > scrollTop + clientHeight) this.element.scrollTop = top + rowHeight - clientHeight;
    this.#awaited = row;
    this.draw();
  }
}
