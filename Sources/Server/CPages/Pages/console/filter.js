// The filter of the data page: a query in the address, and the fields in which it is written.

import { el } from "./dom.js";

const orders = { key: "key", value: "value", child: "child", priority: "priority" };
export const filterNames = ["order", "by", "from", "to", "limit", "last"];

/** A bound as it is typed: a number, true, false or null; all else is a text, which may stand in quotes. */
function bound(text, order) {
  if (order === "key") return text;
  if (/^"([^"\\]|\\.)*"$/.test(text)) return JSON.parse(text);
  if (["true", "false", "null"].includes(text)) return JSON.parse(text);
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** The query that an address asks for; null when it asks for none. */
export function queryOf(search) {
  const order = search.get("order");
  if (!(order in orders)) return null;
  const query = order === "child" ? { orderByChild: search.get("by") || "name" } : { [`orderBy${order[0].toUpperCase()}${order.slice(1)}`]: true };
  const [from, to] = [search.get("from"), search.get("to")];
  if (from !== null && from === to) query.equalTo = bound(from, order);
  else {
    if (from !== null) query.startAt = bound(from, order);
    if (to !== null) query.endAt = bound(to, order);
  }
  const limit = Math.min(Math.max(Math.floor(Number(search.get("limit"))) || 200, 1), 1000);
  query[search.get("last") ? "limitToLast" : "limitToFirst"] = limit;
  return query;
}

/** What an address orders by: `by` is null for keys, empty for values, and a path below each child otherwise. */
export function orderOf(search) {
  const order = search.get("order");
  const by = order === "child" ? search.get("by") || "name" : order === "value" ? "" : order === "priority" ? undefined : null;
  return { by, isLast: Boolean(order && search.get("last")) };
}

/** The line of the rules without which the query sorts anew; nothing for an order that needs none. */
export function indexLine(search, path) {
  const order = search.get("order");
  const name = order === "child" ? search.get("by") || "name" : order === "value" ? ".value" : null;
  return name && `".indexOn": ${JSON.stringify(name)} at /${path}`;
}

/** The fields; `apply(query)` is given what belongs into the address. */
export function filterBar(search, apply) {
  const field = (name, label, more = {}) => el("input", {
    name, value: search.get(name) ?? "", "aria-label": label, placeholder: label, spellcheck: "false", ...more,
  });
  const order = el("select", { name: "order", "aria-label": "Order by" }, Object.keys(orders).map((name) => el("option", { selected: search.get("order") === name }, name)));
  const by = field("by", "path below each child");
  const show = () => (by.hidden = order.value !== "child");
  order.addEventListener("change", show);
  show();
  const form = el(
    "form",
    { class: "bar filter", "aria-label": "Filter" },
    el("span", {}, "Order by"), order, by,
    field("from", "from"), field("to", "to"),
    el("label", { class: "check" }, el("input", { type: "checkbox", name: "last", checked: Boolean(search.get("last")) }), "last first"),
    field("limit", "limit, 200", { inputmode: "numeric", class: "short" }),
    el("button", { type: "submit", class: "primary" }, "Apply"),
    el("button", { type: "button", onclick: () => apply({}) }, "Clear"),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(form);
    const kept = filterNames.map((name) => [name, data.get(name)]).filter(([name, value]) => value && (name !== "by" || order.value === "child"));
    apply(Object.fromEntries(kept));
  });
  return form;
}
