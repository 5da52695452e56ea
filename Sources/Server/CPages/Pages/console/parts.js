// Parts that pages share: questions, menus, and notices with a way back.

import { byId, el, fill, notice } from "./dom.js";
import { address } from "./server.js";

/** Asks yes or no. */
export function confirmed(title, words, yes) {
  return question(title, [el("p", {}, words)], yes, () => true, "danger");
}

/**
 * Asks for values: `fields` have `name`, `label`, and maybe `hint`, `value`, `choices`, `isLong`, `check(text, all)` that
 * says what is wrong. Gives an object of them; null when the person leaves.
 */
export function ask(title, fields, yes) {
  const inputs = new Map();
  const problems = new Map();
  const rows = fields.map(({ name, label, hint, value = "", choices, isLong }) => {
    const id = `ask-${name}`;
    const input = choices
      ? el("select", { id }, choices.map((choice) => el("option", { selected: choice === value }, choice)))
      : isLong
        ? el("textarea", { id, rows: "4", spellcheck: "false" })
        : el("input", { id, spellcheck: "false", autocomplete: "off" });
    if (!choices) input.value = value;
    const problem = el("p", { class: "problem", id: `${id}-problem` });
    input.setAttribute("aria-describedby", problem.id);
    inputs.set(name, input);
    problems.set(name, problem);
    return el("div", { class: "field" }, el("label", { for: id }, label), input, hint ? el("p", { class: "hint" }, hint) : null, problem);
  });
  return question(title, rows, yes, () => {
    const all = Object.fromEntries([...inputs].map(([name, input]) => [name, input.value]));
    const faults = fields.map(({ name, check }) => [name, check?.(all[name], all) ?? ""]);
    for (const [name, words] of faults) problems.get(name).textContent = words;
    const [first] = faults.find(([, words]) => words) ?? [];
    if (first) inputs.get(first).focus();
    return first ? null : all;
  });
}

/** Shows parts in a dialog of their own. Gives the dialog and the promise of its end. */
export function opened(parts) {
  const dialog = el("dialog", { id: "dialog", "aria-labelledby": "dialog-title" }, ...parts);
  document.body.append(dialog);
  dialog.showModal();
  return {
    dialog,
    closed: new Promise((resolve) => dialog.addEventListener("close", resolve)).then(() => dialog.remove()),
  };
}

/** Asks in a wide dialog whether what is shown there is to be done; gives whether it is. */
export async function agreed(title, parts, yes) {
  let isAgreed = false;
  const agree = () => {
    isAgreed = true;
    dialog.close();
  };
  const { dialog, closed } = opened([
    el("h2", { id: "dialog-title" }, title),
    ...parts,
    el(
      "div", { class: "buttons" },
      el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      el("button", { type: "button", class: "primary", onclick: agree }, yes),
    ),
  ]);
  dialog.classList.add("wide-dialog");
  await closed;
  return isAgreed;
}

/** Asks in a dialog; `take()` gives what the person has said, or null to go on asking. Gives that, or null when they leave. */
async function question(title, parts, yes, take, kind = "primary") {
  let answer = null;
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: "dialog-title" }, title),
    ...parts,
    el(
      "div",
      { class: "buttons" },
      el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      el("button", { type: "submit", class: kind }, yes),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    answer = take();
    if (answer !== null) dialog.close();
  });
  const { dialog, closed } = opened([form]);
  await closed;
  return answer;
}

/** A button that opens a list of things to do; `entries()` gives words, work and whether it changes something. */
export function menuButton(words, entries) {
  const list = el("div", { class: "menu", popover: "auto", role: "menu" });
  const button = el("button", { type: "button", "aria-haspopup": "menu" }, words);
  button.addEventListener("click", () => {
    fill(list, entries().map(([label, work, changes = false]) => el("button", {
      type: "button", role: "menuitem", "data-changes": changes,
      onclick: () => {
        list.hidePopover();
        work();
      },
    }, label)));
    const box = button.getBoundingClientRect();
    list.style.top = `${box.bottom + 4}px`;
    list.style.right = `${document.documentElement.clientWidth - box.right}px`;
    list.togglePopover();
    list.firstElementChild?.focus();
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = [...list.children].filter((entry) => !entry.disabled);
    all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
    event.preventDefault();
  });
  return el("span", { class: "menu-place" }, button, list);
}

/** What can be copied of a node. `text()` gives its JSON. */
export function copyMenu(path, database, text) {
  const url = `${location.origin}${address(path)}?ns=${database}`;
  return [
    ["Copy path", () => copy(`/${path}`)],
    ["Copy key", () => copy(path.split("/").at(-1))],
    ["Copy JSON", async () => copy(await text())],
    ["Copy as curl", () => copy(`curl '${url.replaceAll("'", "%27")}'`)],
    ["Copy as JavaScript", () => copy(`ref(getDatabase(), ${JSON.stringify(path)})`)],
    ["Copy as Swift", () => copy(`Database.database().reference(withPath: ${JSON.stringify(path)})`)],
  ];
}

/** Writes the head of each column into the cells of tables, which stand one below the other on a narrow screen. */
export function labelCells(page) {
  for (const table of page.querySelectorAll(".wide > .list")) {
    const heads = [...table.tHead.rows[0].cells].map((head) => head.textContent);
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
      if (row.cells.length !== heads.length || row.cells[1]?.dataset.head) continue;
      [...row.cells].forEach((cell, index) => { if (index && heads[index]) cell.dataset.head = heads[index]; });
    }
  }
}

/** Lines to try, with this server's address: `rows` are pairs of a label and a line. */
export function lines(rows) {
  return el("dl", { class: "lines" }, rows.map(([label, line]) => [
    el("dt", {}, label),
    el("dd", {}, el("pre", { tabindex: "0" }, line), el("button", { type: "button", class: "small", "aria-label": `Copy the line for ${label}`, onclick: () => copy(line) }, "Copy")),
  ]).flat());
}

/** The database as the SDKs name it: `javascript` and `swift` are the beginnings of their lines. */
export function references(database, path) {
  const [url, place] = [JSON.stringify(`${location.origin}?ns=${database}`), JSON.stringify(path)];
  return { javascript: `ref(getDatabase(app, ${url}), ${place})`, swift: `Database.database(url: ${url}).reference(withPath: ${place})` };
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    notice("Copied");
  } catch {
    notice("The browser does not let this page copy.", true);
  }
}

/** Does some work; says `done`, or why it was not. */
export async function attempt(work, done) {
  try {
    await work();
    notice(done);
  } catch (refusal) {
    notice(`Not done: ${refusal.message}`, true);
  }
}

/** Says what was done, with a button that takes it back, for 20 seconds. Gives the notice. */
export function undoNotice(words, undo) {
  const line = el("p", { class: "toast" }, words, " ", el("button", {
    type: "button", class: "small",
    onclick: undo,
  }, "Undo"));
  byId("notices").append(line);
  setTimeout(() => line.remove(), 20_000);
  return line;
}

/** The day and the second, in the order in which they sort; the same on every page. */
export function secondText(time) {
  const date = new Date(time);
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
