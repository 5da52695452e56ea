// The page of the server's log: its newest lines, live.

import { el, fill } from "./dom.js";
import { Repeated } from "./figures.js";
import { secondText } from "./parts.js";
import { getJSON } from "./server.js";
import { shown } from "./values.js";

const mostShown = 2000;
const levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"];

export class LogPage {
  #shell;
  #lines = el("ol", { class: "log", tabindex: "0", "aria-label": "Lines of the log, the newest last" });
  #problem = el("p", { class: "problem", role: "alert" });
  #level = el("select", { "aria-label": "Level", onchange: () => this.#visit() }, levels.map((level) => el("option", { value: level }, level === "trace" ? "every level" : `${level} and above`)));
  #database = el("input", { type: "search", placeholder: "database", "aria-label": "Database", spellcheck: "false", onchange: () => this.#visit() });
  #follows = el("input", { type: "checkbox", checked: true });
  #last = 0;
  #looks = new Repeated(() => this.#look(), 1000);

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", { class: "path", type: "search", placeholder: "text", "aria-label": "Find lines", spellcheck: "false", onchange: () => this.#visit() });
    this.element = el(
      "section",
      { class: "page log-page", "aria-label": "Log" },
      el("div", { class: "bar" }, this.field, this.#level, this.#database, el("label", { class: "check" }, this.#follows, "follow")),
      this.#problem,
      this.#lines,
    );
  }

  #visit() {
    const query = { text: this.field.value, level: this.#level.value, database: this.#database.value };
    this.#shell.go("log", "", Object.fromEntries(Object.entries(query).filter(([, value]) => value)));
  }

  show(_, query) {
    this.field.value = query.get("text") ?? "";
    this.#level.value = levels.includes(query.get("level")) ? query.get("level") : "info";
    this.#database.value = query.get("database") ?? "";
    this.#last = 0;
    fill(this.#lines, []);
    this.#looks.start();
  }

  close() {
    this.#looks.stop();
  }

  async #look() {
    try {
      const query = { after: this.#last, level: this.#level.value, limit: mostShown, ...(this.field.value && { text: this.field.value }), ...(this.#database.value && { database: this.#database.value }) };
      const { lines, last } = await getJSON("/.inspect/log.json", query);
      this.#problem.textContent = "";
      // A server that was started anew counts from 1 again.
      if (last < this.#last) {
        this.#last = 0;
        return;
      }
      this.#last = last;
      this.#lines.append(...lines.map((line) => this.#line(line)));
      while (this.#lines.children.length > mostShown) this.#lines.firstElementChild.remove();
      if (lines.length && this.#follows.checked) this.#lines.scrollTop = this.#lines.scrollHeight;
    } catch (refusal) {
      this.#problem.textContent = `Could not read the log: ${refusal.message}`;
    }
  }

  #line({ time: at, level, message, metadata }) {
    return el(
      "li",
      { class: `log-line level-${level}` },
      el("time", {}, `${secondText(at)}.${String(at % 1000).padStart(3, "0")}`), el("span", { class: "level" }, level),
      el("span", { class: "words" }, shown(message), Object.entries(metadata).map(([key, value]) => [" ", el("span", { class: "pair" }, el("span", { class: "quiet" }, `${shown(key)}=`), shown(value))]).flat()),
    );
  }
}
