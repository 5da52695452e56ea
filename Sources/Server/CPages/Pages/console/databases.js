// The page of databases: what each holds and costs, and new ones.

import { el, fill, notice } from "./dom.js";
import { Repeated, state } from "./figures.js";
import { ask, lines, opened } from "./parts.js";
import { getJSON, send } from "./server.js";
import { bytes, number, shown } from "./values.js";

export class DatabasesPage {
  #shell;
  #rows = el("tbody");
  #problem = el("p", { class: "problem", role: "alert" });
  #hint = el("p", { class: "hint" });
  #looks = new Repeated(() => this.#look(), 10_000);

  constructor(shell) {
    this.#shell = shell;
    const heads = ["Database", "Size", "Nodes", "Commits", "Listens", "Rules in force", "Indexes"];
    this.element = el(
      "section",
      { class: "page", "aria-label": "Databases" },
      el("div", { class: "bar" }, el("h1", {}, "Databases"), el("span", { class: "grow" }), el("button", { type: "button", class: "primary", "data-changes": true, onclick: () => this.#make() }, "Add database")),
      this.#problem,
      el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads.map((head, index) => el("th", { scope: "col", class: index > 0 && index < 5 ? "number" : null }, head)))), this.#rows)),
      this.#hint,
    );
  }

  show() {
    this.#looks.start();
  }

  close() {
    this.#looks.stop();
  }

  async #look() {
    try {
      const { databases, leftOut } = await getJSON("/.inspect/database_figures.json");
      this.#problem.textContent = "";
      this.#hint.textContent = leftOut ? `${number(leftOut)} more are not shown.` : "Sizes are those of the data as the log keeps it. Each index costs work in every write below its path, and memory for each entry.";
      const open = new Set([...this.#rows.querySelectorAll("details[open]")].map(({ dataset }) => dataset.name));
      fill(this.#rows, databases.map((database) => this.#row(database, open.has(database.name))));
    } catch (refusal) {
      this.#problem.textContent = `Could not list the databases: ${refusal.message}`;
    }
  }

  #row({ name, isConfigured, bytes: size, nodes, commits, listens, rules, indexes }, isOpen) {
    const figure = (value, text = number) => el("td", { class: "number" }, value === undefined ? "too large to count here" : text(value));
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, el("a", { href: this.#shell.address("data", "", { ns: name }) }, name), isConfigured ? el("span", { class: "quiet" }, " configured") : null),
      figure(size, bytes), figure(nodes), figure(commits), figure(listens),
      el("td", {}, el("a", { href: this.#shell.address("rules", "", { ns: name }) }, rulesText(rules))),
      el("td", {}, indexes.length ? el("details", { "data-name": name, open: isOpen }, el("summary", {}, number(indexes.length)), el("ul", {}, indexes.map((index) => el(
        "li", {}, el("span", { class: "mono" }, `/${shown(index.path.replace(/^\//, ""))} by ${shown(index.order)}`),
        el("span", { class: "quiet" }, ` ${index.entries === undefined ? "being built" : `${number(index.entries)} entries`}, ${number(index.views)} ${index.views === 1 ? "query" : "queries"}${index.isDeclared ? "" : ", not in the rules"}`),
      )))) : "none"),
    );
  }

  async #make() {
    const { mode } = await state();
    if (mode !== "development") {
      const { dialog } = opened([
        el("h2", { id: "dialog-title" }, "Add a database"),
        el("p", {}, "In production the databases are those of the settings. Name one more, and start the server anew:"),
        lines([["the command line", "hearth serve --database main --database NAME"], ["hearth.json", '"database": ["main", "NAME"]']]),
        el("div", { class: "buttons" }, el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close")),
      ]);
      return;
    }
    const answer = await ask("Add a database", [{ name: "name", label: "Name", hint: "Characters a-z, 0-9 and -.", check: (text) => (text ? null : "Write a name.") }], "Add");
    if (!answer) return;
    try {
      await send("POST", "/.inspect/databases.json", { body: { name: answer.name } });
      notice(`Added ${answer.name}`);
      this.#shell.listDatabases();
    } catch (refusal) {
      notice(`Not added: ${refusal.message}`, true);
    }
    this.#looks.start();
  }
}

function rulesText({ source, version, file }) {
  switch (source) {
    case "own":
      return `version ${version}`;
    case "file":
      return file;
    case "samples":
      return "the sample rules";
    default:
      return source === "open" ? "none: open to everybody" : "none: everything is denied";
  }
}
