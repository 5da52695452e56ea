// The palette: one field that leads to a page, a path, a database, a user or a search.

import { byId, el, fill } from "./dom.js";
import { opened } from "./parts.js";
import { parentOf, shown } from "./values.js";

const mostRecent = 12;
const mostShown = 30;
const mostChildren = 10;

const place = (database) => `hearth.console.recent.${database}`;

function recent(database) {
  try {
    return JSON.parse(localStorage[place(database)] ?? "[]");
  } catch {
    return [];
  }
}

/** Keeps a path that was looked at, in this browser. */
export function remember(database, path) {
  const paths = [path, ...recent(database).filter((other) => other !== path)];
  localStorage[place(database)] = JSON.stringify(paths.slice(0, mostRecent));
}

/** Opens the palette; `actions` are more pairs of words and work. */
export function openPalette(shell, pages, actions) {
  const input = el("input", {
    id: "palette-field", role: "combobox", "aria-expanded": "true", "aria-controls": "palette-list", "aria-autocomplete": "list", "aria-label": "Go to",
    placeholder: "a page, a /path, a database, a user", spellcheck: "false", autocomplete: "off",
  });
  const list = el("ul", { id: "palette-list", role: "listbox", "aria-label": "Places" });
  const { dialog } = opened([el("h2", { id: "dialog-title", class: "unseen" }, "Go to"), input, list]);
  dialog.classList.add("palette");
  let entries = [];
  let chosen = 0;
  let turn = 0;

  const go = (entry) => {
    dialog.close();
    entry?.work();
  };

  const draw = () => {
    chosen = Math.max(0, Math.min(chosen, entries.length - 1));
    fill(list, entries.map(({ words, kind, work }, index) => el(
      "li",
      { role: "option", id: `palette-${index}`, "aria-selected": String(index === chosen), onclick: () => go({ work }) },
      el("span", { class: "grow" }, words), el("span", { class: "quiet" }, kind),
    )));
    if (entries.length) input.setAttribute("aria-activedescendant", `palette-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
    list.children[chosen]?.scrollIntoView({ block: "nearest" });
  };

  const look = async () => {
    const mine = (turn += 1);
    entries = found(shell, pages, actions, input.value.trim());
    chosen = 0;
    draw();
    if (!input.value.trim().startsWith("/")) return;
    const children = await childrenOf(shell, input.value.trim());
    if (mine !== turn) return;
    const there = new Set(entries.map(({ words }) => words));
    entries.push(...children.filter(({ words }) => !there.has(words)));
    draw();
  };

  input.addEventListener("input", look);
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && entries.length) {
      event.preventDefault();
      chosen = (chosen + step + entries.length) % entries.length;
      draw();
    }
    if (event.key === "Enter") {
      event.preventDefault();
      go(entries[chosen]);
    }
  });
  input.focus();
  look();
}

const path = (shell, words, kind) => {
  const keys = words.split("/").filter(Boolean).join("/");
  return { words: `/${shown(keys)}`, kind, work: () => shell.go("data", keys) };
};

/** What a text may mean, the likeliest first. */
function found(shell, pages, actions, text) {
  const visited = recent(shell.database).map((each) => path(shell, each, "recent path"));
  const places = [
    ...pages.map(({ name, label }) => ({ words: label, kind: "page", work: () => shell.go(name) })),
    ...[...byId("database").options].map(({ value }) => ({ words: value, kind: "database", work: () => shell.go("data", "", { ns: value }) })),
    ...actions.map(([words, work]) => ({ words, kind: "action", work })),
  ];
  if (!text) return [...visited.slice(0, 5), ...places];
  const words = text.toLowerCase().split(/\s+/);
  const matches = [...places, ...visited].filter((entry) => words.every((word) => entry.words.toLowerCase().includes(word)));
  const typed = path(shell, text, "path");
  const user = { words: `Find the user ${shown(text)}`, kind: "user", work: () => shell.go("users", "", { find: text }) };
  const search = { words: `Find ${shown(text)} in keys and values`, kind: "search", work: () => shell.go("data", "", { find: text }) };
  const rest = text.startsWith("/") ? [typed, ...matches.filter((entry) => entry.words !== typed.words)] : [...matches, user, search, typed];
  return rest.slice(0, mostShown);
}

/** The children of the path that is being typed whose keys begin as it ends. */
async function childrenOf(shell, text) {
  const start = text.endsWith("/") ? "" : text.split("/").at(-1);
  const parent = parentOf(text.slice(1)).split("/").filter(Boolean).join("/");
  const query = { orderByKey: true, limitToFirst: mostChildren, ...(start && { startAt: start, endAt: `${start}\uf8ff` }) };
  try {
    const { value } = await shell.hearth.ask({ do: "get", path: `/${parent}`, query, outline: true }, true);
    const keys = value && typeof value === "object" ? Object.keys(value.first ?? value) : [];
    return keys.map((key) => path(shell, `${parent}/${key}`, "path"));
  } catch {
    // What is no path, or may not be read, has no children to offer.
    return [];
  }
}
