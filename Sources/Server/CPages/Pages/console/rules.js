// The page of the rules: which are in force and why, an editor in the server's colours, and what is tried with its text.

import { Cases, caseOf } from "./cases.js";
import { coverage, stateOf, states, sum, times, words as valueWords } from "./coverage.js";
import { el, fill, notice } from "./dom.js";
import { Editor, TextCheck, unitsOf } from "./ruleseditor.js";
import { RulesHistory } from "./history.js";
import { confirmed, lines } from "./parts.js";
import { askToPublish } from "./publish.js";
import { getJSON, send } from "./server.js";
import { Shadow } from "./shadow.js";
import { Simulator } from "./simulator.js";
import { outcomeText, resultText, ruleTrace } from "./traces.js";
import { shown } from "./values.js";

/** Characters of a part that are quoted. */
const quoted = 120;
/** By database what was typed and not published, while other pages are looked at. */
const drafts = new Map();

/** What a rule may ask of a request, to read beside the editor. */
const names = () => el("details", { class: "names" }, el("summary", {}, "Names and examples"), lines([
  ["who asks: null when signed out", "auth != null && auth.uid === $user"],
  ["what is there", "data.exists(), data.child('owner').val() === auth.uid"],
  ["what it would become", "newData.isString() && newData.val().length <= 2000"],
  ["anything else in the tree", "root.child('members').child(auth.uid).exists()"],
  ["the time, in ms", "newData.child('at').val() <= now"],
  ["only who is signed in reads", '{ "rules": { "rooms": { ".read": "auth != null" } } }'],
  ["each their own", '{ "rules": { "users": { "$user": { ".read": "auth.uid === $user", ".write": "auth.uid === $user" } } } }'],
]));

export class RulesPage {
  #shell;
  #version = 0;
  #saved = "";
  #warnings = [];
  /** The request whose values are shown: `{record, rule}`. */
  #explained = null;
  #editor;
  #checking;
  #problems = el("ul", { class: "faults", role: "status", "aria-label": "What the server says of the text" });
  #names = names();
  #publish = el("button", { type: "button", class: "primary", "data-changes": true, disabled: true }, "Publish");
  #inForce = el("p", { class: "quiet" });
  #notUsed = el("p", { class: "strip", hidden: true });
  #pointed = el("p", { class: "pointed quiet", role: "status" });
  #covered = el("div", { class: "covered", hidden: true });
  #counts = el("aside", { class: "inspector", "aria-label": "Counts", hidden: true });
  #side;
  #cases;
  #shadow;
  #history;
  #simulator;
  #format = el("button", { type: "button", onclick: () => this.#layOut() }, "Format");
  #coverage = el("button", { type: "button", "aria-pressed": "false" }, "Coverage");

