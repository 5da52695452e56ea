// Cases of rules: requests with what is expected of them, kept in this browser, as `hearth rules test` takes them.

import { el, fill } from "./dom.js";
import { ask, confirmed } from "./parts.js";
import { send } from "./server.js";
import { save } from "./transfer.js";
import { shown } from "./values.js";

const place = (database) => `hearth.console.cases.${database}`;
const put = (database, cases) => (localStorage[place(database)] = JSON.stringify(cases));

function kept(database) {
  try {
    return JSON.parse(localStorage[place(database)] ?? "[]");
  } catch {
    return [];
  }
}

/** A query as the simulator takes it, of one as REST has it. */
function simulated({ orderBy, ...rest }) {
  if (orderBy === undefined) return rest;
  const special = { $key: "orderByKey", $value: "orderByValue", $priority: "orderByPriority" }[orderBy];
  return { ...(special ? { [special]: true } : { orderByChild: orderBy }), ...rest };
}

/** The case of a request that the rules have decided. What was written is not recorded, but for the paths of an update. */
export function caseOf({ operation, path, paths = [], query, auth, allowed, rule }) {
  const who = auth ? String(auth.uid ?? "a user") : "a signed-out user";
  const ops = { read: "read", listen: "read", recheck: "read", update: "update" };
  const op = query ? "query" : ops[operation] ?? "write";
  return {
    name: `${who} ${allowed ? "may" : "may not"} ${op} ${path}`, op, path, auth: auth ?? null, ...(query && { query: simulated(query) }),
    ...(op === "update" && { value: Object.fromEntries(paths.map((each) => [each.slice(path === "/" ? 1 : path.length + 1), null])) }),
    expect: allowed ? "allow" : "deny", ...(!isWrite(op) && { decidedBy: rule ? `${rule.kind} ${rule.path}` : null }),
  };
}

const isWrite = (op) => op === "write" || op === "update";

/** Asks for what is expected, and keeps a case; `hint` is about its value. */
export async function keepCase(database, one, hint = "") {
  const answer = await ask("Keep as a case", [
    { name: "name", label: "What must hold", value: one.name, check: (text) => (text.trim() ? null : "Say it in a few words.") },
    { name: "expect", label: "Expected", choices: ["allow", "deny"], value: one.expect },
    ...(isWrite(one.op) ? [{
      name: "value", label: "Value (JSON)", isLong: true, value: JSON.stringify(one.value ?? null, null, 2),
      hint, check: jsonFault,
    }] : []),
  ], "Keep");
  if (!answer) return false;
  const { decidedBy, ...rest } = one;
  const whole = {
    ...rest, name: answer.name.trim(), expect: answer.expect, ...(isWrite(one.op) && { value: JSON.parse(answer.value) }),
    ...(decidedBy !== undefined && answer.expect === one.expect && { decidedBy }),
  };
  put(database, [...kept(database).filter(({ name }) => name !== whole.name), whole]);
  return true;
}

