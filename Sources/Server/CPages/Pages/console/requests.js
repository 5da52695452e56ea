// The page of requests: what the rules decided, newest first, and why.

import { caseOf, keepCase } from "./cases.js";
import { ago, arrange, el, fill, notice, wholeText } from "./dom.js";
import { lines, references } from "./parts.js";
import { getJSON, send } from "./server.js";
import { shown } from "./values.js";

const pause = 1000;
const mostKept = 500;

export class RequestsPage {
  #shell;
  #list = el("ol", { class: "requests", role: "listbox", tabindex: "0", "aria-label": "Requests, newest first" });
  #detail = el("section", { class: "inspector", "aria-label": "The chosen request", hidden: true });
  #empty = el("div", { class: "empty teach" });
  #records = [];
  #chosen = null;
  #timer = 0;
  #turn = 0;
  #refusedOnly = el("input", { type: "checkbox", id: "refused-only" });

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", { class: "path", placeholder: "path, like /rooms", "aria-label": "Only at or below this path", spellcheck: "false" });
    this.uid = el("input", { placeholder: "uid", "aria-label": "Only of this user", spellcheck: "false" });
    for (const input of [this.field, this.uid, this.#refusedOnly]) input.addEventListener("change", () => this.#filter());
    this.#list.addEventListener("keydown", (event) => this.#press(event));
    this.element = el(
      "section",
      { class: "page split", "aria-label": "Requests" },
      el(
        "div",
        { class: "main-part" },
        el(
          "div",
          { class: "bar" },
          this.field, this.uid,
          el("label", { class: "check", for: "refused-only" }, this.#refusedOnly, "refused only"),
          el("button", { type: "button", onclick: () => this.#forget() }, "Clear"),
        ),
        this.#empty,
        this.#list,
      ),
      this.#detail,
    );
  }

  show(_, query) {
    this.field.value = query.get("path") ?? "";
    this.uid.value = query.get("uid") ?? "";
    this.#refusedOnly.checked = query.get("refused") === "true";
    this.#records = [];
    this.#draw();
    this.#begin();
  }

  close() {
    this.#turn += 1;
    clearTimeout(this.#timer);
  }

  /** What is chosen stands in the address, so it can be sent to another person. */
  #filter() {
    const query = {
      ...(this.field.value && { path: this.field.value }),
      ...(this.uid.value && { uid: this.uid.value }),
      ...(this.#refusedOnly.checked && { refused: "true" }),
    };
    this.#shell.go("requests", "", query);
  }

  #begin() {
    this.close();
    this.#fetch(this.#turn);
  }

  async #fetch(turn) {
    try {
      const after = this.#records[0]?.id;
      const answer = await getJSON("/.inspect/requests.json", {
        ns: this.#shell.database,
        ...(this.field.value && { path: `/${this.field.value.replace(/^\/+/, "")}` }),
        ...(this.uid.value && { uid: this.uid.value }),
        ...(this.#refusedOnly.checked && { refused: "true" }),
        ...(after && { after }),
      });
      if (turn !== this.#turn) return;
      this.#records = [...answer.requests, ...this.#records].slice(0, mostKept);
      this.#teach(answer.hint);
      this.#draw();
    } catch (refusal) {
      if (turn !== this.#turn) return;
      this.#teach(refusal.message);
    }
    this.#timer = setTimeout(() => this.#fetch(turn), pause);
  }

  #teach(hint) {
    this.#empty.hidden = this.#records.length > 0;
    const { database } = this.#shell;
    // What is there stays, and the focus with it.
    const state = `${database} ${hint}`;
    if (this.#empty.hidden || this.#empty.dataset.state === state) return;
    this.#empty.dataset.state = state;
    const { javascript, swift } = references(database, "anything");
    fill(this.#empty, [
      el("h2", {}, "No request yet"),
      el("p", {}, hint ?? "Each read, listen and write that the rules decide stands here as it comes. Administrators are not asked of them. For example:"),
      hint ? null : lines([["curl", `curl '${location.origin}/anything.json?ns=${database}'`], ["JavaScript", `get(${javascript})`], ["Swift", `try await ${swift}.getData()`]]),
    ]);
  }

  #draw() {
    arrange(this.#list, this.#records, ({ id }) => id, (record, old) => {
      const row = old ?? this.#row(record);
      row.setAttribute("aria-selected", String(record.id === this.#chosen));
      return row;
    });
    this.#list.hidden = this.#records.length === 0;
    const record = this.#records.find(({ id }) => id === this.#chosen);
    this.#detail.hidden = !record;
    if (record && this.#detail.dataset.id !== String(record.id)) this.#show(record);
  }

  #row(record) {
    const { allowed, operation, path, auth, protocol, time, rule, trace } = record;
    const last = rule ?? trace.at(-1);
    return el(
      "li",
      { role: "option", id: `request-${record.id}`, class: allowed ? "request" : "request refused", onclick: () => this.#choose(record.id) },
      el("time", { title: wholeText(time) }, new Date(time).toLocaleTimeString(undefined, { hour12: false })),
      el("span", { class: "result" }, allowed ? "✓ " : "✕ ", el("span", { class: "unseen" }, allowed ? "allowed" : "refused"), operation),
      el("span", { class: "path" }, shown(path)),
      el("span", { class: "who" }, auth ? shown(String(auth.uid ?? "a user without a uid")) : "no user"),
      el("span", { class: "how" }, protocol),
      el("span", { class: "rule" }, last ? `${shown(last.path)} .${last.kind} line ${last.line}` : "no rule"),
    );
  }

  #show(record) {
    this.#detail.dataset.id = record.id;
    const { path, auth, operation } = record;
    fill(this.#detail, [
      el("div", { class: "bar" }, el("h2", { class: "grow" }, `${operation} ${shown(path)}`), el("button", { type: "button", "aria-label": "Close", onclick: () => this.#choose(null) }, "✕")),
      el("p", { class: "quiet" }, `${record.allowed ? "Allowed" : "Refused"} ${ago(record.time, this.#shell.hearth.now)}, ${record.protocol}`, record.connection ? `, connection ${record.connection}` : ""),
      ...record.trace.map((rule) => this.#rule(rule)),
      record.traceIsCut ? el("p", { class: "quiet" }, "More rules were asked than are shown.") : null,
      el("h3", {}, "In words"),
      el("pre", { class: "explanation" }, record.explanation),
      el(
        "div",
        { class: "buttons" },
        el("a", { class: "button", href: this.#shell.address("data", path.replace(/^\//, "")) }, "Open the data"),
        el("a", {
          class: "button",
          href: this.#shell.address("rules", "", {
            simulate: JSON.stringify(caseOf(record)),
          }),
        }, "Try in the simulator"),
        el("button", { type: "button", onclick: () => this.#keep(record) }, "Keep as a case"),
        el("a", { class: "button", href: this.#shell.address("requests", "", { refused: "true", path }) }, "Who else is refused here"),
      ),
    ]);
  }

  async #keep(record) {
    if (await keepCase(this.#shell.database, caseOf(record), "What was written is not recorded: write what shall be tried.")) notice("Kept: the page of rules runs it with all cases");
  }

  #rule({ path, kind, line, source, result, error, values = [] }) {
    const outcome = result === "error" ? `error: ${error}` : String(result);
    return el(
      "details",
      { class: "rule-part", open: result !== true },
      el("summary", {}, el("code", {}, `${shown(path)} .${kind}`), ` line ${line} `, el("span", { class: `result-${result}` }, outcome)),
      el("pre", {}, source),
      el("table", {}, el("tbody", {}, values.map((value) => el(
        "tr",
        {},
        el("td", {}, el("code", {}, value.text)),
        el("td", { class: "outcome" }, value.unevaluated ? "not looked at" : value.error ?? shown(JSON.stringify(value.value) ?? "null")),
      )))),
    );
  }

  #choose(id) {
    this.#chosen = id;
    this.#draw();
    if (id !== null) this.#list.setAttribute("aria-activedescendant", `request-${id}`);
    else this.#list.removeAttribute("aria-activedescendant");
  }

  #press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") this.#choose(null);
    if (!step || this.#records.length === 0) return;
    event.preventDefault();
    const at = this.#records.findIndex(({ id }) => id === this.#chosen);
    const next = Math.max(0, Math.min(this.#records.length - 1, at + step));
    this.#choose(this.#records[next].id);
    this.#list.children[next].scrollIntoView({ block: "nearest" });
  }

  async #forget() {
    try {
      await send("DELETE", "/.inspect/requests.json", { query: { ns: this.#shell.database } });
      this.#records = [];
      this.#choose(null);
      this.#begin();
    } catch (refusal) {
      notice(`Could not clear: ${refusal.message}`, true);
    }
  }
}
