// What the rules came to for one request: each rule that was asked, with the value of each part of it.

import { el } from "./dom.js";
import { shown, shownLines } from "./values.js";

/** What a part of a rule came to, in words. */
export function outcomeText({ value, number, cut, error, unevaluated }) {
  if (unevaluated) return "not looked at";
  if (error !== undefined) return `error: ${shown(error)}`;
  return number ?? shown(textOf(value)) + (cut ? "…" : "");
}

/** No map is without children, so one that the server sends empty has been left out. */
function textOf(value) {
  const isMap = value !== null && typeof value === "object";
  return isMap && Object.keys(value).length === 0 ? "{…}" : JSON.stringify(value) ?? "null";
}

/** The parts without those of a part that was not looked at. */
function seen(values) {
  let passed = "";
  return values.filter(({ text, unevaluated }) => {
    if (unevaluated && passed.includes(text)) return false;
    passed = unevaluated ? text : "";
    return true;
  });
}

/** What a rule came to, in words. */
export const resultText = ({ result, error }) => (result === "error" ? `error: ${shown(error?.message ?? error)}` : String(result));

/**
 * One rule of a trace; `dataAddress(path)` is where data is looked at, `lineAddress(rule)` where the line of the rule is: without it the rule stands beside.
 */
export function ruleTrace(rule, { dataAddress, lineAddress }) {
  const { path, kind, line, source, result, bindings = {}, values = [] } = rule;
  const bound = Object.entries(bindings).map(([name, key]) => `${name} = ${JSON.stringify(key)}`).join(", ");
  return el(
    "details",
    { class: "rule-part", open: result !== true || !lineAddress },
    el("summary", {}, el("code", {}, `${shown(path)} .${kind}`), " ", lineAddress ? el("a", { href: lineAddress(rule) }, `line ${line}`) : `line ${line}`, " ", el("span", { class: `result-${result}` }, resultText(rule))),
    lineAddress ? el("pre", {}, shownLines(source)) : null,
    bound ? el("p", { class: "quiet" }, `with ${shown(bound)}`) : null,
    el("table", {}, el("tbody", {}, seen(values).map((value) => el(
      "tr",
      {},
      el("td", {}, el("code", {}, shownLines(value.text))),
      el("td", { class: "outcome" }, outcomeText(value), value.path && value.tree === "data" ? [" ", el("a", { class: "link", href: dataAddress(value.path.replace(/^\//, "")), title: `Open ${value.path}` }, shown(value.path))] : null),
    )))),
  );
}
