// The simulator: one request, tried with the text of the editor on the live data or on other data. It changes nothing.

import { keepCase } from "./cases.js";
import { el, fill } from "./dom.js";
import { send } from "./server.js";

export class Simulator {
  #database;
  #calls;
  #inputs = {};
  #more = el("details", {}, el("summary", {}, "On other data, at another time"));
  #answer = el("div", { role: "status" });
  element;

  /** `text()` is of the rules that requests are tried with; `kept()` is called when one was kept as a case. */
  constructor(database, calls) {
    this.#database = database;
    this.#calls = calls;
    const field = (name, label, input) => {
      this.#inputs[name] = input;
      input.id = `simulate-${name}`;
      return el("div", { class: "field" }, el("label", { for: input.id }, label), input);
    };
    this.#more.append(
      field("data", "Data (JSON; empty: the live data)", el("textarea", { rows: "4", spellcheck: "false" })),
      field("now", "now (milliseconds; empty: the present)", el("input", { inputmode: "numeric" })),
    );
    this.element = el(
      "form",
      { class: "simulator" },
      el("h2", {}, "Try a request"),
      field("op", "What", el("select", {}, ["read", "query", "write", "update"].map((name) => el("option", {}, name)))),
      field("path", "Path", el("input", { value: "/", spellcheck: "false" })),
      field("auth", "As (JSON; empty: signed out)", el("input", { placeholder: '{"uid":"ann"}', spellcheck: "false" })),
      field("value", "Value, or query (JSON)", el("textarea", { rows: "3", spellcheck: "false" })),
      this.#more,
      el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => this.#keep() }, "Keep as a case"), el("button", { type: "submit", class: "primary" }, "Try with this text")),
      this.#answer,
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#simulate();
    });
  }

  /** Puts a request into the fields; `hasFocus` leads there. */
  fill({ op, path, auth, value, query, data, now }, hasFocus = true) {
    const text = (given) => (given === undefined ? "" : JSON.stringify(given));
    this.#inputs.op.value = op;
    this.#inputs.path.value = path;
    this.#inputs.auth.value = auth ? JSON.stringify(auth) : "";
    this.#inputs.value.value = text(op === "query" ? query : value);
    this.#inputs.data.value = text(data);
    this.#inputs.now.value = text(now);
    this.#more.open = data !== undefined || now !== undefined;
    fill(this.#answer, []);
    if (hasFocus) this.#inputs.path.focus();
  }

  /** What is in the fields. Throws for what is no JSON. */
  #asked() {
    const read = (name, label) => {
      const text = this.#inputs[name].value.trim();
      try {
        return text ? JSON.parse(text) : undefined;
      } catch (error) {
        throw new Error(`${label}: ${error.message}`);
      }
    };
    const op = this.#inputs.op.value;
    const [value, data, now] = [read("value", "Value"), read("data", "Data"), read("now", "now")];
    return {
      op, path: this.#inputs.path.value, auth: read("auth", "As") ?? null,
      ...(op === "query" && { query: value ?? null }), ...(["write", "update"].includes(op) && { value: value ?? null }),
      ...(data !== undefined && { data }), ...(now !== undefined && { now }),
    };
  }

  async #keep() {
    try {
      const asked = this.#asked();
      const answer = await send("POST", "/.simulate", { query: { ns: this.#database }, body: { ...asked, rules: this.#calls.text() } });
      const expect = (await answer.json()).allowed ? "allow" : "deny";
      if (await keepCase(this.#database, { name: `${asked.op} ${asked.path}`, ...asked, expect })) this.#calls.kept();
    } catch (error) {
      fill(this.#answer, [el("p", { class: "problem" }, error.message)]);
    }
  }

  async #simulate() {
    try {
      const body = { ...this.#asked(), rules: this.#calls.text() };
      const response = await send("POST", "/.simulate", { query: { ns: this.#database }, body, headers: { Accept: "text/plain" } });
      const isAllowed = response.headers.get("Hearth-Verdict") === "allowed";
      fill(this.#answer, [el("p", { class: isAllowed ? "result-true" : "result-false" }, isAllowed ? "✓ allowed" : "✕ refused"), el("pre", { class: "explanation" }, await response.text())]);
    } catch (error) {
      fill(this.#answer, [el("p", { class: "problem" }, error.message)]);
    }
  }
}
