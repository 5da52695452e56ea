// A table of records, of which only the rows in sight exist: the grid pattern of WAI-ARIA over a listing.

import { leafParts } from "./cells.js";
import { el, fill } from "./dom.js";
import { Listing } from "./listing.js";
import { join, number, read, shown } from "./values.js";

const rowHeight = 26;
/** Browsers cut elements that are higher than some 33 million pixels. */
const mostRows = 1_200_000;
const mostColumns = 40;
/** The name of the column of children that are no records; no key is empty. */
const own = "";

export class Table {
  #hearth;
  #calls;
  #path;
  #order;
  #viewer;
  #listing;
  #count;
  /** Of the columns behind that of the keys: what the children have that were in sight so far. */
  #names = [];
  #head = el("div", { class: "cells head-row", role: "row", "aria-rowindex": "1" });
  #body = el("div", { class: "rows", role: "presentation" });
  #drawn = new Map();
  #frame = 0;
  /** The path of the chosen row, null for the head; and its column, 0 for the keys. */
  #chosen = null;
  #column = 0;
  /** The row to choose once its part of the list has come. */
  #awaited = null;
  #isEditing = false;
  #resized = new ResizeObserver(() => this.draw());

  /** `calls` as those of a `Tree`, and `sort(name)`; `order` is `{by, isLast}`, of a query. */
  constructor(hearth, path, outline, calls, { query = null, viewer = null, order = {} } = {}) {
    this.#hearth = hearth;
    this.#calls = calls;
    this.#path = path;
    this.#order = order;
    this.#viewer = viewer;
    this.element = el("div", {
      class: "tree table unmarked", role: "grid", tabindex: "0", "aria-label": `Records at /${shown(path)}`,
      onscroll: () => this.draw(), onkeydown: (event) => this.#press(event),
    }, this.#head, this.#body);
    this.#count = read(outline).count;
    this.#listing = new Listing(hearth, path, this.#count, (words) => this.#listed(words), query);
    this.#resized.observe(this.element);
  }

  close() {
    this.#resized.disconnect();
    this.#listing.stop();
  }

  update(outline) {
    this.#count = read(outline).count;
    this.draw();
  }

  get isEditing() {
    return this.#isEditing;
  }

  /** What is in the chosen cell. */
  get chosen() {
    const item = this.#listing.items.find(({ path }) => path === this.#chosen);
    return (item && this.#cell(item, this.#column)) ?? { path: this.#path, key: "", node: { kind: "map", count: this.#count } };
  }

  draw() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  leaveEditor() {
    this.#isEditing = false;
    for (const drawn of this.#drawn.values()) drawn.state = undefined;
    this.element.focus({ preventScroll: true });
    this.draw();
  }

  // Rows and cells

  #rowCount() {
    return Math.min(mostRows, this.#listing.length(this.#count));
  }

  /** The last ones first is how a descending order is read. */
  #place(row) {
    return this.#order.isLast ? this.#rowCount() - 1 - row : row;
  }

  #indexOf(path) {
    const index = this.#listing.items.findIndex((item) => item.path === path);
    return index < 0 ? -1 : this.#place(this.#listing.first + index);
  }

  /** What a record has: all of it where more than an outline shows was fetched. */
  #members({ listing, node }) {
    if (listing?.items.length) return new Map(listing.items.map((item) => [item.key, item.node]));
    return new Map(Object.entries(node.first ?? {}).map(([key, outline]) => [key, read(outline)]));
  }

  #cell(item, column) {
    const name = this.#names[column - 1];
    if (column === 0 || (name === own && item.node.kind !== "map")) return item;
    if (name === own || item.node.kind !== "map") return null;
    const node = this.#members(item).get(name) ?? { kind: "nothing", value: null, priority: null };
    return { path: join(item.path, name), key: name, node, typeHint: this.#types.get(name) };
  }

  /** The type of the first value that was seen in each column, for new ones. */
  #types = new Map();

  #gather(item) {
    const names = item.node.kind === "map" ? this.#members(item) : new Map([[own, item.node]]);
    for (const [name, node] of names) {
      if (!this.#types.has(name) && node.type) this.#types.set(name, node.type);
      if (this.#names.includes(name) || this.#names.length >= mostColumns) continue;
      if (name === own) this.#names.unshift(name);
      else this.#names.push(name);
    }
  }

  /** Of values alone: keys are the names of columns. */
  #linksOf(cell) {
    return cell ? this.#calls.links({ ...cell, key: "" }) : [];
  }

