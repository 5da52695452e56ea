// The page of requests: what the rules decided, newest first, and why.

import { caseOf, keepCase } from "./cases.js";
import { ago, arrange, el, fill, notice, wholeText } from "./dom.js";
import { lines, references, secondText } from "./parts.js";
import { getJSON, send } from "./server.js";
import { ruleTrace } from "./traces.js";
import { shown, shownLines } from "./values.js";

/** Milliseconds between two questions for more. */
const pause = 1000;
/** Requests that the page keeps, and shows. */
const mostKept = 500;
const operations = {
  database: ["read", "listen", "recheck", "set", "update", "transaction", "on-disconnect", "at-disconnect"],
  files: ["get", "list", "create", "update", "delete"],
};

export class RequestsPage {
  #shell;
  #list = el("ol", { class: "requests", role: "listbox", tabindex: "0", "aria-label": "Requests, newest first" });
  #detail = el("section", { class: "inspector chosen", "aria-label": "The chosen request", hidden: true });
  #empty = el("div", { class: "empty teach" });
  #records = [];
  #chosen = null;
  #timer = 0;
  #turn = 0;
  #isPaused = false;
  #refusedOnly = el("input", { type: "checkbox", id: "refused-only" });
  #service = el("select", { "aria-label": "Requests of" }, el("option", { value: "" }, "database"), el("option", { value: "files" }, "files"));
  #operation = el("select", { "aria-label": "Only of this kind" });
  #connection = el("input", { class: "short", placeholder: "connection", "aria-label": "Only over this connection", spellcheck: "false" });
  #pauseButton = el("button", { type: "button", "aria-pressed": "false", onclick: () => this.#pause() }, "Pause");

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", { class: "path", spellcheck: "false" });
    this.uid = el("input", { class: "short", placeholder: "uid", "aria-label": "Only of this user", spellcheck: "false" });
    // What is chosen for the one is none of the other.
    this.#service.addEventListener("change", () => this.#shell.go("requests", "", this.#asked));
    for (const input of [this.field, this.uid, this.#operation, this.#connection, this.#refusedOnly]) input.addEventListener("change", () => this.#shell.go("requests", "", this.#filters));
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
          this.#service, this.field, this.uid, this.#operation, this.#connection,
          el("label", { class: "check", for: "refused-only" }, this.#refusedOnly, "refused only"),
          this.#pauseButton,
          el("button", { type: "button", "data-changes": true, onclick: () => this.#forget() }, "Clear"),
        ),
        this.#empty,
        this.#list,
      ),
      this.#detail,
    );
  }

  show(_, query) {
    this.#service.value = query.get("service") === "files" ? "files" : "";
    const isForFiles = this.#isForFiles;
    this.field.placeholder = isForFiles ? "beginning of a name, like photos/" : "path, like /rooms";
    this.field.ariaLabel = isForFiles ? "Only of names that begin so" : "Only at or below this path";
    this.#connection.hidden = isForFiles;
    fill(this.#operation, [
      el("option", { value: "" }, "any kind"),
      ...operations[isForFiles ? "files" : "database"].map((name) => el("option", {}, name)),
    ]);
    this.field.value = query.get("path") ?? "";
    this.uid.value = query.get("uid") ?? "";
    this.#operation.value = query.get("operation") ?? "";
    this.#connection.value = query.get("connection") ?? "";
    this.#refusedOnly.checked = query.get("refused") === "true";
    this.#records = [];
    this.#chosen = query.has("request") ? Number(query.get("request")) : null;
    this.#draw();
    this.#begin();
    if (this.#chosen !== null) this.#open(this.#chosen);
  }

  /** Shows one request, in the list or not. */
  async #open(id) {
    try {
      const { requests: [record] } = await getJSON("/.inspect/requests.json", { ns: this.#shell.database, ...this.#asked, id });
      if (this.#chosen !== id) return;
      if (!record) return notice(`Request #${id} is no longer kept.`, true);
      this.#detail.hidden = false;
      this.#show(record);
    } catch (refusal) {
      notice(`Could not read request #${id}: ${refusal.message}`, true);
    }
  }

  #pause() {
    this.#isPaused = !this.#isPaused;
    this.#pauseButton.ariaPressed = String(this.#isPaused);
    this.#pauseButton.textContent = this.#isPaused ? "Continue" : "Pause";
    if (this.#isPaused) this.close();
    else this.#begin();
  }

  close() {
    this.#turn += 1;
    clearTimeout(this.#timer);
  }

  get #isForFiles() {
    return this.#service.value === "files";
  }

  /** Whose requests are asked for. */
  get #asked() {
    return this.#isForFiles ? { service: "files" } : {};
  }

  /** What is asked for, as the address has it: it can be sent to another person. */
  get #filters() {
    const given = {
      ...this.#asked,
      path: this.field.value.trim(), uid: this.uid.value.trim(), operation: this.#operation.value,
      connection: this.#connection.value.trim(), refused: this.#refusedOnly.checked ? "true" : "",
    };
    return Object.fromEntries(Object.entries(given).filter(([, value]) => value));
  }

  #begin() {
    this.close();
    this.#fetch(this.#turn);
  }