function jsonFault(text) {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is no JSON: ${error.message}`;
  }
}

/** The request of a case, as the simulator takes it. */
const requestOf = ({ name, expect, decidedBy, why, ...request }) => request;

/** What rules say to a request on the live data: those in force, unless it brings a text. */
export const simulate = async (database, body) => (await send("POST", "/.simulate", { query: { ns: database }, body })).json();

/**
 * Tries each case on the live data, with a text and with the rules in force; a text that does not load fails all of them.
 * Gives for each `{name, fault, change}`: what is not as expected, and what the rules in force decide otherwise; both empty for none.
 */
export async function tryCases(database, text, report = () => {}) {
  const cases = kept(database);
  const outcomes = [];
  for (const [index, one] of cases.entries()) {
    report(index + 1, cases.length);
    outcomes.push({ name: one.name, ...await outcomeOf(database, one, text) });
  }
  return outcomes;
}

async function outcomeOf(database, one, text) {
  const { expect, decidedBy } = one;
  try {
    const { allowed, rule } = await simulate(database, { ...requestOf(one), rules: text });
    const inForce = await simulate(database, requestOf(one));
    const change = inForce.allowed === allowed ? "" : allowed ? "newly allowed: the rules in force refuse it" : "newly refused: the rules in force allow it";
    const by = rule ? `${rule.kind} ${rule.path}` : null;
    const fault = allowed !== (expect === "allow") ? `expected ${expect}, was ${allowed ? "allowed" : "refused"}`
      : decidedBy !== undefined && by !== decidedBy ? `expected to be decided by ${decidedBy ?? "no rule"}, was by ${by ?? "no rule"}` : "";
    return { fault, change };
  } catch (refusal) {
    return { fault: refusal.message, change: "" };
  }
}

/** How many of them hold and change, in words. */
export function outcomesText(outcomes) {
  const holding = outcomes.filter(({ fault }) => !fault).length;
  const changed = outcomes.filter(({ change }) => change).length;
  return `${holding} of ${outcomes.length} hold with this text and the live data; ${changed === 0 ? "none is decided otherwise" : changed === 1 ? "one is decided otherwise" : `${changed} are decided otherwise`} than by the rules in force.`;
}

/** The list of cases; `text()` is of the rules that they are tried with, `fill(case)` puts one into the simulator. */
export class Cases {
  #database;
  #calls;
  #list = el("ul", { class: "cases" });
  #sum = el("p", { class: "quiet", role: "status" });
  #buttons = el("div", { class: "buttons" });
  /** By name what came of the last run. */
  #outcomes = new Map();
  element;

  constructor(database, calls) {
    this.#database = database;
    this.#calls = calls;
    this.element = el("section", { class: "simulator", "aria-label": "Cases" }, el("h2", {}, "Cases"), this.#list, this.#sum, this.#buttons);
    this.draw();
  }

  draw() {
    const cases = kept(this.#database);
    fill(this.#list, cases.map((one) => {
      const outcome = this.#outcomes.get(one.name);
      return el(
        "li",
        {},
        outcome ? el("span", { class: outcome.fault ? "result-false" : "result-true" }, outcome.fault ? "✕ fails " : "✓ holds ") : null,
        el("button", { type: "button", class: "plain", title: "Put into the simulator", onclick: () => this.#calls.fill(one) }, shown(one.name)),
        el("button", { type: "button", class: "small", "aria-label": `Remove ${one.name}`, onclick: () => this.#remove(one) }, "✕"),
        outcome?.fault ? el("p", { class: "problem" }, shown(outcome.fault)) : null,
        outcome?.change ? el("p", { class: "change" }, outcome.change) : null,
      );
    }));
    if (cases.length === 0) this.#sum.textContent = "Keep a request as a case, here or on the page of requests; then all of them are tried with one press.";
    this.#buttons.hidden = cases.length === 0;
    fill(this.#buttons, [
      el("button", { type: "button", onclick: () => this.#save() }, "Save as a file"),
      el("button", { type: "button", class: "primary", onclick: () => this.#run() }, "Run all cases"),
    ]);
  }

  async #remove({ name }) {
    if (!(await confirmed(`Remove the case ${shown(name)}?`, "It is forgotten in this browser.", "Remove"))) return;
    put(this.#database, kept(this.#database).filter((other) => other.name !== name));
    this.#outcomes.delete(name);
    this.draw();
  }

  #save() {
    const text = JSON.stringify({ cases: kept(this.#database) }, null, 2);
    save(new Blob([text], { type: "application/json" }), `${this.#database}.cases.json`);
  }

  async #run() {
    this.#outcomes.clear();
    const outcomes = await tryCases(this.#database, this.#calls.text(), (index, all) => (this.#sum.textContent = `Trying ${index} of ${all} …`));
    for (const outcome of outcomes) this.#outcomes.set(outcome.name, outcome);
    this.#sum.textContent = outcomesText(outcomes);
    this.draw();
  }
}
