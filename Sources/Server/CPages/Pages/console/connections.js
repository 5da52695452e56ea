// The page of connections: who is there, what they listen to, and the end of one.

import { ago, el, fill, keepFocus, notice, wholeText } from "./dom.js";
import { Repeated } from "./figures.js";
import { confirmed, lines, references } from "./parts.js";
import { getJSON, send } from "./server.js";
import { bytes, number, shown } from "./values.js";

const pageSize = 100;

export class ConnectionsPage {
  #shell;
  #rows = el("tbody");
  #count = el("p", { class: "count", role: "status" });
  #more = el("button", { type: "button", hidden: true, onclick: () => this.#extend() }, "More");
  #empty = el("div", { class: "empty teach", hidden: true });
  #problem = el("p", { class: "problem", role: "alert" });
  /** Pages that are shown. */
  #pages = 1;
  #found = [];
  #looks = new Repeated(() => this.#look(), 4000);

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", { class: "path", type: "search", placeholder: "uid, address, path, database or id", "aria-label": "Find connections", spellcheck: "false" });
    this.field.addEventListener("change", () => shell.go("connections", "", this.field.value ? { find: this.field.value } : {}));
    const heads = ["Who", "From", "Since", "Over", "Database", "Listens", "Queued", ""].map((head) => el("th", { scope: "col", class: head === "Queued" ? "number" : null }, head));
    this.element = el(
      "section",
      { class: "page", "aria-label": "Connections" },
      el("div", { class: "bar" }, this.field, this.#count),
      this.#problem,
      this.#empty,
      el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), this.#rows)),
      this.#more,
    );
  }

  show(_, query) {
    this.field.value = query.get("find") ?? "";
    this.#pages = 1;
    this.#looks.start();
  }

  close() {
    this.#looks.stop();
  }

  #extend() {
    this.#pages += 1;
    this.#looks.start();
  }

  async #look() {
    try {
      const found = [];
      let next = 0;
      let answer;
      // A page of a long list may hold none that is meant, and says where to go on.
      do {
        answer = await getJSON("/.inspect/connections.json", { limit: pageSize, after: next, ...(this.field.value && { text: this.field.value }) });
        found.push(...answer.connections);
        next = answer.next;
      } while (next !== undefined && found.length < this.#pages * pageSize);
      this.#found = found;
      this.#problem.textContent = "";
      this.#more.hidden = next === undefined;
      this.#count.textContent = this.field.value ? `${number(found.length)}${next === undefined ? "" : " and maybe more"} of ${number(answer.total)}` : `${number(answer.total)} open`;
      keepFocus(this.#rows, () => fill(this.#rows, found.map((connection) => this.#row(connection, answer.now))));
      this.#drawEmpty();
    } catch (refusal) {
      this.#problem.textContent = `Could not list the connections: ${refusal.message}`;
    }
  }

  #drawEmpty() {
    const isEmpty = !this.#found.length;
    if (this.#empty.hidden === !isEmpty) return;
    this.#empty.hidden = !isEmpty;
    const { javascript, swift } = references(this.#shell.database, "messages");
    fill(this.#empty, this.field.value ? [el("h2", {}, "No such connection")] : [el("h2", {}, "No connections now"), lines([
      ["curl", `curl -N -H 'Accept: text/event-stream' '${location.origin}/messages.json?ns=${this.#shell.database}'`],
      ["JavaScript", `onValue(${javascript}, console.log)`],
      ["Swift", `${swift}.observe(.value) { print($0) }`],
    ])]);
  }

  #row({ id, who, uid, peer, since, door, database, listens, listenCount, queuedBytes }, now) {
    const name = uid === undefined ? { administrator: "administrator", user: "user", signedOut: "signed out" }[who] : shown(uid);
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, uid === undefined ? name : el("a", { href: this.#shell.address("users", "", { find: uid }) }, name), el("div", { class: "quiet" }, `connection ${id}`)),
      el("td", { class: "mono" }, peer),
      el("td", {}, el("time", { title: wholeText(since) }, ago(since, now))),
      el("td", {}, door),
      el("td", {}, database ?? "–"),
      el("td", {}, this.#listens(listens, listenCount, database)),
      el("td", { class: "number" }, bytes(queuedBytes)),
      el("td", { class: "actions" }, el("button", { type: "button", class: "small", "data-changes": true, "data-focus": id, "aria-label": `End connection ${id} of ${name}`, onclick: () => this.#end(id, name) }, "End")),
    );
  }

  #listens(listens, count, database) {
    const link = ({ path, query }) => el("li", {}, el("a", { class: "mono", href: this.#shell.address("data", path.replace(/^\//, ""), { ns: database }), title: query ? JSON.stringify(query) : null }, `/${shown(path.replace(/^\//, ""))}`), query ? el("span", { class: "quiet mono" }, ` ${shown(JSON.stringify(query))}`) : null);
    if (!count) return "–";
    const [first, ...rest] = listens;
    return [
      el("ul", {}, link(first)),
      rest.length ? el("details", {}, el("summary", {}, `${number(count - 1)} more`), el("ul", {}, rest.map(link)), count > listens.length ? el("p", { class: "quiet" }, `and ${number(count - listens.length)} that are not shown`) : null) : null,
    ];
  }

  async #end(id, name) {
    if (!(await confirmed(`End connection ${id} of ${name}?`, "Its on-disconnect writes run. Apps connect again by themselves; to keep a person out, disable the user.", "End"))) return;
    try {
      await send("DELETE", `/.inspect/connections/${encodeURIComponent(id)}.json`);
      notice(`Ended connection ${id}`);
    } catch (refusal) {
      notice(`Not ended: ${refusal.message}`, true);
    }
    this.#looks.start();
  }
}