  #listed(words) {
    if (words) this.#calls.say(words);
    this.#calls.listed(this.#listing.lacksIndex, this.#listing.refusal ?? null);
    this.draw();
  }

  #draw() {
    this.#listing.count = this.#listing.length(this.#count);
    const total = this.#rowCount();
    const top = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - 8);
    const end = Math.min(total, top + Math.ceil(this.element.clientHeight / rowHeight) + 16);
    const [from, to] = this.#order.isLast ? [total - end, total - top] : [top, end];
    this.#listing.lookAt(from, to);
    const rows = Array.from({ length: Math.max(0, end - top) }, (_, index) => ({ row: top + index, item: this.#listing.at(this.#place(top + index)) ?? null }));
    this.#fetch(new Set(rows.map(({ item }) => item)));
    for (const { item } of rows) if (item) this.#gather(item);
    const awaited = this.#awaited === null ? null : this.#listing.at(this.#place(this.#awaited));
    if (awaited) [this.#chosen, this.#awaited] = [awaited.path, null];
    this.#body.style.height = `${total * rowHeight}px`;
    this.element.style.setProperty("--columns", this.#names.length);
    this.element.setAttribute("aria-rowcount", String(total + 1));
    this.element.setAttribute("aria-colcount", String(this.#names.length + 1));
    this.#drawHead();
    const wanted = new Map(rows.map((each) => [each.item?.path ?? `…${each.row}`, each]));
    for (const [key, { element }] of this.#drawn) {
      // What is being typed stays, wherever its row has gone.
      if (wanted.has(key) || (this.#isEditing && key === this.#chosen)) continue;
      element.remove();
      this.#drawn.delete(key);
    }
    for (const [key, each] of wanted) this.#drawRow(key, each);
    this.#sort([...wanted.keys()].map((key) => this.#drawn.get(key).element));
    this.#point();
  }

  /** Puts rows into the page in the order in which they are seen, which is how they are read out. */
  #sort(rows) {
    let next = this.#body.firstElementChild;
    for (const row of rows) {
      if (row === next) next = row.nextElementSibling;
      else this.#body.insertBefore(row, next);
    }
  }

  /** Follows the records in sight that have more than their outline shows. */
  #fetch(inSight) {
    for (const item of this.#listing.items) {
      const isWanted = inSight.has(item) && item.node.kind === "map" && item.node.count > Object.keys(item.node.first).length;
      if (isWanted && !item.listing) item.listing = new Listing(this.#hearth, item.path, item.node.count, () => this.draw());
      if (isWanted || !item.listing) continue;
      item.listing.stop();
      item.listing = null;
    }
  }

  #drawHead() {
    const { by, isLast } = this.#order;
    const state = JSON.stringify([this.#names, this.#chosen === null && this.#column]);
    if (this.#head.dataset.state === state) return;
    this.#head.dataset.state = state;
    fill(this.#head, [null, ...this.#names].map((name, column) => {
      const isSorted = name === by;
      return el(
        "div",
        { role: "columnheader", class: "cell", "aria-colindex": column + 1, "aria-sort": isSorted ? (isLast ? "descending" : "ascending") : "none" },
        el(
          "button", { type: "button", tabindex: "-1", class: "plain", title: "Order by it", onclick: () => this.#calls.sort(name) },
          name === null ? "key" : name === own ? "value" : shown(name), isSorted ? (isLast ? " ↓" : " ↑") : "",
        ),
      );
    }));
  }

  #drawRow(key, { row, item }) {
    const isChosen = item !== null && item.path === this.#chosen;
    item?.lookAs(this.#viewer, () => this.draw());
    const editing = isChosen && this.#isEditing ? this.#column : -1;
    const links = item && this.#names.map((_, index) => this.#linksOf(this.#cell(item, index + 1)));
    const state = item && JSON.stringify([item.node, [...this.#members(item)], links, this.#names, isChosen, editing, item.sight]);
    const drawn = this.#drawn.get(key) ?? { element: el("div", { role: "row", class: "row cells" }), state: undefined };
    const { element } = drawn;
    if (!this.#drawn.has(key)) this.#body.append(element);
    this.#drawn.set(key, drawn);
    element.style.transform = `translateY(${row * rowHeight}px)`;
    element.setAttribute("aria-rowindex", String(row + 2));
    if (item?.news) {
      element.classList.remove("added", "changed");
      void element.offsetWidth;
      element.classList.add(item.news);
      this.#calls.say(`${shown(item.key)} ${item.news}`);
      item.news = null;
    }
    if (drawn.state === state && state !== undefined) return;
    const editor = editing >= 0 && element.querySelector(".edit");
    if (editor) return editor.look(this.#cell(item, editing).node);
    drawn.state = state;
    element.setAttribute("aria-selected", String(isChosen));
    element.classList.toggle("unreadable", typeof item?.sight === "string");
    element.title = typeof item?.sight === "string" ? item.sight : "";
    fill(element, item ? [null, ...this.#names].map((_, column) => this.#drawCell(item, column, column === editing)) : [el("span", { role: "gridcell", class: "cell waiting" }, "…")]);
  }

  #drawCell(item, column, isEdited) {
    const cell = this.#cell(item, column);
    const parts = column === 0 ? [el("span", { class: "name", title: item.key.length > 24 ? shown(item.key) : null }, shown(item.key))]
      : isEdited ? [this.#calls.edit(cell)]
        : !cell || cell.node.kind === "nothing" ? [] : cell.node.kind === "map" ? [el("span", { class: "count" }, `{${number(cell.node.count)}}`)] : leafParts(cell, this.#calls, this.#linksOf(cell));
    const choose = () => {
      if (this.#isEditing) return;
      [this.#chosen, this.#column, this.#awaited] = [item.path, column, null];
      this.draw();
    };
    return el("span", {
      role: "gridcell", class: column === 0 ? "cell key" : isEdited ? "cell edited" : "cell value", "aria-colindex": column + 1,
      onclick: choose, ondblclick: () => this.edit(),
    }, parts);
  }

  /** Marks the chosen cell, which is the one that is read out. */
  #point() {
    for (const old of this.element.querySelectorAll("#chosen-cell")) old.removeAttribute("id");
    const row = this.#chosen === null ? this.#head : this.#drawn.get(this.#chosen)?.element;
    const cell = row?.children[this.#column];
    this.element.classList.toggle("unmarked", !cell);
    if (!cell) return this.element.removeAttribute("aria-activedescendant");
    cell.id = "chosen-cell";
    this.element.setAttribute("aria-activedescendant", cell.id);
  }

  // What people do

  /** Edits the chosen leaf in its place; opens what is none. */
  edit() {
    const item = this.#listing.items.find(({ path }) => path === this.#chosen);
    const cell = item && this.#cell(item, this.#column);
    if (!cell || this.#isEditing) return;
    if (this.#column === 0 || cell.node.kind === "map") return this.#calls.open(cell.path);
    if (this.#calls.hasOwnEditor(cell)) return;
    this.#isEditing = true;
    this.#draw();
    this.#drawn.get(this.#chosen)?.element.querySelector("input, textarea")?.focus();
  }

  #press(event) {
    if (event.target !== this.element || event.altKey || event.metaKey) return;
    // Keys that come before the next frame are meant for what the last one has chosen.
    if (this.#awaited !== null) this.#draw();
    const row = this.#awaited ?? (this.#chosen === null ? -1 : this.#indexOf(this.#chosen));
    const page = Math.max(1, Math.floor(this.element.clientHeight / rowHeight) - 2);
    const last = this.#rowCount() - 1;
    const rows = { ArrowDown: row + 1, ArrowUp: row - 1, PageDown: row + page, PageUp: Math.max(0, row - page) };
    const columns = { ArrowRight: this.#column + 1, ArrowLeft: this.#column - 1, Home: 0, End: this.#names.length };
    if (event.ctrlKey && (event.key === "Home" || event.key === "End")) this.#moveTo(event.key === "Home" ? 0 : last);
    else if (event.ctrlKey) return;
    else if (event.key in rows) this.#moveTo(rows[event.key]);
    else if (event.key in columns) this.#moveAside(columns[event.key]);
    else if (event.key === "Enter") this.#chosen === null ? this.#calls.sort(this.#column === 0 ? null : this.#names[this.#column - 1]) : this.edit();
    else if (event.key === "F2" && this.#chosen !== null) this.edit();
    else if (event.key === "Delete" && this.#chosen !== null && this.chosen.node.kind !== "nothing") this.#calls.remove(this.chosen);
    else if (event.key === "o" && this.#chosen !== null) this.#calls.follow(this.chosen);
    else if (event.key === "+" || event.key === "a") this.#calls.add({ path: this.#path });
    else return;
    event.preventDefault();
  }

  #moveTo(wanted) {
    const row = Math.max(-1, Math.min(wanted, this.#rowCount() - 1));
    if (row < 0) [this.#chosen, this.#awaited] = [null, null];
    else {
      const top = row * rowHeight;
      const height = this.element.clientHeight - rowHeight;
      if (top < this.element.scrollTop) this.element.scrollTop = top;
      else if (top + rowHeight > this.element.scrollTop + height) this.element.scrollTop = top + rowHeight - height;
      this.#awaited = row;
    }
    this.draw();
  }

  #moveAside(wanted) {
    this.#column = Math.max(0, Math.min(wanted, this.#names.length));
    const cell = this.#head.children[this.#column];
    const fixed = this.#head.children[0].offsetWidth;
    if (this.#column > 0 && cell.offsetLeft - fixed < this.element.scrollLeft) this.element.scrollLeft = cell.offsetLeft - fixed;
    const right = cell.offsetLeft + cell.offsetWidth - this.element.clientWidth;
    if (this.#column > 0 && right > this.element.scrollLeft) this.element.scrollLeft = right;
    this.draw();
  }
}
