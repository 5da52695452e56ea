// The page of the rules for files, which count for every bucket that has no rules file of its own: an editor, what is tried with its text, a history.

import { coverage } from "./coverage.js";
import { difference, differenceView, differenceWords } from "./diff.js";
import { el, fill, notice } from "./dom.js";
import { RulesHistory } from "./history.js";
import { agreed, confirmed, lines } from "./parts.js";
import { fillWhenFound, shadowView, warningsView } from "./publish.js";
import { Editor, TextCheck } from "./ruleseditor.js";
import { getJSON, send } from "./server.js";
import { Shadow } from "./shadow.js";
import { shown } from "./values.js";

const service = { service: "files" };

const example = `rules_version = '2';
service firebase.storage {
  match /b/{bucket}/o {
    match /users/{uid}/{file=**} {
      allow read, write: if request.auth != null && request.auth.uid == uid;
    }
  }
}
`;

/** What a condition may ask, to read beside the editor. */
const names = () => el("details", { class: "names" }, el("summary", {}, "Names and examples"), lines([
  ["who asks: null when signed out", "request.auth != null && request.auth.uid == uid"],
  ["what is stored", "request.resource.size < 5 * 1024 * 1024 && request.resource.contentType.matches('image/.*')"],
  ["the object as it is", "resource == null || resource.metadata.get('owner', '') == request.auth.uid"],
  ["what is in the tree", "database.exists(/rooms/$(room)/members/$(request.auth.uid))"],
]));

/** One request for a file, tried with the text of the editor. It changes nothing. */
class FileTrial {
  #inputs = {};
  #answer = el("div", { role: "status" });
  element;

