// The page of the data: a live tree from one path on, which can be changed.

import { el, fill, notice, reason } from "./dom.js";
import { Editor, isTooLarge, needsRoom } from "./editor.js";
import { filterBar, filterNames, indexLine, orderOf, queryOf } from "./filter.js";
import { Links } from "./links.js";
import { leafOf, Nodes } from "./nodes.js";
import { remember } from "./palette.js";
import { ask, confirmed, copy, copyMenu, lines, menuButton, opened, references, undoNotice } from "./parts.js";
import { Search } from "./search.js";
import { address, isViewer, send } from "./server.js";
import { Table } from "./table.js";
import { download, upload } from "./transfer.js";
import { Tree } from "./tree.js";
import { bytes, join, jsonOf, keyFault, keyOf, number, parentOf, read, shown, types } from "./values.js";
import { claimsOf, connectAs } from "./viewer.js";

/** Above it what was there is not kept in this page to be put back. */
const undoByteCount = 8_000_000;
const mostUndos = 20;
const pauseBetweenWords = 1_500;
/** What takes longer says what it does. */
const shortWait = 300;

/** Says to a viewer, whose keys would change something, that they do not; whether it is one. */
function looksOnly() {
  if (isViewer()) notice("A viewer looks at everything and changes nothing.");
  return isViewer();
}

export class DataPage {
  #shell;
  #path;
  #view = null;
  #stop = () => {};
  #links = null;
  /** Of the node at the top, the latest that has come. */
  #outline;
  #nodes;
  #find;
  /** What can be taken back, the latest last: `{words, run}`. */
  #undos = [];
  #search = new URLSearchParams();
  #viewer = null;
  #asTable = el("button", { type: "button", onclick: () => this.#toggleTable() }, "Table");
  #filterPlace = el("div", { hidden: true });
  #hint = el("p", { class: "strip", role: "status", hidden: true });
  #mask = el("p", { class: "strip mask", role: "status", hidden: true });
  #place = el("div", { class: "grow tree-place" });
  #seen = el("p", { class: "unseen", role: "status" });
  #words = "";
  #saying = 0;

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
    this.#find = new Search(shell, (query) => this.#shell.go("data", this.#path, { ...query, ...this.#kept("as", "view", ...filterNames) }));
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
        el("button", { type: "button", onclick: () => this.#find.open() }, "Search"),
        el("button", { type: "button", onclick: () => this.#toggleFilter() }, "Filter"),
        this.#asTable,
        menuButton("More", () => this.#menu()),
      ),
      this.#filterPlace,
      this.#find.element,
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
    if (event.key === "f" && (event.ctrlKey || event.metaKey) && event.shiftKey) {
      event.preventDefault();
      return this.#find.open();
    }
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
    const { database, hearth } = this.#shell;
    remember(database, path);
    document.title = `/${shown(path)} · Hearth console`;
    this.#nodes = new Nodes(database);
    this.#find.show(path, search);
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
    this.#find.stop();
    this.#leave();
  }

  #leave() {
    this.#outline = undefined;
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

  /** Says to those who hear the page what has changed; once a while, the latest only. */
  #say(words) {
    this.#words = words;
    this.#saying ||= setTimeout(() => {
      this.#saying = 0;
      this.#seen.textContent = this.#words;
    }, pauseBetweenWords);
  }

