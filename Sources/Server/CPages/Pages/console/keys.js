// The page of keys: those of programs that administer the server, and those that sign tokens.

import { el, fill, wholeText } from "./dom.js";
import { ask, attempt, confirmed } from "./parts.js";
import { getJSON, send } from "./server.js";
import { save } from "./transfer.js";

const accounts = "/.accounts/service-accounts.json";
const signing = "/.accounts/keys.json";

const table = (heads, rows) => el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), rows));
const button = (words, label, work) => el("button", { type: "button", class: "small", "data-changes": true, "aria-label": label, onclick: work }, words);

export class KeysPage {
  #accounts = el("tbody");
  #signing = el("tbody");
  #problem = el("p", { class: "problem", role: "alert" });

  constructor() {
    this.element = el(
      "section",
      { class: "page", "aria-label": "Keys" },
      this.#problem,
      el("div", { class: "bar" }, el("h1", {}, "Service accounts"), el("span", { class: "grow" }), el("button", { type: "button", class: "primary", "data-changes": true, onclick: () => this.#make() }, "Add service account")),
      el("p", { class: "hint" }, "A program with a key file may do everything here. The file is made once; the server keeps no copy."),
      table(["Name", "Made", "Keys", ""], this.#accounts),
      el("div", { class: "bar" }, el("h1", {}, "Signing keys"), el("span", { class: "grow" }), el("button", { type: "button", "data-changes": true, onclick: () => this.#rotate() }, "Begin the next key")),
      el("p", { class: "hint" }, "They sign the tokens of users. The server replaces them by itself; tokens of an earlier key count until they expire."),
      table(["Key", "State", "Made", "Signs from", "Checked until"], this.#signing),
    );
  }

  show() {
    this.#look();
  }

  close() {}

  async #look() {
    try {
      const [{ serviceAccounts }, { keys }] = await Promise.all([getJSON(accounts), getJSON(signing)]);
      this.#problem.textContent = "";
      fill(this.#accounts, serviceAccounts.length ? serviceAccounts.map((account) => this.#account(account)) : [el("tr", {}, el("td", { colspan: "4", class: "quiet" }, "None. hearth service-account create NAME makes one too."))]);
      fill(this.#signing, keys.length ? keys.map(({ kid, state, created, signsFrom, verifiesUntil }) => el("tr", {}, el("th", { scope: "row", class: "mono" }, kid), ...[state, created, signsFrom, verifiesUntil ?? "–"].map((value) => el("td", {}, String(value))))) : [el("tr", {}, el("td", { colspan: "5", class: "quiet" }, "None yet: development makes the first when a service account asks for a token."))]);
    } catch (refusal) {
      this.#problem.textContent = `Could not list the keys: ${refusal.message}`;
    }
  }

  #account({ name, email, createdAt, keys, disabled }) {
    return el(
      "tr",
      {},
      el("th", { scope: "row" }, name, el("div", { class: "quiet" }, disabled ? `${email}, disabled` : email)),
      el("td", {}, wholeText(createdAt)),
      el("td", {}, el("ul", {}, keys.map((key) => el("li", { class: "bar" }, el("code", {}, key.id.slice(0, 12)), el("span", { class: "quiet" }, wholeText(key.createdAt)), button("Revoke key", `Revoke key ${key.id.slice(0, 12)} of ${name}`, () => this.#revoke(name, key.id)))))),
      el("td", { class: "actions" }, button("Add key", `Add a key of ${name}`, () => this.#create({ name, addKey: true })), button("Revoke account", `Revoke ${name}`, () => this.#revoke(name, null))),
    );
  }

  async #make() {
    const answer = await ask("Add a service account", [{ name: "name", label: "Name", hint: "Characters a-z, 0-9 and -, 30 at most. Its key file is downloaded once.", check: (text) => (/^[a-z0-9-]{1,30}$/.test(text) ? null : "1 to 30 characters of a-z, 0-9 and -.") }], "Add and download");
    if (answer) await this.#create({ name: answer.name });
  }

  #create(body) {
    return this.#attempt(async () => {
      save(await (await send("POST", accounts, { body })).blob(), `${body.name}-service-account.json`);
    }, `The key file of ${body.name} is with your downloads; keep it secret`);
  }

  async #revoke(name, key) {
    const what = key ? `the key ${key.slice(0, 12)} of ${name}` : `${name} with all its keys`;
    if (!(await confirmed(`Revoke ${what}?`, "Programs that use it are no administrators any more, at once.", "Revoke"))) return;
    await this.#attempt(() => send("DELETE", `/.accounts/service-accounts/${encodeURIComponent(name)}.json`, { query: key ? { key } : {} }), `Revoked ${what}`);
  }

  async #rotate() {
    if (!(await confirmed("Begin the next signing key?", "It is published at once and signs after an overlap, so that all who check tokens know it by then. It does not end tokens of the present key.", "Begin"))) return;
    await this.#attempt(() => send("POST", signing, { body: "" }), "The next key is published");
  }

  async #attempt(work, done) {
    await attempt(work, done);
    await this.#look();
  }
}