  constructor(text) {
    const field = (name, label, input) => {
      this.#inputs[name] = input;
      input.id = `try-file-${name}`;
      return el("div", { class: "field" }, el("label", { for: input.id }, label), input);
    };
    const json = (placeholder) => el("textarea", { rows: "2", spellcheck: "false", placeholder });
    this.element = el(
      "form",
      { class: "simulator" },
      el("h2", {}, "Try a request"),
      field("op", "What", el("select", {}, ["get", "list", "create", "update", "delete"].map((name) => el("option", {}, name)))),
      field("bucket", "Bucket (empty: the only one)", el("input", { spellcheck: "false" })),
      field("path", "Name, or the beginning of names", el("input", { spellcheck: "false", placeholder: "users/ann/a.png" })),
      field("auth", "As (JSON; empty: signed out)", el("input", { placeholder: '{"uid":"ann"}', spellcheck: "false" })),
      field("resource", "The object as it is (JSON; empty: as it is stored; null: none)", json('{"size":9,"metadata":{}}')),
      field("newResource", "The object as it will be (JSON)", json('{"size":9,"contentType":"image/png"}')),
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "primary" }, "Try with this text")),
      this.#answer,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#try(text());
    });
  }

  /** Puts a request there; what it leaves out is empty. */
  fill(request) {
    const text = (value) => (value === null || value === undefined ? "" : JSON.stringify(value));
    const { op, bucket, path, auth, resource, newResource } = request;
    const isList = op === "list";
    const shown = { op, bucket, path, auth: text(auth), resource: isList ? "" : JSON.stringify(resource), newResource: text(newResource) };
    for (const [name, value] of Object.entries(shown)) this.#inputs[name].value = value;
    this.#inputs.op.focus();
  }

  #asked() {
    const body = { ...service, op: this.#inputs.op.value, path: this.#inputs.path.value };
    if (this.#inputs.bucket.value) body.bucket = this.#inputs.bucket.value;
    for (const name of ["auth", "resource", "newResource"]) {
      const text = this.#inputs[name].value.trim();
      try {
        if (text) body[name] = JSON.parse(text);
      } catch (error) {
        throw new Error(`${name}: ${error.message}`);
      }
    }
    return body;
  }

  async #try(rules) {
    try {
      const response = await send("POST", "/.simulate", { body: { ...this.#asked(), rules }, headers: { Accept: "text/plain" } });
      const isAllowed = response.headers.get("Hearth-Verdict") === "allowed";
      fill(this.#answer, [el("p", { class: isAllowed ? "result-true" : "result-false" }, isAllowed ? "✓ allowed" : "✕ refused"), el("pre", { class: "explanation" }, await response.text())]);
    } catch (error) {
      fill(this.#answer, [el("p", { class: "problem" }, error.message)]);
    }
  }
}

export class FileRulesPage {
  #shell;
  #version = 0;
  #saved = "";
  #warnings = [];
  #editor;
  #checking;
  #shadow;
  #history;
  #problems = el("ul", { class: "faults", role: "status", "aria-label": "What the server says of the text" });
  #publish = el("button", { type: "button", class: "primary", "data-changes": true, disabled: true }, "Publish");
  #inForce = el("p", { class: "quiet" });
  #notUsed = el("p", { class: "strip", hidden: true });
  #coverage = el("button", { type: "button", "aria-pressed": "false" }, "Coverage");
  #covered = el("div", { class: "covered", hidden: true });
  #written = el("div", {});
  #counts = el("div", { hidden: true });
  #tries = el("div", {});
  #trial;
  #isCovered = false;
  element;

  constructor(shell) {
    this.#shell = shell;
    this.#editor = new Editor("Rules for files", { changed: () => this.#typed(), pointed: () => {} });
    this.#checking = new TextCheck(this.#editor, this.#problems, {
      // An empty text has nothing to say.
      ask: (text) => (text ? this.#findings(text) : { errors: [], warnings: [] }),
      show: (found) => this.#show(found),
    });
    this.field = this.#editor.field;
    this.field.placeholder = example;
    this.#publish.addEventListener("click", () => this.#save());
    this.#coverage.addEventListener("click", () => shell.go("rules", "", { ...service, ...(!this.#isCovered && { coverage: "true" }) }));
    const text = () => this.#editor.text;
    const open = (found) => this.#open(found);
    this.#trial = new FileTrial(text);
    this.#shadow = new Shadow(shell, { text, open, query: () => service });
    this.#history = new RulesHistory(shell, { query: service, text, open, goBack: (number, found) => this.#goBack(number, found) });
    this.element = el(
      "section",
      { class: "page split", "aria-label": "Rules for files" },
      el(
        "div",
        { class: "main-part" },
        el("div", { class: "bar" }, el("h1", { class: "grow" }, "Rules for files"), el("a", { class: "button", href: shell.address("rules") }, "Rules of the database"), this.#coverage, el("button", { type: "button", onclick: () => this.#read() }, "Read anew"), this.#publish),
        this.#inForce,
        this.#notUsed,
        this.#covered,
        this.#written,
      ),
      el("aside", { class: "inspector", "aria-label": "Try and history" }, this.#counts, this.#tries),
    );
    this.#written.append(this.#editor.element, names(), this.#problems);
    this.#tries.append(this.#trial.element, this.#shadow.element, this.#history.element);
  }

  async show(_, query) {
    this.#isCovered = query.has("coverage");
    this.#coverage.ariaPressed = String(this.#isCovered);
    for (const part of [this.#covered, this.#counts]) part.hidden = !this.#isCovered;
    for (const part of [this.#written, this.#tries]) part.hidden = this.#isCovered;
    if (this.#isCovered) await this.#cover();
    await this.#read();
    this.#shadow.show();
    if (query.has("simulate")) this.#trial.fill(JSON.parse(query.get("simulate")));
  }

  /** Shows how often each statement of the rules in force was tried, and what its parts came to. */
  async #cover() {
    try {
      const report = await getJSON("/.inspect/coverage.json", service);
      const { main, aside } = coverage(report, "every bucket without a rules file of its own");
      const begin = (words, work) => el("button", { type: "button", "data-changes": true, onclick: () => this.#count(work) }, words);
      fill(this.#covered, [main]);
      fill(this.#counts, [aside, el(
        "div",
        { class: "buttons" },
        report.hint ? begin("Count all decisions", () => send("PUT", "/.inspect/level.json", { body: '"all"' })) : null,
        begin("Count anew", () => send("DELETE", "/.inspect/coverage.json", { query: service })),
      )]);
    } catch (refusal) {
      fill(this.#covered, [el("p", { class: "empty" }, `Could not read the counts: ${refusal.message}`)]);
    }
  }

  async #count(work) {
    try {
      await work();
    } catch (refusal) {
      notice(`Not done: ${refusal.message}`, true);
    }
    await this.#cover();
  }

  close() {
    this.#checking.stop();
    this.#shadow.close();
  }

  async #read() {
    try {
      const response = await send("GET", "/.settings/rules.json", { query: service });
      this.#open(await response.text());
    } catch (refusal) {
      // There are none yet.
      if (refusal.status !== 404) return notice(`Could not read the rules: ${refusal.message}`, true);
      this.#open("");
    }
    this.#saved = this.#editor.text;
    this.#changed();
    await this.#readInForce();
  }

  async #readInForce() {
    const { versions, inForce, notUsed } = await getJSON("/.settings/rules_history.json", service);
    this.#version = versions[0]?.number ?? 0;
    this.#inForce.textContent = `In force for every bucket without a rules file of its own: ${inForce}.`;
    this.#notUsed.hidden = !notUsed;
    fill(this.#notUsed, notUsed ? [`${notUsed}. `, el("button", { type: "button", class: "small", "data-changes": true, onclick: () => this.#detach() }, "Detach")] : []);
    this.#history.draw(versions, versions.length > 0 && !versions[0].detached);
  }

  async #detach() {
    if (!(await confirmed("Go back to the rules of the file?", "They count for every request from then on. The history keeps the others.", "Detach"))) return;
    try {
      await send("DELETE", "/.settings/rules.json", { query: { ...service, author: "console", expectedVersion: this.#version } });
      notice("Detached: the rules of the file are in force");
    } catch (refusal) {
      notice(`Not detached: ${refusal.message}`, true);
    }
    await this.#read();
  }

  #typed() {
    this.#changed();
    this.#checking.soon();
  }

  #changed() {
    this.#publish.disabled = this.#editor.text === this.#saved;
  }

  #open(text) {
    this.#editor.text = text;
    this.#changed();
    this.#checking.now();
  }

  async #findings(text) {
    return (await send("POST", "/.settings/rules_check.json", { query: service, body: text })).json();
  }

  #show({ errors, warnings }) {
    const all = [...errors.map((fault) => ({ ...fault, kind: "error" })), ...warnings.map((fault) => ({ ...fault, kind: "warning" }))];
    this.#editor.setFaults(all);
    this.#warnings = warnings;
    if (errors.length > 0) this.#publish.disabled = true;
    fill(this.#problems, all.map(({ kind, line, column, message, hint }) => el(
      "li",
      { class: kind },
      el("button", { type: "button", class: "plain", onclick: () => this.#editor.goTo(line, column) }, `${line}:${column}: ${shown(message)}`),
      hint ? el("span", { class: "quiet" }, ` ${shown(hint)}`) : null,
    )));
  }

  // Other rules in force

  async #save() {
    const { text } = this.#editor;
    if (!(await this.#isWanted("Publish these rules?", "Publish", text, this.#warnings)) || !(await this.#put(text, "console"))) return;
    notice("Published: they are in force");
    await this.#read();
  }

  async #goBack(number, text) {
    const { warnings } = await this.#findings(text);
    if (!(await this.#isWanted(`Go back to version ${number}?`, "Go back", text.replace(/\r\n?/g, "\n"), warnings))) return;
    if (!(await this.#put(text, `console (rollback to ${number})`))) return;
    notice(`Version ${number} is in force again, as a new one`);
    await this.#read();
  }

  /** Asks, with what is another in the text and its warnings. */
  #isWanted(title, yes, text, warnings) {
    const changed = difference(this.#saved, text);
    const shadow = el("div", { role: "status" }, "Looking at the shadow rules …");
    const answer = agreed(title, [
      el("p", {}, `${differenceWords(changed)} Every request for a file from then on is decided by them.`),
      differenceView(changed, "What is another than in the rules in force"),
      el("h3", {}, "Warnings"), warningsView(warnings),
      el("h3", {}, "Shadow rules"), shadow,
    ], yes);
    fillWhenFound(shadow, () => shadowView(this.#shell, service, text));
    return answer;
  }

  async #put(text, author) {
    try {
      await send("PUT", "/.settings/rules.json", { query: { ...service, author, expectedVersion: this.#version }, body: text });
      return true;
    } catch (refusal) {
      notice(`Not published: ${refusal.message}`, true);
      return false;
    }
  }
}
