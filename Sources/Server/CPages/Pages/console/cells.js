// A leaf as it stands in a row of the tree and in a cell of the table.

import { el } from "./dom.js";
import { bytes, dateOf, leafText } from "./values.js";

/** The elements of a leaf; `calls.open(path)` follows a text that is a path of several keys. */
export function leafParts(node, calls) {
  const date = dateOf(node.value);
  const type = node.type === "true or false" ? "boolean" : node.type;
  return [
    el("span", { class: `leaf ${type}`, title: date }, leafText(node.value)),
    node.kind === "cut" ? el("span", { class: "count" }, bytes(node.bytes)) : null,
    date ? el("span", { class: "date" }, date) : null,
    link(node.value, calls),
    node.priority === null ? null : el("span", { class: "priority", title: "priority" }, `↑ ${leafText(node.priority, 40)}`),
  ];
}

function link(value, calls) {
  if (typeof value !== "string" || !/^\/?[^/.#$[\]\s]+(\/[^/.#$[\]\s]+)+$/.test(value)) return null;
  const path = value.replace(/^\//, "");
  return el("button", { class: "link", type: "button", tabindex: "-1", "aria-label": `Go to /${path}`, onclick: () => calls.open(path) }, "→");
}