  #take(outline) {
    this.#outline = outline;
    const node = read(outline);
    this.count.textContent = node.kind === "map" ? `${number(node.count)} ${node.count === 1 ? "child" : "children"}` : "";
    // What is being typed stays.
    if (this.#view?.isEditing) return this.#view.update(outline);
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
      hasOwnEditor: (item) => looksOnly() || this.#editLarge(item),
      remove: (item) => looksOnly() || this.#remove(item),
      add: (item) => looksOnly() || this.#add(item),
      links: (item) => this.#links.of(item),
      address: (path) => this.#shell.address("data", path, this.#kept("as")),
      follow: (item) => this.#follow(item),
      show: (item) => this.#showWhole(item),
      open: (path) => this.#shell.go("data", path, this.#kept("as")),
      sort: (name) => this.#sort(name),
      listed: (lacksIndex, refusal) => this.#listed(lacksIndex, refusal),
      say: (words) => this.#say(words),
    }, { query: queryOf(this.#search), viewer: this.#viewer, order: orderOf(this.#search), at: this.#search.get("at") });
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
      const json = await this.#textOf(path);
      const leaf = leafOf(json);
      const text = leaf?.text.startsWith('"') ? JSON.parse(leaf.text) : json;
      const { dialog } = opened([
        el("h2", { id: "dialog-title" }, `/${shown(path)}`),
        el("pre", { class: "whole", tabindex: "0" }, text.split("\n").map(shown).join("\n")),
        el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => copy(text) }, "Copy"), el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close")),
      ]);
      dialog.classList.add("wide-dialog");
    } catch (refusal) {
      this.#failed("Show", path, refusal);
    }
  }

  /** What is at a path as JSON, laid out for people. */
  async #textOf(path) {
    const query = { ns: this.#shell.database, format: "export", print: "pretty" };
    return (await (await send("GET", address(path), { query })).text()).trim();
  }

  #actions(item) {
    const button = (sign, label, work) =>
      el("button", { type: "button", tabindex: "-1", class: "small", "data-changes": label !== "Show alone", "aria-label": `${label} ${shown(item.key || "/")}`, title: label, onclick: work }, sign);
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
      ...this.#undos.slice(-1).map(({ words, run }) => [`Undo: ${words}`, run, true]),
      ...copyMenu(item.path, this.#shell.database, () => this.#textOf(item.path)),
      ["Show whole", () => this.#showWhole(item)],
      ...(item.node ? this.#links.of(item) : []).map((path) => [`Go to /${shown(path)}`, () => this.#go(path)]),
      ["See as …", () => this.#seeAs()],
      ["Rename …", () => this.#rename(item), true],
      ["Priority …", () => this.#prioritize(item), true],
      ["Copy to …", () => this.#clone(item), true],
      ["Export as JSON", () => this.#export(item)],
      ["Import JSON …", () => this.#import(item), true],
      ["Delete", () => this.#remove(item), true],
    ];
  }

  // Reading and writing. What is replaced must be what this page has seen: else another client wrote meanwhile.

  /** What is at a path, with its tag; without the text where that is too large to be kept. */
  async #before(path) {
    const timer = setTimeout(() => notice(`Counting what is at /${shown(path)} …`), shortWait);
    const { children, bytes: byteCount } = await this.#nodes.size(path).finally(() => clearTimeout(timer));
    const size = { children, byteCount };
    return byteCount <= undoByteCount ? { ...size, ...(await this.#nodes.read(path)) } : { ...size, etag: await this.#tagOf(path) };
  }

  /** Writes JSON, says what failed, and offers to take it back while no one has written there since. */
  async #change(what, path, text, before, etag) {
    let tag;
    try {
      tag = await this.#nodes.write(path, text, etag);
    } catch (refusal) {
      if (refusal.code !== "etag_mismatch") return this.#failed(what, path, refusal);
      notice(`Not done: another client has written to /${shown(path)} meanwhile. It is now ${shown(refusal.reply.text.slice(0, 200))}.`, true);
      return false;
    }
    this.#done(what, path, before, tag);
    return true;
  }

  #done(what, path, before, tag) {
    if (before !== undefined) this.#offerUndo(`${what} /${shown(path)}`, () => this.#change("Put back", path, before, undefined, tag));
  }

  #failed(what, path, refusal) {
    notice(`Could not do it: ${what} /${shown(path)}: ${reason(refusal)}.`, true);
    return false;
  }

  #editCalls(item) {
    const leave = () => {
      this.#view?.leaveEditor();
      if (this.#outline !== undefined) this.#take(this.#outline);
    };
    return { leave, saved: (text, before, tag) => this.#done("Changed", item.path, before, tag) };
  }

  /** The element in which a leaf is edited. Its type stays unless another one is chosen. */
  #editor(item) {
    return new Editor(item, this.#nodes, this.#editCalls(item)).element;
  }

  /** Edits a leaf that has no room in its row in a dialog; whether it does. */
  #editLarge(item) {
    if (!needsRoom(item)) return false;
    if (isTooLarge(item)) {
      notice(`This text has ${bytes(item.node.bytes)}, too many for a field: export it, change the file, and import it (More).`);
      return true;
    }
    Editor.open(item, this.#nodes, this.#editCalls(item));
    return true;
  }

  async #remove({ path }) {
    try {
      const { children, byteCount, text, etag } = await this.#before(path);
      if (etag === "null_etag") return notice(`Nothing is at /${shown(path)}.`);
      const what = children === 0 ? "this value" : `${number(children)} ${children === 1 ? "child" : "children"}`;
      const loss = text === undefined ? " It is too large to be put back from here." : "";
      if (!(await confirmed(`Delete /${shown(path)}?`, `${what}, ${bytes(byteCount)}, will go.${loss}`, "Delete"))) return;
      await this.#change("Deleted", path, "null", text, etag);
    } catch (refusal) {
      this.#failed("Delete", path, refusal);
    }
  }

  async #add(item) {
    const answer = await ask(`Add below /${shown(item.path)}`, [
      { name: "key", label: "Key", hint: "Empty for a new key that sorts by time.", check: (key) => (key ? keyFault(key) : null) },
      { name: "type", label: "Type", choices: types, value: "text" },
      { name: "value", label: "Value", isLong: true, check: (text, all) => fault(text, all.type) },
    ], "Add");
    if (!answer) return;
    const key = answer.key || this.#shell.hearth.key();
    // Not over what is there.
    await this.#change("Added", join(item.path, key), jsonOf(answer.value, answer.type), "null", "null_etag");
  }

  async #rename(item) {
    const answer = await ask(`Rename ${shown(item.key)}`, [{ name: "key", label: "New key", value: item.key, check: keyFault }], "Rename");
    if (answer && answer.key !== item.key) await this.#move(item.path, join(parentOf(item.path), answer.key));
  }

  async #clone(item) {
    const answer = await ask(`Copy /${shown(item.path)}`, [{ name: "path", label: "To this path", value: `/${item.path}-copy`, check: pathFault }], "Copy");
    if (!answer) return;
    try {
      const { text } = await this.#nodes.read(item.path);
      // Not over what is there.
      await this.#change("Copied to", answer.path.split("/").filter(Boolean).join("/"), text, "null", "null_etag");
    } catch (refusal) {
      this.#failed("Copy", item.path, refusal);
    }
  }

  /** The priority is a number or a text by which siblings can be ordered. */
  async #prioritize(item) {
    const path = join(item.path, ".priority");
    try {
      const { text, etag } = await this.#nodes.read(path);
      const before = JSON.parse(text);
      const value = before === null ? "" : typeof before === "string" ? before : text;
      const answer = await ask(`Priority of /${shown(item.path)}`, [
        { name: "type", label: "Type", choices: ["number", "text", "none"], value: before === null || typeof before === "number" ? "number" : "text" },
        { name: "value", label: "Priority", value, check: (words, { type }) => (type === "none" ? null : fault(words, type)) },
      ], "Save");
      if (answer) await this.#change("Changed", path, answer.type === "none" ? "null" : jsonOf(answer.value, answer.type), text, etag);
    } catch (refusal) {
      this.#failed("Priority", path, refusal);
    }
  }

  /** Both places at once: what moves is never in two or in none. `etag` is what it must be still. */
  async #move(from, to, etag = null) {
    try {
      const there = await this.#tagOf(to);
      if (there !== "null_etag") throw new Error(`there is something at /${shown(to)} already`);
      const moved = await this.#nodes.read(from);
      if (etag && moved.etag !== etag) throw new Error(`another client has written to /${shown(from)} meanwhile`);
      await this.#nodes.move(from, to, moved.text);
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
        const { text, etag } = await this.#before(path);
        const isKept = text !== undefined && file.size <= undoByteCount;
        const words = `All of it becomes what is in ${file.name}.${isKept ? "" : " It is too large to be taken back from here."}`;
        if (!(await confirmed(`Replace /${shown(path)}?`, words, "Replace"))) return;
        // A silent answer has no tag; one that is not has all of the file.
        const query = { ns: this.#shell.database, ...(!isKept && { print: "silent" }) };
        const tag = await upload(`Import ${file.name} to /${shown(path)}`, address(path), query, file, isKept ? etag : null);
        const done = `Imported ${file.name} to /${shown(path)}`;
        if (isKept) this.#offerUndo(done, () => this.#change("Put back", path, text, undefined, tag));
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
    jsonOf(text, type);
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
