// The page of the audit log: what administrators have changed, the newest first, and what comes while it is open.

import { el, fill, notice, wholeText } from "./dom.js";
import { secondText } from "./parts.js";
import { getJSON } from "./server.js";
import { shown } from "./values.js";

const address = "/.inspect/audit.json";
const pageSize = 200;
const pause = 3_000;

export class AuditPage {
  #shell;
  #rows = el("tbody");
  #empty = el("div", { class: "empty teach", hidden: true });
  #more = el("button", { type: "button", hidden: true }, "More");
  #by = el("input", { type: "search", placeholder: "who, whole", "aria-label": "Only of this person", spellcheck: "false" });
  #door = el("select", { "aria-label": "Only by this door" }, ["every door", "console", "request"].map((name) => el("option", {}, name)));
  #entries = [];
  #asked = 0;
  #timer = 0;

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", { class: "path", type: "search", placeholder: "text in an entry: rules.json, a uid, a path", "aria-label": "Find entries", spellcheck: "false" });
    for (const control of [this.field, this.#by, this.#door]) control.addEventListener("change", () => this.#choose());
    this.#more.addEventListener("click", () => this.#load({ before: this.#entries.at(-1).number }));
    const heads = ["Time", "Who", "From", "What", "On", "Details"].map((head) => el("th", { scope: "col" }, head));
    this.element = el(
      "section",
      { class: "page", "aria-label": "Audit" },
      el("div", { class: "bar" }, this.field, this.#by, this.#door),
      this.#empty,
      el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Entries" }, el("table", { class: "list audit" }, el("thead", {}, el("tr", {}, heads)), this.#rows)),
      this.#more,
    );
  }

  show(_, query) {
    this.field.value = query.get("find") ?? "";
    this.#by.value = query.get("by") ?? "";
    this.#door.value = query.get("door") ?? "every door";
    this.#entries = [];
    this.#load({});
  }

  close() {
    this.#asked += 1;
    clearTimeout(this.#timer);
  }

  #choose() {
    const [find, by, door] = [this.field.value.trim(), this.#by.value.trim(), this.#door.value];
    this.#shell.go("audit", "", { ...(find && { find }), ...(by && { by }), ...(door !== "every door" && { door }) });
  }

  async #load(where) {
    const asked = (this.#asked += 1);
    clearTimeout(this.#timer);
    const door = this.#door.selectedIndex > 0 ? { door: this.#door.value } : {};
    try {
      const answer = await getJSON(address, { limit: pageSize, text: this.field.value.trim(), by: this.#by.value.trim(), ...door, ...where });
      if (this.#asked !== asked) return;
      if (where.after === undefined) {
        this.#entries.push(...answer.entries);
        this.#more.hidden = !answer.more;
      } else {
        this.#entries.unshift(...answer.entries);
      }
      if (answer.entries.length > 0 || where.after === undefined) this.#draw();
    } catch (refusal) {
      if (this.#asked !== asked) return;
      if (where.after === undefined) notice(`Could not read the audit log: ${refusal.message}`, true);
    }
    this.#timer = setTimeout(() => this.#follow(), pause);
  }

  /** What is new, while the page is seen. */
  #follow() {
    if (document.hidden) this.#timer = setTimeout(() => this.#follow(), pause);
    else this.#load({ after: this.#entries[0]?.number ?? 0 });
  }

  #draw() {
    const isFiltered = this.field.value || this.#by.value || this.#door.selectedIndex > 0;
    this.#empty.hidden = this.#entries.length > 0;
    fill(this.#empty, isFiltered
      ? [el("h2", {}, "No such entry"), el("p", {}, "The field finds any text of an entry; who stands alone is a whole name.")]
      : [el("h2", {}, "No entries yet"), el("p", {}, "Each change of an administrator is one: of rules, settings, accounts and keys, by whichever door, and of data in this console.")]);
    fill(this.#rows, this.#entries.map(row));
  }
}

function row({ time, what, by, with: how, role, from, door, request, database, path, details = {} }) {
  const more = Object.entries(details).map(([name, value]) => el("span", { class: "fact" }, el("span", { class: "quiet" }, `${name} `), shown(value), " "));
  return el(
    "tr",
    {},
    el("td", {}, el("time", { datetime: new Date(time).toISOString(), title: wholeText(time) }, secondText(time))),
    el("th", { scope: "row" }, shown(by), el("div", { class: "quiet" }, role ? `${how}, ${role}` : how)),
    el("td", {}, from, el("div", { class: "quiet" }, door)),
    el("td", {}, shown(what), request && request !== what ? el("div", { class: "quiet mono" }, request) : null),
    el("td", {}, database ? shown(database) : null, path ? el("div", { class: "mono" }, shown(path)) : null),
    el("td", {}, more),
  );
}
