// A leaf as it stands in a row of the tree and in a cell of the table.

import { el } from "./dom.js";
import { bytes, byteCount, dateOf, isBinary, leafText, shown } from "./values.js";

const longest = 160;
const longestBinary = 24;

/** The elements of a leaf; `calls.show(item)` shows a folded text whole. */
export function leafParts(item, calls, links) {
  const { node } = item;
  const date = dateOf(node.value);
  const type = node.type === "true or false" ? "boolean" : node.type;
  const binary = isBinary(node.value);
  const length = binary ? longestBinary : longest;
  const isFolded = node.kind === "cut" || (node.type === "text" && node.value.length > length);
  return [
    el("span", { class: `leaf ${type}`, title: date }, leafText(node.value, length)),
    isFolded ? el("button", {
      type: "button", class: "fold", tabindex: "-1", title: "Show the whole text", onclick: () => calls.show(item),
    }, `${binary ? "looks binary, " : ""}${bytes(node.bytes ?? byteCount(node.value))}`) : null,
    date ? el("span", { class: "date" }, date) : null,
    ...linkParts(links, calls),
    node.priority === null ? null : el("span", { class: "priority", title: "priority" }, `↑ ${leafText(node.priority, 40)}`),
  ];
}

/** Where a text or a key leads; `calls.address(path)` is the page of a path. */
export const linkParts = (links, calls) =>
  links.map((path) => el("a", { class: "link", tabindex: "-1", href: calls.address(path) }, `→ ${shown(path)}`));
