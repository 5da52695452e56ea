// The page of the rules: what is in force, an editor whose faults are the server's, a simulator, and the history.

import { Cases, keepCase } from "./cases.js";
import { coverage } from "./coverage.js";
import { ago, el, fill, notice, wholeText } from "./dom.js";
import { confirmed } from "./parts.js";
import { getJSON, send } from "./server.js";
import { shown } from "./values.js";

const pause = 300;
/** What is coloured: comments, texts, regular expressions, variables, numbers and words. */
const tokens = /(\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|("(?:[^"\\\n]|\\.)*"?)|('(?:[^'\\\n]|\\.)*'?)|(\$[\w-]+)|(\b\d+(?:\.\d+)?\b)|(\b(?:true|false|null|auth|now|root|data|newData|query)\b)/g;
const kinds = ["comment", "text", "text", "variable", "number", "word"];

export class RulesPage {
  #shell;
  #version = null;
  #saved = "";
  #timer = 0;
  #problems = el("ul", { class: "faults", role: "status" });
  #paint = el("pre", { class: "paint", "aria-hidden": "true" });
  #numbers = el("pre", { class: "numbers", "aria-hidden": "true" });
  #publish = el("button", { type: "button", class: "primary", disabled: true }, "Publish");
  #state = el("p", { class: "quiet" });
  #history = el("ol", { class: "history" });
  #answer = el("div", { role: "status" });
  #box = el("div", { class: "editor-box" }, this.#numbers, el("div", { class: "layers" }, this.#paint));
  #covered = el("div", { class: "covered", hidden: true });
  #counts = el("aside", { class: "inspector", "aria-label": "Counts", hidden: true });
  #side;
  #cases;
  #format = el("button", { type: "button", onclick: () => this.#layOut() }, "Format");
  #coverage = el("button", { type: "button", "aria-pressed": "false" }, "Coverage");

