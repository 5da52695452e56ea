// The page of settings: each one in force, its value, and where that comes from.

import { el, fill } from "./dom.js";
import { getJSON } from "./server.js";
import { shown } from "./values.js";

export class SettingsPage {
  #rows = el("tbody");
  #problem = el("p", { class: "problem", role: "alert" });
  #file = el("p", { class: "hint" });
  #isSet = el("input", { type: "checkbox", id: "is-set", onchange: () => this.#draw() });
  #settings = [];

  constructor() {
    this.field = el("input", { class: "path", type: "search", placeholder: "name, value or place", "aria-label": "Find settings", spellcheck: "false", oninput: () => this.#draw() });
    this.element = el(
      "section",
      { class: "page", "aria-label": "Settings" },
      el("div", { class: "bar" }, this.field, el("label", { class: "check" }, this.#isSet, "only those that are set")),
      this.#problem,
      el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, ["Setting", "Value", "Comes from"].map((head) => el("th", { scope: "col" }, head)))), this.#rows)),
      this.#file,
    );
  }

  show() {
    this.#look();
  }

  close() {}

  async #look() {
    try {
      const { settings, file } = await getJSON("/.inspect/settings.json");
      this.#settings = settings;
      this.#file.textContent = `${file ? `The settings file is ${file}.` : "No settings file is read."} Flags beat variables, variables beat the file. Secrets stand in files and are not shown. A setting changes with a start of the server; hearth check says beforehand whether it would start.`;
      this.#problem.textContent = "";
      this.#draw();
    } catch (refusal) {
      this.#problem.textContent = `Could not read the settings: ${refusal.message}`;
    }
  }

  #draw() {
    const words = this.field.value.toLowerCase();
    const text = (value) => (value === null ? "" : [value].flat().join(", "));
    const found = this.#settings.filter(({ name, value, place }) => (!this.#isSet.checked || place !== "default") && `${name} ${text(value)} ${place}`.toLowerCase().includes(words));
    fill(this.#rows, found.map(({ name, value, place }) => el(
      "tr",
      { class: place === "default" ? "off" : null },
      el("th", { scope: "row", class: "mono" }, name), el("td", { class: "mono" }, shown(text(value)) || "–"), el("td", {}, place === "default" ? "built in" : el("code", {}, place)),
    )));
  }
}