  async #fetch(turn) {
    try {
      const after = this.#records[0]?.id;
      const { path, ...filters } = this.#filters;
      const place = this.#isForFiles ? path : path && `/${path.replace(/^\/+/, "")}`;
      const answer = await getJSON("/.inspect/requests.json", {
        ns: this.#shell.database, ...filters, ...(place && { path: place }), ...(after && { after }),
      });
      if (turn !== this.#turn) return;
      this.#records = [...answer.requests, ...this.#records].slice(0, mostKept);
      this.#teach(answer.hint);
      this.#draw();
    } catch (refusal) {
      if (turn !== this.#turn) return;
      this.#teach(refusal.message);
    }
    if (!this.#isPaused) this.#timer = setTimeout(() => this.#fetch(turn), pause);
  }

  #teach(hint) {
    this.#empty.hidden = this.#records.length > 0;
    const { database } = this.#shell;
    // What is there stays, and the focus with it.
    const isForFiles = this.#isForFiles;
    const isFiltered = Object.keys(this.#filters).length > (isForFiles ? 1 : 0);
    const state = `${database} ${hint} ${isFiltered} ${isForFiles}`;
    if (this.#empty.hidden || this.#empty.dataset.state === state) return;
    this.#empty.dataset.state = state;
    const { javascript, swift } = references(database, "anything");
    fill(this.#empty, [
      el("h2", {}, isFiltered ? "No request fits" : "No request yet"),
      el("p", {}, hint ?? (isForFiles
        ? "Each request for a file that the rules decide stands here as it comes. Administrators and those with a download link are not asked of them. For example:"
        : "Each read, listen and write that the rules decide stands here as it comes. Administrators are not asked of them. For example:")),
      hint ? null : isForFiles ? lines([["curl", `curl '${location.origin}/v0/b/BUCKET/o/photos%2Fa.png'`]]) : lines([["curl", `curl '${location.origin}/anything.json?ns=${database}'`], ["JavaScript", `get(${javascript})`], ["Swift", `try await ${swift}.getData()`]]),
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
    // One that is no longer in the list stays in sight.
    this.#detail.hidden = this.#chosen === null || (!record && this.#detail.dataset.id !== String(this.#chosen));
    if (record && this.#detail.dataset.id !== String(record.id)) {
      this.#show(record);
      // In a narrow window it stands above the list.
      this.#detail.scrollIntoView({ block: "nearest" });
    }
  }

  #row(record) {
    const { allowed, operation, path, auth, bucket, protocol, time } = record;
    return el(
      "li",
      { role: "option", id: `request-${record.id}`, class: allowed ? "request" : "request refused", onclick: () => this.#choose(record.id) },
      el("time", { title: wholeText(time) }, secondText(time).slice(11)),
      el("span", { class: "result" }, allowed ? "✓ " : "✕ ", el("span", { class: "unseen" }, allowed ? "allowed" : "refused"), operation),
      el("span", { class: "path" }, shown(path)),
      el("span", { class: "who" }, auth ? shown(String(auth.uid ?? "a user without a uid")) : "no user"),
      el("span", { class: "how" }, shown(bucket ?? protocol)),
      el("span", { class: "decider" }, deciderOf(record)),
    );
  }

  #show(record) {
    this.#detail.dataset.id = record.id;
    if (record.bucket !== undefined) return this.#showFile(record);
    const { path, auth, operation } = record;
    fill(this.#detail, [
      el("div", { class: "bar" }, el("h2", { class: "grow" }, `${operation} ${shown(path)}`), el("button", { type: "button", "aria-label": "Close", onclick: () => this.#choose(null) }, "✕")),
      el(
        "p", { class: "quiet" }, `#${record.id}: ${record.allowed ? "allowed" : "refused"} ${ago(record.time, this.#shell.hearth.now)}, ${record.protocol}`,
        record.connection ? [", ", el("a", { href: this.#shell.address("requests", "", { connection: record.connection }) }, `connection ${record.connection}`)] : null,
        auth?.uid !== undefined ? [", ", el("a", { href: this.#shell.address("users", "", { find: String(auth.uid) }) }, shown(String(auth.uid)))] : ", no user",
      ),
      ...record.trace.map((rule) => ruleTrace(rule, {
        dataAddress: (place) => this.#shell.address("data", place),
        lineAddress: ({ line }) => this.#shell.address("rules", "", { request: record.id, line }),
      })),
      record.traceIsCut ? el("p", { class: "quiet" }, "More rules were asked than are shown.") : null,
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
        record.trace.length > 0 ? el("a", { class: "button", href: this.#shell.address("rules", "", { request: record.id }) }, "Show in the rules") : null,
        el("a", { class: "button", href: this.#shell.address("data", path.replace(/^\//, ""), { as: personOf(auth) }) }, `See as ${auth ? shown(String(auth.uid ?? "this user")) : "signed out"}`),
        el("button", { type: "button", onclick: () => this.#keep(record) }, "Keep as a case"),
        el("a", { class: "button", href: this.#shell.address("requests", "", { refused: "true", path }) }, "Who else is refused here"),
      ),
      el("h3", {}, "In words"),
      el("pre", { class: "explanation" }, shownLines(record.explanation)),
    ]);
  }

  #showFile(record) {
    const { allowed, auth, operation, bucket, path, time, resource, newResource } = record;
    const what = newResource ?? resource;
    fill(this.#detail, [
      el("div", { class: "bar" }, el("h2", { class: "grow" }, `${operation} ${shown(`${bucket}/${path}`)}`), el("button", { type: "button", "aria-label": "Close", onclick: () => this.#choose(null) }, "✕")),
      el(
        "p", { class: "quiet" }, `#${record.id}: ${allowed ? "allowed" : "refused"} ${ago(time, this.#shell.hearth.now)}`,
        auth ? [", ", el("a", { href: this.#shell.address("users", "", { find: auth.uid }) }, shown(auth.uid))] : ", no user",
        what ? `, ${what.size} bytes${what.contentType ? ` of ${shown(what.contentType)}` : ""}` : "",
      ),
      el("pre", { class: "explanation" }, shownLines(record.explanation)),
      el(
        "div",
        { class: "buttons" },
        el("a", { class: "button", href: this.#shell.address("rules", "", { service: "files", simulate: JSON.stringify({ op: operation, bucket, path, auth, resource, newResource }) }) }, "Try in the simulator"),
        el("a", { class: "button", href: this.#shell.address("requests", "", { service: "files", refused: "true", path }) }, "Who else is refused here"),
      ),
    ]);
  }

  async #keep(record) {
    if (await keepCase(this.#shell.database, caseOf(record), "What was written is not recorded: write what shall be tried.")) notice("Kept: the page of rules runs it with all cases");
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
      await send("DELETE", "/.inspect/requests.json", { query: { ns: this.#shell.database, ...this.#asked } });
      this.#records = [];
      this.#choose(null);
      this.#begin();
    } catch (refusal) {
      notice(`Could not clear: ${refusal.message}`, true);
    }
  }
}

/** The rule that decided, or the last that was tried. */
function deciderOf({ decision, rule, trace }) {
  if (decision) {
    const last = decision.allow ?? decision.trace.at(-1);
    return last ? `allow ${last.words} line ${last.line}` : "no rule";
  }
  const last = rule ?? trace.at(-1);
  return last ? `${shown(last.path)} .${last.kind} line ${last.line}` : "no rule";
}

/** Members of a token that every user has. */
const usual = new Set(["iss", "aud", "auth_time", "user_id", "sub", "iat", "exp", "firebase", "email", "email_verified", "phone_number", "name", "picture", "provider_id"]);

/** How the page of the data names a person: by uid, or by claims where there are some; empty when signed out. */
function personOf(auth) {
  if (!auth) return "";
  const claims = Object.fromEntries(Object.entries(auth.token ?? {}).filter(([name]) => !usual.has(name)));
  return Object.keys(claims).length > 0 ? JSON.stringify({ uid: auth.uid, ...claims }) : String(auth.uid ?? "");
}
