// The versions of the rules of a database: each can be read, compared with another, and gone back to.

import { difference, differenceView, differenceWords } from "./diff.js";
import { ago, el, fill, notice, wholeText } from "./dom.js";
import { opened } from "./parts.js";
import { send } from "./server.js";
import { shown } from "./values.js";

export class RulesHistory {
  #shell;
  #calls;
  #list = el("ol", { class: "history" });
  #choices = el("div", { class: "bar" });
  element;

  /** `open(text)` puts a text into the editor, whose own is `text()`; `goBack(number, text)` puts one in force. `query` says
   * whose versions they are, where they are not those of the database. */
  constructor(shell, calls) {
    this.#shell = shell;
    this.#calls = calls;
    this.element = el("section", { class: "simulator", "aria-label": "History" }, el("h2", {}, "History"), this.#list, this.#choices);
  }

  /** Shows the versions, the newest first; `isOwn` says that the newest is in force. */
  draw(versions, isOwn) {
    const { now } = this.#shell.hearth;
    fill(this.#list, versions.length === 0 ? [el("li", { class: "quiet" }, "No rules were published yet.")] : versions.map(({ number, time, author, detached }, index) => {
      const isInForce = isOwn && index === 0;
      const act = (words, work) => el("button", { type: "button", class: "small", "data-changes": words === "Go back", "aria-label": `${words} version ${number}`, onclick: work }, words);
      return el(
        "li",
        {},
        detached ? `Version ${number}: detached` : el("button", { type: "button", class: "plain", title: "Open in the editor", onclick: () => this.#with(number, (text) => this.#calls.open(text)) }, `Version ${number}`),
        isInForce ? el("b", {}, " in force") : null,
        el("span", { class: "quiet" }, ` ${author ? shown(author) : "unknown"}, `, time ? el("time", { title: wholeText(time) }, ago(time, now)) : "before the history"),
        detached ? null : el("span", { class: "acts" }, act("Compare", () => this.#compare(String(number), "editor")), isInForce ? null : act("Go back", () => this.#with(number, (text) => this.#calls.goBack(number, text)))),
      );
    }));
    const kept = versions.filter(({ detached }) => !detached).map(({ number }) => String(number));
    this.#choices.hidden = kept.length < 2;
    const choice = (label, chosen) => el("select", { "aria-label": label }, ["editor", ...kept].map((value) => el("option", { value, selected: value === chosen }, value === "editor" ? "the editor" : `version ${value}`)));
    const [from, to] = [choice("Compare from", kept[1]), choice("Compare to", kept[0])];
    fill(this.#choices, [from, "→", to, el("button", { type: "button", class: "small", onclick: () => this.#compare(from.value, to.value) }, "Compare")]);
  }

  async #text(which) {
    if (which === "editor") return this.#calls.text();
    return (await send("GET", `/.settings/rules_history/${which}.json`, { query: this.#calls.query ?? { ns: this.#shell.database } })).text();
  }

  async #with(number, work) {
    try {
      await work(await this.#text(String(number)));
    } catch (refusal) {
      notice(`Could not read version ${number}: ${refusal.message}`, true);
    }
  }

  async #compare(from, to) {
    try {
      const name = (which) => (which === "editor" ? "the editor" : `version ${which}`);
      const [before, after] = await Promise.all([this.#text(from), this.#text(to)]);
      const lines = difference(before.replace(/\r\n?/g, "\n"), after.replace(/\r\n?/g, "\n"));
      const title = `From ${name(from)} to ${name(to)}`;
      const { dialog } = opened([
        el("h2", { id: "dialog-title" }, title), el("p", {}, differenceWords(lines)), differenceView(lines, title),
        el("div", { class: "buttons" }, el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close")),
      ]);
      dialog.classList.add("wide-dialog");
    } catch (refusal) {
      notice(`Could not compare: ${refusal.message}`, true);
    }
  }
}
