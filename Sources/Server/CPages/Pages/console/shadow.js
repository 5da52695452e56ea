// Rules that are tried beside those in force, without effect: what they would have decided otherwise.

import { ago, el, fill, notice } from "./dom.js";
import { getJSON, send } from "./server.js";
import { number, shown } from "./values.js";

const pause = 2000;

/** What shadow rules have found: the server's report, `decided` requests, and their `text`; null when none run. `query` says of what. */
export async function shadowReport(query) {
  const report = await getJSON("/.inspect/shadow.json", query);
  if (!report.canary) return null;
  const { source } = await getJSON(`/.settings/rulesets/${report.canary}.json`, query);
  return { ...report, decided: report["judged"], text: source };
}

/** The counts of a report in one sentence. */
export function shadowText({ since, decided, newlyAllowed, newlyRefused, undecided }, now) {
  const rest = undecided ? `, ${number(undecided)} undecided` : "";
  return `Of ${number(decided)} requests since ${ago(since, now)}: ${number(newlyAllowed)} newly allowed, ${number(newlyRefused)} newly refused${rest}.`;
}

/** What was decided otherwise, in two lists. */
export function shadowLists({ service, differences, unlisted }) {
  const name = ({ kind, path }) => (service === "files" ? `${shown(kind)} ${shown(path)}` : `${shown(path)} .${kind}`);
  const rule = (words, one, none = "no rule grants it") => el("p", { class: "quiet" }, words, one ? [el("code", {}, name(one)), ` line ${one.line}: `, el("code", {}, shown(one.source))] : none);
  const list = (title, kind) => {
    const found = differences.filter((difference) => difference["verdict"] === kind);
    return found.length === 0 ? null : [el("h3", {}, title), el("ul", { class: "shadowed" }, found.map(({ operation, count, live, shadow, examples }) => el(
      "li",
      {},
      el("p", {}, `${operation}, ${count === 1 ? "once" : `${number(count)} times`}`),
      // Where nothing grants what is allowed, there are no rules: for files, in development.
      rule("in force: ", live, kind === "newlyRefused" ? "no rules: everything is allowed" : undefined), rule("shadow: ", shadow),
      el("details", {}, el("summary", {}, "Examples"), el("ul", {}, examples.map(({ path, uid }) => el("li", {}, el("code", {}, shown(path)), uid === null ? " no user" : ` ${shown(uid)}`)))),
    )))];
  };
  return [list("Newly allowed", "newlyAllowed"), list("Newly refused", "newlyRefused"), unlisted ? el("p", { class: "quiet" }, `${number(unlisted)} more have no room here.`) : null].flat();
}

/** The part of the page that begins, shows and stops them; `text()` is that of the editor, `open(text)` puts one there, `query()` says of what. */
export class Shadow {
  #shell;
  #calls;
  #body = el("div", { class: "simulator" });
  #timer = 0;
  #turn = 0;
  #drawn = "";
  element;

  constructor(shell, calls) {
    this.#shell = shell;
    this.#calls = calls;
    this.element = el("section", { class: "simulator", "aria-label": "Shadow rules" }, el("h2", {}, "Shadow rules"), this.#body);
  }

  show() {
    this.close();
    this.#look(this.#turn);
  }

  close() {
    this.#turn += 1;
    clearTimeout(this.#timer);
  }

  /** Tries a text beside the rules in force. */
  async begin(text) {
    const stored = await send("POST", "/.settings/rulesets.json", { query: this.#calls.query(), body: text });
    await this.#label((await stored.json()).id);
    notice("Tried beside the rules in force: nothing depends on them");
  }

  async #label(canary) {
    const query = this.#calls.query();
    const { stable } = await getJSON("/.settings/ruleset_labels.json", query);
    await send("PUT", "/.settings/ruleset_labels.json", { query: { ...query, author: "console" }, body: { ...(stable && { stable }), ...(canary && { canary }) } });
    this.show();
  }

  async #look(turn) {
    try {
      const report = await shadowReport(this.#calls.query());
      if (turn !== this.#turn) return;
      this.#draw(report);
      if (report) this.#timer = setTimeout(() => this.#look(turn), pause);
    } catch (refusal) {
      if (turn === this.#turn) fill(this.#body, [el("p", { class: "problem" }, refusal.message)]);
    }
  }

  #draw(report) {
    const act = (words, work, kind = null) => el("button", {
      type: "button", class: kind, "data-changes": true,
      onclick: () => work().catch((refusal) => notice(`Not done: ${refusal.message}`, true)),
    }, words);
    if (!report) {
      this.#drawn = "";
      fill(this.#body, [
        el("p", { class: "quiet" }, "They meet the real requests beside the rules in force, and nothing depends on them: what they would decide otherwise is counted here."),
        el("div", { class: "buttons" }, act("Try this text beside them", () => this.begin(this.#calls.text()))),
      ]);
      return;
    }
    // What is open stays open while nothing is new.
    const state = JSON.stringify([report.canary, report.decided, report.since, report.differences.length]);
    if (state === this.#drawn) return;
    this.#drawn = state;
    fill(this.#body, [
      el("p", {}, shadowText(report, this.#shell.hearth.now)),
      ...shadowLists(report),
      el(
        "div", { class: "buttons" },
        el("button", { type: "button", onclick: () => this.#calls.open(report.text) }, "Their text"),
        act("Count anew", async () => {
          await send("DELETE", "/.inspect/shadow.json", { query: this.#calls.query() });
          this.show();
        }),
        act("Try this text instead", () => this.begin(this.#calls.text())),
        act("Stop", () => this.#label(null)),
      ),
    ]);
  }
}
