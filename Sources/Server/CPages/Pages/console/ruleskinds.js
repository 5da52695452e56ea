// The two pages of rules: those of the database, and with `?service=files` those for files.

import { el } from "./dom.js";
import { FileRulesPage } from "./filerules.js";
import { RulesPage } from "./rules.js";

export class RulesPages {
  #shell;
  #kind = null;
  #page = null;
  element = el("div", { class: "either" });

  constructor(shell) {
    this.#shell = shell;
  }

  async show(path, query) {
    const kind = query.get("service") === "files" ? FileRulesPage : RulesPage;
    if (kind !== this.#kind) {
      this.close();
      this.#kind = kind;
      this.#page = new kind(this.#shell);
      this.element.replaceChildren(this.#page.element);
    }
    await this.#page.show(path, query);
  }

  close() {
    this.#page?.close();
  }
}