  constructor(shell) {
    this.#shell = shell;
    this.field = el("textarea", { class: "code", spellcheck: "false", autocapitalize: "off", "aria-label": "Rules", wrap: "off" });
    this.field.addEventListener("input", () => this.#typed());
    this.field.addEventListener("scroll", () => this.#scrolled());
    this.field.addEventListener("keydown", (event) => this.#press(event));
    this.#publish.addEventListener("click", () => this.#save());
    this.#box.lastElementChild.append(this.field);
    this.#coverage.addEventListener("click", () => shell.go("rules", "", this.#isCovered ? {} : { coverage: "true" }));
    this.#cases = new Cases(shell.database, { text: () => this.field.value, fill: (one) => this.#fillSimulator(one) });
    this.#side = el("aside", { class: "inspector", "aria-label": "Try and history" }, this.#simulator(), this.#cases.element, el("h2", {}, "History"), this.#history);
    this.element = el(
      "section",
      { class: "page split", "aria-label": "Rules" },
      el(
        "div",
        { class: "main-part" },
        el("div", { class: "bar" }, el("h1", { class: "grow" }, "Rules"), this.#coverage, this.#format, el("button", { type: "button", onclick: () => this.#readAnew() }, "Read anew"), this.#publish),
        this.#state,
        this.#box,
        this.#covered,
        this.#problems,
      ),
      this.#side,
      this.#counts,
    );
  }

  get #isCovered() {
    return !this.#covered.hidden;
  }

  async show(_, query) {
    const isCovered = query.has("coverage");
    for (const part of [this.#covered, this.#counts]) part.hidden = !isCovered;
    for (const part of [this.#box, this.#problems, this.#side, this.#format, this.#publish]) part.hidden = isCovered;
    this.#coverage.ariaPressed = String(isCovered);
    if (isCovered) this.#cover();
    // What is being typed stays.
    if (!this.field.value || this.field.value === this.#saved) await this.#read();
    const asked = query.get("simulate");
    if (asked) this.#fillSimulator(JSON.parse(asked));
  }

  #readAnew() {
    return this.#isCovered ? this.#cover() : this.#read();
  }

  async #read() {
    try {
      const response = await send("GET", "/.settings/rules.json", { query: { ns: this.#shell.database } });
      this.#saved = await response.text();
      this.field.value = this.#saved;
      await this.#readHistory();
      this.#typed();
    } catch (refusal) {
      notice(`Could not read the rules: ${refusal.message}`, true);
    }
  }

  // Coverage: how often each part of the rules in force was asked, and what it gave

  async #cover() {
    const { database } = this.#shell;
    try {
      const report = await getJSON("/.inspect/coverage.json", { ns: database });
      const { main, aside } = coverage(report, database);
      const begin = (words, work) => el("button", { type: "button", onclick: () => this.#count(work) }, words);
      fill(this.#covered, [main]);
      fill(this.#counts, [aside, el(
        "div",
        { class: "buttons" },
        report.hint ? begin("Count all decisions", () => send("PUT", "/.inspect/level.json", { body: '"all"' })) : null,
        begin("Count anew", () => send("DELETE", "/.inspect/coverage.json", { query: { ns: database } })),
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
    clearTimeout(this.#timer);
  }

  // The editor

  #typed() {
    const text = this.field.value;
    const lines = text.split("\n").length;
    this.#numbers.textContent = Array.from({ length: lines }, (_, index) => index + 1).join("\n");
    fill(this.#paint, [...painted(text), "\n"]);
    this.#scrolled();
    this.#publish.disabled = text === this.#saved;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), pause);
  }

  #scrolled() {
    this.#paint.scrollTop = this.#numbers.scrollTop = this.field.scrollTop;
    this.#paint.scrollLeft = this.field.scrollLeft;
  }

  #press(event) {
    if (event.key === "s" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (!this.#publish.disabled) this.#save();
    }
    if (event.key !== "Enter") return;
    // A new line begins where the one before does.
    const before = this.field.value.slice(0, this.field.selectionStart).split("\n").at(-1);
    const indent = before.match(/^\s*/)[0] + (/[{[(]\s*$/.test(before) ? "  " : "");
    event.preventDefault();
    this.field.setRangeText(`\n${indent}`, this.field.selectionStart, this.field.selectionEnd, "end");
    this.#typed();
  }

  /** What the server says of the text, which stays as it is there. */
  async #check() {
    const text = this.field.value;
    try {
      const response = await send("PUT", "/.settings/rules.json", { query: { ns: this.#shell.database, dryRun: "true" }, body: text });
      const { warnings = [] } = await response.json();
      if (text === this.field.value) this.#showFaults(warnings.map((warning) => warning.message ?? String(warning)), "warning");
    } catch (refusal) {
      if (text === this.field.value) this.#showFaults(refusal.message.split("\n").filter(Boolean), "error");
    }
  }

  /** Lays out a text that is strict JSON; one with comments keeps the layout that a person gave it. */
  #layOut() {
    try {
      this.field.value = JSON.stringify(JSON.parse(this.field.value), null, 2);
      this.#typed();
    } catch {
      notice("Only a text without comments is laid out.", true);
    }
  }

  #showFaults(faults, kind) {
    if (kind === "error") this.#publish.disabled = true;
    fill(this.#problems, faults.map((words) => {
      const [, line, column] = words.match(/(\d+):(\d+)/) ?? [];
      return el("li", { class: kind }, line
        ? el("button", { type: "button", class: "plain", onclick: () => this.#goTo(Number(line), Number(column)) }, shown(words))
        : shown(words));
    }));
  }

  #goTo(line, column) {
    const place = this.field.value.split("\n").slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1;
    this.field.focus();
    this.field.setSelectionRange(place, place);
    this.field.scrollTop = Math.max(0, (line - 5) * 19);
  }

  async #save() {
    const changes = difference(this.#saved, this.field.value);
    if (!(await confirmed("Publish these rules?", changes, "Publish"))) return;
    try {
      await send("PUT", "/.settings/rules.json", {
        query: { ns: this.#shell.database, author: "console", ...(this.#version !== null && { expectedVersion: this.#version }) },
        body: this.field.value,
      });
      notice("Published: they are in force");
      this.#saved = this.field.value;
      this.#publish.disabled = true;
      await this.#readHistory();
    } catch (refusal) {
      notice(`Not published: ${refusal.message}`, true);
    }
  }

  async #readHistory() {
    const { versions = [] } = await getJSON("/.settings/rules_history.json", { ns: this.#shell.database });
    const newest = [...versions].sort((one, other) => other.number - one.number);
    this.#version = newest[0]?.number ?? 0;
    this.#state.textContent = newest[0] ? `Version ${newest[0].number} is in force.` : "No version was published: what is in force comes from a file or is the default.";
    const now = this.#shell.hearth.now;
    fill(this.#history, newest.map(({ number, time, author }) => el(
      "li",
      {},
      el("button", { type: "button", class: "plain", onclick: () => this.#open(number) }, `Version ${number}`),
      el("span", { class: "quiet" }, ` ${author ?? "unknown"}, `, time ? el("time", { title: wholeText(time) }, ago(time, now)) : "before the history"),
    )));
  }

  /** Puts an older text into the editor; publishing it goes back. */
  async #open(number) {
    try {
      const { rules, source, text } = await getJSON(`/.settings/rules_history/${number}.json`, { ns: this.#shell.database });
      const found = text ?? source ?? rules;
      this.field.value = typeof found === "string" ? found : JSON.stringify({ rules: found }, null, 2);
      this.#typed();
    } catch (refusal) {
      notice(`Could not read version ${number}: ${refusal.message}`, true);
    }
  }

  // The simulator

  #inputs = {};

  #simulator() {
    const field = (name, label, input) => {
      this.#inputs[name] = input;
      input.id = `simulate-${name}`;
      return el("div", { class: "field" }, el("label", { for: input.id }, label), input);
    };
    const form = el(
      "form",
      { class: "simulator" },
      el("h2", {}, "Try a request"),
      field("op", "What", el("select", {}, ["read", "query", "write", "update"].map((name) => el("option", {}, name)))),
      field("path", "Path", el("input", { value: "/", spellcheck: "false" })),
      field("auth", "As (JSON; empty: signed out)", el("input", { placeholder: '{"uid":"ann"}', spellcheck: "false" })),
      field("value", "Value, or query (JSON)", el("textarea", { rows: "3", spellcheck: "false" })),
      el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => this.#keep() }, "Keep as a case"), el("button", { type: "submit", class: "primary" }, "Try with this text")),
      this.#answer,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#simulate();
    });
    return form;
  }

  #fillSimulator({ op, path, auth, value, query }) {
    this.#inputs.op.value = op;
    this.#inputs.path.value = path;
    this.#inputs.auth.value = auth ? JSON.stringify(auth) : "";
    const more = op === "query" ? query : value;
    this.#inputs.value.value = more === undefined ? "" : JSON.stringify(more);
    this.#inputs.path.focus();
  }

  /** What is in the fields. Throws for what is no JSON. */
  #asked() {
    const { op, path, auth, value } = this.#inputs;
    const more = value.value.trim() ? JSON.parse(value.value) : null;
    return {
      op: op.value, path: path.value, auth: auth.value.trim() ? JSON.parse(auth.value) : null,
      ...(op.value === "query" && { query: more }), ...(["write", "update"].includes(op.value) && { value: more }),
    };
  }

  async #keep() {
    try {
      const asked = this.#asked();
      const answer = await send("POST", "/.simulate", { query: { ns: this.#shell.database }, body: { ...asked, rules: this.field.value } });
      const expect = (await answer.json()).allowed ? "allow" : "deny";
      if (await keepCase(this.#shell.database, { name: `${asked.op} ${asked.path}`, ...asked, expect })) this.#cases.draw();
    } catch (error) {
      fill(this.#answer, [el("p", { class: "problem" }, error.message)]);
    }
  }

  async #simulate() {
    try {
      const body = { ...this.#asked(), rules: this.field.value };
      const response = await send("POST", "/.simulate", { query: { ns: this.#shell.database }, body, headers: { Accept: "text/plain" } });
      const isAllowed = response.headers.get("Hearth-Verdict") === "allowed";
      fill(this.#answer, [el("p", { class: isAllowed ? "result-true" : "result-false" }, isAllowed ? "✓ allowed" : "✕ refused"), el("pre", { class: "explanation" }, await response.text())]);
    } catch (error) {
      fill(this.#answer, [el("p", { class: "problem" }, error.message)]);
    }
  }
}

/** The text in pieces, coloured by what they are. */
function* painted(text) {
  let from = 0;
  for (const match of text.matchAll(tokens)) {
    if (match.index > from) yield text.slice(from, match.index);
    yield el("span", { class: `t-${kinds[match.slice(1).findIndex((part) => part !== undefined)]}` }, match[0]);
    from = match.index + match[0].length;
  }
  yield text.slice(from);
}

/** How many lines differ, in words. */
function difference(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const there = new Set(old);
  const here = new Set(now);
  const added = now.filter((line) => !there.has(line)).length;
  const removed = old.filter((line) => !here.has(line)).length;
  return `${added} ${added === 1 ? "line is" : "lines are"} new, ${removed} ${removed === 1 ? "is" : "are"} gone. Every request from then on is decided by them.`;
}
