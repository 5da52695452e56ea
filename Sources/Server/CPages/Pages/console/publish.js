// The question before rules are put in force: what is another in their text, and what they would decide otherwise.

import { outcomesText, simulate, tryCases } from "./cases.js";
import { difference, differenceView, differenceWords } from "./diff.js";
import { el, fill } from "./dom.js";
import { agreed } from "./parts.js";
import { shadowLists, shadowReport, shadowText } from "./shadow.js";
import { shown } from "./values.js";

/** The warnings of a text, or that there are none. */
export const warningsView = (warnings) =>
  warnings.length
    ? el("ul", {}, warnings.map(({ line, column, message }) => el("li", { class: "warning" }, `${line}:${column}: ${shown(message)}`)))
    : el("p", { class: "quiet" }, "None.");

/** Asks whether a text is to replace the one in force; gives whether it is. `inForce` is its text, `warnings` are of the new one. */
export function askToPublish(shell, { title, yes, inForce, text, warnings }) {
  const lines = difference(inForce, text);
  const cases = el("div", { role: "status" }, "Trying the cases …");
  const access = el("div", { role: "status" }, "Asking both …");
  const shadow = el("div", { role: "status" }, "Looking at the shadow rules …");
  const answer = agreed(title, [
    el("p", {}, `${differenceWords(lines)} Every request from then on is decided by them, and listens that they refuse are ended.`),
    differenceView(lines, "What is another than in the rules in force"),
    el("h3", {}, "Access to everything"), access,
    el("h3", {}, "Cases"), cases,
    el("h3", {}, "Warnings"), warningsView(warnings),
    el("h3", {}, "Shadow rules"), shadow,
  ], yes);
  fillWhenFound(access, () => accessView(shell.database, text));
  fillWhenFound(cases, () => casesView(shell.database, text));
  fillWhenFound(shadow, () => shadowView(shell, { ns: shell.database }, text));
  return answer;
}

/** Fills a part of a question with what is found out meanwhile. */
export async function fillWhenFound(place, work) {
  try {
    fill(place, await work());
  } catch (refusal) {
    fill(place, [el("p", { class: "problem" }, refusal.message)]);
  }
}

/** Whether everybody, or everybody with an account, may read and write the whole database: now and with the text. */
async function accessView(database, text) {
  const people = [{ who: "Who has not signed in", auth: null }, { who: "Any user", auth: { uid: "any user", token: {} } }];
  const deeds = [{ deed: "read", op: "read" }, { deed: "write", op: "write", value: true }];
  const changes = [];
  for (const { who, auth } of people) {
    for (const { deed, ...asked } of deeds) {
      const request = { ...asked, path: "/", auth };
      const [before, after] = [await simulate(database, request), await simulate(database, { ...request, rules: text })];
      if (before.allowed && !after.allowed) changes.push(`${who} can ${deed} the whole database now, and no longer then; what these rules allow below it still counts.`);
      if (!before.allowed && after.allowed) changes.push(`${who} can then ${deed} the whole database.`);
    }
  }
  if (changes.length === 0) return [el("p", { class: "quiet" }, "As before: who could read or write the whole database still can, and no one else.")];
  return [el("ul", {}, changes.map((change) => el("li", { class: "change" }, change)))];
}

async function casesView(database, text) {
  const outcomes = await tryCases(database, text);
  if (outcomes.length === 0) return [el("p", { class: "quiet" }, "None is kept: a request or what the simulator tries can be kept as a case.")];
  const odd = outcomes.filter(({ fault, change }) => fault || change);
  return [el("p", { class: "quiet" }, outcomesText(outcomes)), el("ul", { class: "cases" }, odd.map(({ name, fault, change }) => el(
    "li", {}, el("span", { class: fault ? "result-false" : "result-true" }, fault ? "✕ fails " : "✓ holds "), shown(name),
    fault ? el("p", { class: "problem" }, shown(fault)) : null, change ? el("p", { class: "change" }, change) : null,
  )))];
}

/** What shadow rules have found, and whether they are this text. `query` says of what. */
export async function shadowView(shell, query, text) {
  const report = await shadowReport(query);
  if (!report) return [el("p", { class: "quiet" }, "None run. Tried beside the rules in force first, these would show what they do to real requests.")];
  const whose = report.text === text ? "This text runs as shadow rules." : "Other rules than these run as shadow rules.";
  return [el("p", {}, `${whose} ${shadowText(report, shell.hearth.now)}`), ...shadowLists(report)];
}