  constructor(shell) {
    this.#shell = shell;
    this.#editor = new Editor("Rules", { changed: () => this.#typed(), pointed: (part) => this.#showPart(part) });
    this.#checking = new TextCheck(this.#editor, this.#problems, { ask: (text) => this.#findings(text), show: (found) => this.#showFindings(found) });
    this.field = this.#editor.field;
    this.field.addEventListener("keydown", (event) => this.#press(event));
    this.#publish.addEventListener("click", () => this.#save());
    this.#coverage.addEventListener("click", () => shell.go("rules", "", this.#isCovered ? {} : { coverage: "true" }));
    const text = () => this.#editor.text;
    const open = (found) => this.#open(found);
    this.#cases = new Cases(shell.database, { text, fill: (one) => this.#simulator.fill(one) });
    this.#simulator = new Simulator(shell.database, { text, kept: () => this.#cases.draw() });
    this.#shadow = new Shadow(shell, { text, open, query: () => this.#query });
    this.#history = new RulesHistory(shell, { text, open, goBack: (number, found) => this.#goBack(number, found) });
    this.#side = el("aside", { class: "inspector", "aria-label": "Try and history" }, this.#simulator.element, this.#cases.element, this.#shadow.element, this.#history.element);
    this.element = el(
      "section",
      { class: "page split", "aria-label": "Rules" },
      el(
        "div",
        { class: "main-part" },
        el("div", { class: "bar" }, el("h1", { class: "grow" }, "Rules"), el("a", { class: "button", href: shell.address("rules", "", { service: "files" }) }, "Rules for files"), this.#coverage, this.#format, el("button", { type: "button", onclick: () => this.#readAnew() }, "Read anew"), this.#publish),
        this.#inForce,
        this.#notUsed,
        this.#editor.element,
        this.#names,
        this.#pointed,
        this.#covered,
        this.#problems,
      ),
      this.#side,
      this.#counts,
    );
    this.#showPart(null);
  }

  get #isCovered() {
    return !this.#covered.hidden;
  }

  get #query() {
    return { ns: this.#shell.database };
  }

  async show(_, query) {
    const isCovered = query.has("coverage");
    for (const part of [this.#covered, this.#counts]) part.hidden = !isCovered;
    for (const part of [this.#editor.element, this.#names, this.#pointed, this.#problems, this.#side, this.#format, this.#publish]) part.hidden = isCovered;
    this.#coverage.ariaPressed = String(isCovered);
    if (isCovered) this.#cover();
    // What was typed stays.
    const draft = drafts.get(this.#shell.database);
    drafts.delete(this.#shell.database);
    if (!this.#editor.text || this.#editor.text === this.#saved) await this.#read();
    if (draft) this.#open(draft);
    this.#shadow.show();
    const asked = query.get("simulate");
    if (asked) this.#simulator.fill(JSON.parse(asked));
    if (query.has("request")) await this.#explain(query.get("request"), query.get("line"));
    else this.#editor.setNote(null, null);
  }

  close() {
    this.#checking.stop();
    this.#shadow.close();
    if (this.#editor.text !== this.#saved) drafts.set(this.#shell.database, this.#editor.text);
  }

  #readAnew() {
    return this.#isCovered ? this.#cover() : this.#read();
  }

  async #read() {
    try {
      const response = await send("GET", "/.settings/rules.json", { query: this.#query });
      this.#editor.text = await response.text();
      // As the field has it: its lines end in one way.
      this.#saved = this.#editor.text;
      this.#changed();
      await Promise.all([this.#readInForce(), this.#checking.now(), this.#mark()]);
    } catch (refusal) {
      notice(`Could not read the rules: ${refusal.message}`, true);
    }
  }

  /** Says which rules are in force, in the server's words, and shows the history. */
  async #readInForce() {
    const { versions, inForce, notUsed } = await getJSON("/.settings/rules_history.json", this.#query);
    this.#version = versions[0]?.number ?? 0;
    const isOwn = versions.length > 0 && !versions[0].detached;
    this.#inForce.textContent = `In force: ${inForce}.`;
    this.#notUsed.hidden = !notUsed;
    fill(this.#notUsed, notUsed ? [`${notUsed}. `, el("button", { type: "button", class: "small", "data-changes": true, onclick: () => this.#detach() }, "Detach")] : []);
    this.#history.draw(versions, isOwn);
  }

  async #detach() {
    if (!(await confirmed("Detach the database from its own rules?", "Those of the file count again, for every request from then on. The history keeps the others.", "Detach"))) return;
    try {
      await send("DELETE", "/.settings/rules.json", { query: { ...this.#query, author: "console", expectedVersion: this.#version } });
      notice("Detached: the rules of the file are in force");
    } catch (refusal) {
      notice(`Not detached: ${refusal.message}`, true);
    }
    await this.#read();
  }

  // Coverage: how often each part of the rules in force was asked, and what it gave

  async #cover() {
    const { database } = this.#shell;
    try {
      const report = await getJSON("/.inspect/coverage.json", this.#query);
      const { main, aside } = coverage(report, database);
      const begin = (words, work) => el("button", { type: "button", "data-changes": true, onclick: () => this.#count(work) }, words);
      fill(this.#covered, [main]);
      fill(this.#counts, [aside, el(
        "div",
        { class: "buttons" },
        report.hint ? begin("Count all decisions", () => send("PUT", "/.inspect/level.json", { body: '"all"' })) : null,
        begin("Count anew", () => send("DELETE", "/.inspect/coverage.json", { query: this.#query })),
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

  /** Marks the rules of the editor with what they came to, while they are those in force. */
  async #mark() {
    const { rules, report } = await getJSON("/.inspect/coverage.json", this.#query);
    const text = this.#editor.text;
    if (rules.replace(/\r\n?/g, "\n") !== text || rules.includes("\r")) return this.#editor.setParts([], []);
    const units = unitsOf(text);
    const parts = [];
    const signs = new Map();
    for (const entry of report) {
      const place = ({ position }) => ({ start: units(position.offset), end: units(position.endOffset), line: position.line, column: position.column });
      const rule = { ...place(entry), entry, isRule: true };
      parts.push(rule);
      const add = (part) => {
        parts.push({ ...place(part), entry: part, rule });
        part.children.forEach(add);
      };
      entry.children.forEach(add);
      const state = stateOf(entry);
      if (state <= (signs.get(entry.position.line)?.state ?? -1)) continue;
      signs.set(entry.position.line, { ...place(entry), state, ...states[state], title: `${entry.kind} ${entry.path}: ${states[state].words}` });
    }
    this.#editor.setParts(parts, [...signs.values()]);
  }

  /** Says what the part came to that is pointed at. */
  #showPart(part) {
    if (!part) {
      this.#pointed.textContent = "Point at a part of a rule, or go there with the cursor: what it came to shows here.";
      return;
    }
    const { entry, isRule } = part;
    const text = shown(this.#editor.text.slice(part.start, Math.min(part.end, part.start + quoted)));
    const counts = entry.values.map((value) => `${valueWords(value)} ${value.count}`).join(", ");
    const name = isRule ? `${entry.kind} ${shown(entry.path)}` : text;
    const count = sum(entry.values);
    const value = this.#valueOf(part);
    fill(this.#pointed, [
      el("code", {}, name), count ? ` ${isRule ? "consulted" : "evaluated"} ${times(count)}: ${shown(counts)}` : ` never ${isRule ? "consulted" : "evaluated"}`,
      entry.unevaluated ? `, not needed ${times(entry.unevaluated)}` : null,
      value ? el("b", {}, `; for request #${this.#explained.record.id}: ${value}`) : null,
    ]);
  }

  // A request: the values that the parts of a rule had for it

  #valueOf({ line, column, entry, isRule, start, end }) {
    if (!this.#explained) return null;
    const { trace } = this.#explained.record;
    if (isRule) {
      const rule = trace.find((one) => one.line === line && one.column === column && one.kind === entry.kind);
      return rule ? resultText(rule) : null;
    }
    const text = this.#editor.text.slice(start, end);
    const found = trace.flatMap(({ values = [] }) => values).find((value) => value.line === line && value.column === column && value.text === text);
    return found ? outcomeText(found) : null;
  }

  /** Shows a request under the line of the rule that decided it, or of the one that is named. */
  async #explain(id, line) {
    try {
      const { requests: [record] } = await getJSON("/.inspect/requests.json", { ...this.#query, id });
      if (!record) return notice(`Request #${id} is no longer kept.`, true);
      const { trace } = record;
      const rule = trace.find((one) => String(one.line) === line) ?? trace.findLast((one) => one.line === record.rule?.line) ?? trace.at(-1);
      if (!rule) return notice(`No rule was asked for request #${id}: none is on its way.`, true);
      this.#explained = { record, rule };
      // To be tried again with what is changed here.
      this.#simulator.fill(caseOf(record), false);
      const start = this.#editor.offset(rule.line, rule.column);
      const isSame = this.#editor.text.slice(start).startsWith(rule.source.split(/[\n"\\]/)[0]);
      const lastLine = rule.line + rule.source.split("\n").length - 1;
      this.#editor.goTo(rule.line, rule.column);
      this.#editor.setNote(lastLine, el(
        "section",
        { class: "note", "aria-label": `Request #${record.id}` },
        el("div", { class: "bar" },
          el("b", { class: record.allowed ? "result-true grow" : "result-false grow" }, `${record.allowed ? "✓ allowed" : "✕ refused"} ${record.operation} ${shown(record.path)}`),
          el("a", { class: "button", href: this.#shell.address("requests", "", { request: record.id }) }, "The request"),
          el("button", { type: "button", "aria-label": "Close", onclick: () => this.#shell.go("rules") }, "✕")),
        isSame ? null : el("p", { class: "strip" }, "Other rules than these decided it: its line may be another one here."),
        ruleTrace(rule, { dataAddress: (path) => this.#shell.address("data", path) }),
      ));
    } catch (refusal) {
      notice(`Could not read request #${id}: ${refusal.message}`, true);
    }
  }

  // What is typed

  #typed() {
    this.#changed();
    this.#checking.soon();
  }

  #changed() {
    this.#publish.disabled = this.#editor.text === this.#saved;
  }

  #press(event) {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    if (!this.#publish.disabled) this.#save();
  }

  #open(text) {
    this.#editor.text = text;
    this.#changed();
    this.#checking.now();
    // Of the text in force, the counts are known.
    if (this.#editor.text === this.#saved) this.#mark();
  }

  async #findings(text) {
    return (await send("POST", "/.settings/rules_check.json", { query: this.#query, body: text })).json();
  }

  #showFindings({ errors, warnings, lints, tokens }) {
    this.#editor.setTokens(tokens);
    const all = [...errors.map((fault) => ({ ...fault, kind: "error" })), ...warnings.map((fault) => ({ ...fault, kind: "warning" }))];
    this.#editor.setFaults(all);
    this.#warnings = warnings;
    if (errors.length > 0) this.#publish.disabled = true;
    fill(this.#problems, all.map((fault) => this.#fault(fault, lints[fault.code])));
  }

  #fault({ kind, line, column, message, hint, code }, lint) {
    return el(
      "li",
      { class: kind },
      el("button", { type: "button", class: "plain", onclick: () => this.#editor.goTo(line, column) }, `${line}:${column}: ${shown(message)}`),
      hint ? el("span", { class: "quiet" }, ` ${shown(hint)}`) : null,
      lint ? el(
        "details", {}, el("summary", {}, `What ${code} means`), el("p", {}, lint.reason),
        el("p", { class: "quiet" }, "Wrong:"), el("pre", {}, lint.wrong), el("p", { class: "quiet" }, "Right:"), el("pre", {}, lint.right),
        el("p", { class: "quiet" }, "If it is meant, a comment on the line says so: ", el("code", {}, `// hearth:allow ${code}`)),
      ) : null,
    );
  }

  /** Lays out a text that is strict JSON; one with comments keeps the layout that a person gave it. */
  #layOut() {
    try {
      this.#open(JSON.stringify(JSON.parse(this.#editor.text), null, 2));
    } catch {
      notice("Only a text without comments is laid out.", true);
    }
  }

  // Other rules in force

  async #save() {
    const { text } = this.#editor;
    const isWanted = await askToPublish(this.#shell, { title: "Publish these rules?", yes: "Publish", inForce: this.#saved, text, warnings: this.#warnings });
    if (!isWanted || !(await this.#put(text, "console"))) return;
    notice("Published: they are in force");
    this.#saved = text;
    this.#changed();
    await Promise.all([this.#readInForce(), this.#mark()]).catch((refusal) => notice(refusal.message, true));
  }

  async #goBack(number, text) {
    const { warnings } = await (await send("POST", "/.settings/rules_check.json", { query: this.#query, body: text })).json();
    const isWanted = await askToPublish(this.#shell, {
      title: `Go back to version ${number}?`, yes: "Go back", inForce: this.#saved, text: text.replace(/\r\n?/g, "\n"), warnings,
    });
    if (!isWanted || !(await this.#put(text, `console (rollback to ${number})`))) return;
    notice(`Version ${number} is in force again, as a new one`);
    await this.#read();
  }

  async #put(text, author) {
    try {
      await send("PUT", "/.settings/rules.json", { query: { ...this.#query, author, expectedVersion: this.#version }, body: text });
      return true;
    } catch (refusal) {
      notice(`Not published: ${refusal.message}`, true);
      return false;
    }
  }
}
