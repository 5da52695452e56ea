// The page of the data: a live tree from one path on, which can be changed.

import { el, fill, notice, reason } from "./dom.js";
import { filterBar, filterNames, indexLine, orderOf, queryOf } from "./filter.js";
import { Links } from "./links.js";
import { remember } from "./palette.js";
import { ask, confirmed, copy, copyMenu, lines, menuButton, opened, references, undoNotice } from "./parts.js";
import { address } from "./server.js";
import { Table } from "./table.js";
import { download, upload } from "./transfer.js";
import { Tree } from "./tree.js";
import { join, keyFault, keyOf, number, parentOf, parse, read, shown, typeOf, types } from "./values.js";
import { claimsOf, connectAs } from "./viewer.js";

/** Above it what was there is not kept in this page to be put back. */
const undoByteCount = 8_000_000;
const mostUndos = 20;

export class DataPage {
  #shell;
  #path;
  #view = null;
  #stop = () => {};
  #links = null;
  /** What can be taken back, the latest last: `{words, run}`. */
  #undos = [];
  #search = new URLSearchParams();
  #viewer = null;
  #asTable = el("button", { type: "button", onclick: () => this.#toggleTable() }, "Table");
  #filterPlace = el("div", { hidden: true });
  #hint = el("p", { class: "strip", role: "status", hidden: true });
  #mask = el("p", { class: "strip mask", role: "status", hidden: true });
  #place = el("div", { class: "grow tree-place" });
  #seen = el("p", { class: "unseen", "aria-live": "polite" });

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", {
      id: "path", class: "path", spellcheck: "false", autocomplete: "off", "aria-label": "Path",
      onkeydown: (event) => {
        if (event.key === "Enter") this.#go(event.target.value);
        if (event.key === "Escape") event.target.value = `/${this.#path}`;
      },
    });
    this.count = el("span", { class: "count" });
    this.element = el(
      "section",
      { class: "data", "aria-label": "Data", onkeydown: (event) => this.#press(event) },
      el(
        "div",
        { class: "bar" },
        el("button", { type: "button", "aria-label": "One level up", onclick: () => this.#go(parentOf(this.#path)) }, "↑"),
        this.field,
        this.count,
        el("button", { type: "button", "data-changes": true, onclick: () => this.#add({ path: this.#path }) }, "Add"),
        el("button", { type: "button", onclick: () => this.#toggleFilter() }, "Filter"),
        this.#asTable,
        menuButton("More", () => this.#menu()),
      ),
      this.#filterPlace,
      this.#hint,
      this.#mask,
      this.#place,
      this.#seen,
    );
  }

  #offerUndo(words, undo) {
    const entry = {
      words,
      run: () => {
        line.remove();
        this.#undos = this.#undos.filter((other) => other !== entry);
        undo();
      },
    };
    const line = undoNotice(words, entry.run);
    this.#undos = [...this.#undos, entry].slice(-mostUndos);
  }

  #undo() {
    const latest = this.#undos.at(-1);
    if (latest) latest.run();
    else notice("There is nothing to take back.");
  }

  #press(event) {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.target.closest("input, textarea, select")) return;
    event.preventDefault();
    this.#undo();
  }

  /** Shows the path of the address, filtered and as another person as it says. */
  show(path, search) {
    this.#leave();
    this.#path = path;
    this.#search = search;
    this.#hint.hidden = true;
    this.#filterPlace.hidden = !search.has("order");
    fill(this.#filterPlace, [filterBar(search, (query) => this.#go(this.#path, query))]);
    this.#asTable.ariaPressed = String(search.get("view") === "table");
    this.#showAs(search.get("as"));
    this.field.value = `/${path}`;
    remember(this.#shell.database, path);
    document.title = `/${path} · Hearth console`;
    const { hearth } = this.#shell;
    this.#links = new Links(hearth, () => this.#view?.draw());
    fill(this.#place, [el("p", { class: "empty" }, "Reading …")]);
    this.#stop = hearth.observe(
      { path: `/${path}`, outline: true, events: ["value"] },
      {
        begin: () => {},
        end: () => {},
        value: ({ value }) => this.#take(value),
        cancelled: (refusal) => fill(this.#place, [el("p", { class: "empty" }, `Could not read: ${reason(refusal)}.`)]),
      },
    );
  }

  close() {
    this.#leave();
  }

  #leave() {
    this.#stop();
    this.#view?.close();
    this.#view = null;
    this.#viewer?.close();
    this.#viewer = null;
    this.#links?.close();
  }

  #toggleFilter() {
    this.#filterPlace.hidden = !this.#filterPlace.hidden;
    if (!this.#filterPlace.hidden) this.#filterPlace.querySelector("select").focus();
    else if (this.#search.has("order")) this.#go(this.#path, {});
  }

  #toggleTable() {
    const { view, ...kept } = this.#kept("as", "view", ...filterNames);
    this.#shell.go("data", this.#path, view ? kept : { ...kept, view: "table" });
  }

  /** What this person may not read is hatched, with the reason. */
  #showAs(who) {
    this.#mask.hidden = who === null;
    this.#place.classList.toggle("masked", who !== null);
    if (who === null) return;
    this.#viewer = connectAs(this.#shell.database, who);
    fill(this.#mask, [
      `Seen as ${who.trim() ? shown(who) : "a signed-out user"}: hatched rows they may not read. Point at one for the reason. `,
      el("button", { type: "button", class: "small", onclick: () => this.#shell.go("data", this.#path, this.#kept("view", ...filterNames)) }, "Leave"),
    ]);
  }

  async #seeAs() {
    const answer = await ask("See the data as", [
      { name: "who", label: "Uid, or claims as JSON", hint: "Empty: signed out.", value: this.#search.get("as") ?? "", check: whoFault },
    ], "See");
    if (answer) this.#shell.go("data", this.#path, { ...this.#kept("view", ...filterNames), as: answer.who });
  }

  /** What of the address goes on to the next one. */
  #kept(...names) {
    return Object.fromEntries(names.filter((name) => this.#search.has(name)).map((name) => [name, this.#search.get(name)]));
  }

  #listed(lacksIndex, refusal) {
    const line = lacksIndex ? indexLine(this.#search, this.#path) : null;
    this.#hint.hidden = !line && !refusal;
    if (refusal) this.#hint.textContent = `Could not list: ${reason(refusal)}.`;
    else if (line) this.#hint.textContent = `The rules have no index for this order, so the server sorts for it. Add ${line} to the rules.`;
  }

  #take(outline) {
    const node = read(outline);
    this.count.textContent = node.kind === "map" ? `${number(node.count)} ${node.count === 1 ? "child" : "children"}` : "";
    if (node.kind === "nothing") {
      this.#view?.close();
      this.#view = null;
      return fill(this.#place, [this.#teach()]);
    }
    if (this.#view instanceof Table && node.kind !== "map") {
      this.#view.close();
      this.#view = null;
    }
    if (this.#view) return this.#view.update(outline);
    const isTable = this.#search.get("view") === "table" && node.kind === "map";
    this.#view = new (isTable ? Table : Tree)(this.#shell.hearth, this.#path, outline, {
      actions: (item) => this.#actions(item),
      edit: (item) => this.#editor(item),
      remove: (item) => this.#remove(item),
      add: (item) => this.#add(item),
      links: (item) => this.#links.of(item),
      address: (path) => this.#shell.address("data", path, this.#kept("as")),
      follow: (item) => this.#follow(item),
      show: (item) => this.#showWhole(item),
      open: (path) => this.#shell.go("data", path, this.#kept("as")),
      sort: (name) => this.#sort(name),
      listed: (lacksIndex, refusal) => this.#listed(lacksIndex, refusal),
    }, { query: queryOf(this.#search), viewer: this.#viewer, order: orderOf(this.#search) });
    fill(this.#place, [this.#view.element]);
    this.#view.element.focus({ preventScroll: true });
  }

  /** What stands here when there is nothing: how to write something. */
  #teach() {
    const path = join(this.#path, "hello");
    const url = `${location.origin}${address(path)}?ns=${this.#shell.database}`;
    const { javascript, swift } = references(this.#shell.database, path);
    return el(
      "div",
      { class: "empty teach" },
      el("h2", {}, `Nothing is at /${shown(this.#path)}`),
      el("p", {}, "Add something here, or from elsewhere:"),
      lines([["curl", `curl -X PUT -d '"world"' '${url.replaceAll("'", "%27")}'`], ["JavaScript", `set(${javascript}, "world")`], ["Swift", `${swift}.setValue("world")`]]),
      el("p", {}, "It appears in this page as it is written."),
      el("p", {}, el("button", { type: "button", class: "primary", "data-changes": true, onclick: () => this.#add({ path: this.#path }) }, "Add")),
    );
  }

  #go(text, query = {}) {
    const path = text.trim().split("/").filter(Boolean).join("/");
    this.#shell.go("data", path, { ...query, ...this.#kept("as", "view") });
  }

  /** Orders the table by a column, then from its end, then by keys again; null stands for the keys. */
  #sort(name) {
    const { by, isLast } = orderOf(this.#search);
    const order = name === null ? { order: "key" } : name === "" ? { order: "value" } : { order: "child", by: name };
    if (name !== by) this.#go(this.#path, name === null ? {} : order);
    else this.#go(this.#path, isLast ? {} : { ...order, last: "on" });
  }

  /** Goes where the value or the key of an item leads. */
  #follow(item) {
    const [path] = this.#links.of(item);
    if (path) this.#shell.go("data", path, this.#kept("as"));
    else notice("This leads nowhere.");
  }

  async #showWhole({ path }) {
    try {
      const { value } = await this.#value(path);
      const whole = value?.[".value"] ?? value;
      const text = typeof whole === "string" ? whole : JSON.stringify(whole, null, 2) ?? "null";
      const { dialog } = opened([
        el("h2", { id: "dialog-title" }, `/${shown(path)}`),
        el("pre", { class: "whole", tabindex: "0" }, text.split("\n").map(shown).join("\n")),
        el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => copy(text) }, "Copy"), el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close")),
      ]);
    } catch (refusal) {
      this.#failed("Show", path, refusal);
    }
  }

  #actions(item) {
    const button = (sign, label, work) =>
      el("button", { type: "button", tabindex: "-1", class: "small", "data-changes": label !== "Show alone", "aria-label": `${label} ${item.key || "/"}`, title: label, onclick: work }, sign);
    return [
      item.node.kind === "map" ? null : button("✎", "Edit", () => this.#view.edit(item)),
      button("+", "Add below", () => this.#add(item)),
      item.path === this.#path ? null : button("↗", "Show alone", () => this.#go(item.path)),
      button("✕", "Delete", () => this.#remove(item)),
    ];
  }

  #menu() {
    const item = this.#view?.chosen ?? { path: this.#path, key: keyOf(this.#path) };
    return [
      ...this.#undos.slice(-1).map(({ words, run }) => [`Undo: ${words}`, run]),
      ...copyMenu(item.path, this.#shell.database, () => this.#value(item.path)),
      ["Show whole", () => this.#showWhole(item)],
      ...(item.node ? this.#links.of(item) : []).map((path) => [`Go to /${shown(path)}`, () => this.#go(path)]),
      ["See as …", () => this.#seeAs()],
      ["Rename …", () => this.#rename(item)],
      ["Copy to …", () => this.#clone(item)],
      ["Export as JSON", () => this.#export(item)],
      ["Import JSON …", () => this.#import(item)],
      ["Delete", () => this.#remove(item)],
    ];
  }

  // Reading and writing. What is replaced must be what this page has seen: else another client wrote meanwhile.

  async #value(path) {
    return this.#shell.hearth.ask({ do: "get", path: `/${path}`, export: true }, true);
  }

  /** What is at a path, with its tag; without the value where that is too large to be kept. */
  async #before(path) {
    try {
      const { value, etag } = await this.#value(path);
      return { etag, before: JSON.stringify(value).length <= undoByteCount ? value : undefined };
    } catch (refusal) {
      if (refusal.code !== "too_big") throw refusal;
      return { etag: await this.#tagOf(path) };
    }
  }

  #write(path, value, etag) {
    const frame = value === null ? { do: "remove" } : { do: "set", value };
    return this.#shell.hearth.ask({ ...frame, path: `/${path}`, ...(etag && { ifMatch: etag }) });
  }

  /** Writes, says what failed, and offers to take it back while no one has written there since. */
  async #change(what, path, value, before, etag) {
    let reply;
    try {
      reply = await this.#write(path, value, etag);
    } catch (refusal) {
      if (refusal.code !== "etag_mismatch") return this.#failed(what, path, refusal);
      const now = JSON.stringify(refusal.reply.value ?? null);
      notice(`Not done: another client has written to /${shown(path)} meanwhile. It is now ${shown(now.slice(0, 200))}.`, true);
      return false;
    }
    if (before !== undefined) {
      this.#offerUndo(`${what} /${shown(path)}`, async () => {
        const tag = value === null ? "null_etag" : reply.etag;
        await this.#change("Put back", path, before, undefined, tag);
      });
    }
    return true;
  }

  #failed(what, path, refusal) {
    notice(`Could not do it: ${what} /${shown(path)}: ${reason(refusal)}.`, true);
    return false;
  }

  /** The element in which a leaf is edited. Its type stays unless another one is chosen. */
  #editor(item) {
    const problem = el("span", { class: "problem", role: "alert" });
    const before = item.node.value;
    const firstType = before === null ? item.typeHint ?? "text" : typeOf(before);
    const type = el("select", { "aria-label": "Type" }, types.map((name) => el("option", { selected: name === firstType }, name)));
    const field = el("input", { class: "editor", value: before === null ? "" : String(before), "aria-label": `Value of ${item.key}`, disabled: item.node.kind === "cut" });
    let loaded = null;
    const ready = this.#value(item.path).then(
      (reply) => {
        loaded = reply;
        const whole = reply.value?.[".value"] ?? reply.value;
        if (item.node.kind !== "cut" || typeof whole !== "string") return;
        field.value = whole;
        field.disabled = false;
        field.focus();
      },
      (refusal) => (problem.textContent = reason(refusal)),
    );
    const leave = () => this.#view?.leaveEditor();
    const save = async () => {
      let value;
      try {
        value = parse(field.value, type.value);
      } catch (error) {
        problem.textContent = error.message;
        return;
      }
      await ready;
      if (!loaded) return;
      const old = loaded.value;
      const priority = old?.[".priority"];
      if (priority !== undefined && value !== null && typeof value !== "object") value = { ".value": value, ".priority": priority };
      leave();
      await this.#change("Changed", item.path, value, old, loaded.etag);
    };
    const form = el("span", { class: "edit" }, field, type, problem);
    form.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") leave();
      if (event.key === "Enter" && event.target === field) save();
    });
    form.addEventListener("focusout", (event) => {
      if (form.contains(event.relatedTarget) || !form.isConnected || field.disabled) return;
      if (field.value === (before === null ? "" : String(before)) && type.value === firstType) leave();
      else save();
    });
    return form;
  }

  async #remove(item) {
    const { node, path } = item;
    const what = node?.kind === "map" ? `${number(node.count)} ${node.count === 1 ? "child" : "children"}` : "this value";
    if (!(await confirmed(`Delete /${shown(path)}?`, `${what} will go.`, "Delete"))) return;
    let found;
    try {
      found = await this.#before(path);
    } catch (refusal) {
      return this.#failed("Delete", path, refusal);
    }
    const { before, etag } = found;
    if (before === undefined && !(await confirmed("It is too large to be kept for undoing.", "It cannot be put back from here.", "Delete for good"))) return;
    await this.#change("Deleted", path, null, before, etag);
  }

  async #add(item) {
    const answer = await ask(`Add below /${shown(item.path)}`, [
      { name: "key", label: "Key", hint: "Empty for a new key that sorts by time.", check: (key) => (key ? keyFault(key) : null) },
      { name: "type", label: "Type", choices: types, value: "text" },
      { name: "value", label: "Value", isLong: true, check: (text, all) => fault(text, all.type) },
    ], "Add");
    if (!answer) return;
    const value = parse(answer.value, answer.type);
    const key = answer.key || this.#shell.hearth.key();
    // Not over what is there.
    await this.#change("Added", join(item.path, key), value, null, "null_etag");
  }

  async #rename(item) {
    const answer = await ask(`Rename ${shown(item.key)}`, [{ name: "key", label: "New key", value: item.key, check: keyFault }], "Rename");
    if (answer && answer.key !== item.key) await this.#move(item.path, join(parentOf(item.path), answer.key));
  }

  async #clone(item) {
    const answer = await ask(`Copy /${shown(item.path)}`, [{ name: "path", label: "To this path", value: `/${item.path}-copy`, check: pathFault }], "Copy");
    if (!answer) return;
    try {
      const { value } = await this.#value(item.path);
      // Not over what is there.
      await this.#change("Copied to", answer.path.split("/").filter(Boolean).join("/"), value, null, "null_etag");
    } catch (refusal) {
      this.#failed("Copy", item.path, refusal);
    }
  }

  /** Both places at once: what moves is never in two or in none. `etag` is what it must be still. */
  async #move(from, to, etag = null) {
    try {
      const there = await this.#tagOf(to);
      if (there !== "null_etag") throw new Error(`there is something at /${shown(to)} already`);
      const moved = await this.#value(from);
      if (etag && moved.etag !== etag) throw new Error(`another client has written to /${shown(from)} meanwhile`);
      await this.#shell.hearth.update({ [to]: moved.value, [from]: null });
      if (etag) notice(`Moved back to /${shown(to)}`);
      else this.#offerUndo(`Renamed to /${shown(to)}`, () => this.#move(to, from, moved.etag));
    } catch (error) {
      this.#failed("Rename", from, error);
    }
  }

  /** The tag of what is at a path, without all of it. */
  async #tagOf(path) {
    const { value, etag } = await this.#shell.hearth.ask({ do: "get", path: `/${path}`, outline: true }, true);
    return value === null ? "null_etag" : etag;
  }

  async #export({ path, key }) {
    try {
      await download(`Export /${shown(path)}`, address(path), { ns: this.#shell.database, format: "export" }, `${key || "root"}.json`);
    } catch (refusal) {
      this.#failed("Export", path, refusal);
    }
  }

  async #import({ path }) {
    const input = el("input", { type: "file", accept: ".json,application/json" });
    input.addEventListener("change", async () => {
      const [file] = input.files;
      if (!file) return;
      try {
        const { before, etag } = await this.#before(path);
        const isKept = before !== undefined && file.size <= undoByteCount;
        const words = `All of it becomes what is in ${file.name}.${isKept ? "" : " It is too large to be taken back from here."}`;
        if (!(await confirmed(`Replace /${shown(path)}?`, words, "Replace"))) return;
        // A silent answer has no tag; one that is not has all of the file.
        const query = { ns: this.#shell.database, ...(!isKept && { print: "silent" }) };
        const tag = await upload(`Import ${file.name} to /${shown(path)}`, address(path), query, file, isKept ? etag : null);
        const done = `Imported ${file.name} to /${shown(path)}`;
        if (isKept) this.#offerUndo(done, () => this.#change("Put back", path, before, undefined, tag));
        else notice(done);
      } catch (refusal) {
        this.#failed("Import", path, refusal.status === 412 ? new Error(`another client has written to /${shown(path)} meanwhile`) : refusal);
      }
    });
    input.click();
  }
}

function fault(text, type) {
  try {
    parse(text, type);
    return null;
  } catch (error) {
    return error.message;
  }
}

function whoFault(text) {
  try {
    if (text.trim()) claimsOf(text);
    return null;
  } catch (error) {
    return error.message;
  }
}

function pathFault(text) {
  const keys = text.split("/").filter(Boolean);
  if (keys.length === 0) return "A path has at least one key.";
  if (keys.length > 32) return `A path has at most 32 keys; this one has ${keys.length}.`;
  return keys.map(keyFault).find(Boolean) ?? null;
}
