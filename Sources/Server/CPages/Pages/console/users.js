// The page of accounts: who there is, and what can be done with each.

import { ago, el, fill, notice, wholeText } from "./dom.js";
import { ask, confirmed, copy, lines } from "./parts.js";
import { getJSON, send } from "./server.js";
import { shown } from "./values.js";

const realm = "/identitytoolkit.googleapis.com/v1/projects/hearth";
const pageSize = 100;

export class UsersPage {
  #shell;
  #rows = el("tbody");
  #empty = el("div", { class: "empty teach", hidden: true });
  #more = el("button", { type: "button", hidden: true }, "More");
  #users = [];
  #next = null;

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", { class: "path", type: "search", placeholder: "address, phone number or uid, whole", "aria-label": "Find a user", spellcheck: "false" });
    this.field.addEventListener("change", () => shell.go("users", "", this.field.value ? { find: this.field.value } : {}));
    this.#more.addEventListener("click", () => this.#load());
    const heads = ["User", "Uid", "Made", "Last sign-in", "State", ""].map((head) => el("th", { scope: "col" }, head));
    this.element = el(
      "section",
      { class: "page", "aria-label": "Users" },
      el("div", { class: "bar" }, this.field, el("button", { type: "button", class: "primary", onclick: () => this.#make() }, "Add user")),
      this.#empty,
      el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), this.#rows)),
      this.#more,
    );
  }

  show(_, query) {
    this.field.value = query.get("find") ?? "";
    this.#users = [];
    this.#next = null;
    this.#load();
  }

  close() {}

  async #load() {
    try {
      if (this.field.value) this.#users = await this.#find(this.field.value.trim());
      else {
        const page = await getJSON(`${realm}/accounts:batchGet`, { maxResults: pageSize, ...(this.#next && { nextPageToken: this.#next }) });
        this.#users.push(...(page.users ?? []));
        this.#next = page.nextPageToken ?? null;
      }
      this.#draw();
    } catch (refusal) {
      notice(`Could not list the users: ${refusal.message}`, true);
    }
  }

  async #find(text) {
    const name = text.includes("@") ? "email" : /^\+\d+$/.test(text) ? "phoneNumber" : "localId";
    return (await this.#post("/accounts:lookup", { [name]: [text] })).users ?? [];
  }

  async #post(path, body) {
    return (await send("POST", realm + path, { body })).json();
  }

  #draw() {
    this.#more.hidden = !this.#next;
    this.#empty.hidden = this.#users.length > 0;
    fill(this.#empty, this.field.value
      ? [el("h2", {}, "No such user"), el("p", {}, "A user is found by the whole address, phone number or uid.")]
      : [el("h2", {}, "No users yet"), el("p", {}, "They come as people sign up, for example so:"), lines([
        ["curl", `curl -d '{"email":"ann@example.com","password":"secret"}' '${location.origin}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any'`],
        ["JavaScript", `connectAuthEmulator(getAuth(), ${JSON.stringify(location.origin)}); createUserWithEmailAndPassword(getAuth(), "ann@example.com", "secret")`],
        ["Swift", 'try await Auth.auth().createUser(withEmail: "ann@example.com", password: "secret")'],
      ]), el("p", {}, "Or from here:"), el("p", {}, el("button", { type: "button", class: "primary", onclick: () => this.#make() }, "Add user"))]);
    fill(this.#rows, this.#users.map((user) => this.#row(user)));
  }

  #row(user) {
    const { localId: uid, email, phoneNumber, displayName, disabled, createdAt, lastLoginAt } = user;
    const name = email ?? phoneNumber ?? displayName ?? "without a name";
    const time = (value) => (Number(value) ? el("time", { title: wholeText(Number(value)) }, ago(Number(value), this.#shell.hearth.now)) : "never");
    const act = (words, work, label = words) => el("button", { type: "button", class: "small", "aria-label": `${label} ${name}`, onclick: work }, words);
    return el(
      "tr",
      { class: disabled ? "off" : null },
      el("th", { scope: "row" }, shown(name), user.emailVerified ? el("span", { class: "quiet" }, " verified") : null, displayName && displayName !== name ? el("div", { class: "quiet" }, shown(displayName)) : null),
      el("td", {}, el("button", { type: "button", class: "plain mono", title: "Copy", onclick: () => copy(uid) }, shown(uid))),
      el("td", {}, time(createdAt)),
      el("td", {}, time(lastLoginAt)),
      el("td", {}, disabled ? "disabled" : user.customAttributes && user.customAttributes !== "{}" ? el("code", {}, shown(user.customAttributes)) : "active"),
      el(
        "td",
        { class: "actions" },
        act("Claims", () => this.#claims(user), "Change the claims of"),
        email ? act("Reset link", () => this.#reset(email), "Make a link to reset the password of") : null,
        act(disabled ? "Enable" : "Disable", () => this.#update({ localId: uid, disableUser: !disabled }, `${disabled ? "Enabled" : "Disabled"} ${name}`)),
        act("Sign out", () => this.#update({ localId: uid, validSince: String(Math.ceil(this.#shell.hearth.now / 1000)) }, `${name} is signed out everywhere`), "Sign out everywhere"),
        act("Delete", () => this.#remove(uid, name)),
      ),
    );
  }

  async #attempt(work, done) {
    try {
      await work();
      notice(done);
    } catch (refusal) {
      notice(`Not done: ${refusal.message}`, true);
    }
    this.show("", new URLSearchParams(location.search));
  }

  #update(change, done) {
    return this.#attempt(() => this.#post("/accounts:update", change), done);
  }

  async #make() {
    const answer = await ask("Add a user", [
      { name: "email", label: "Address", check: (text) => (/^\S+@\S+$/.test(text) ? null : "Write a whole address.") },
      { name: "password", label: "Password", hint: "Empty for one who resets it first.", check: (text) => (text && text.length < 6 ? "At least 6 characters." : null) },
      { name: "displayName", label: "Name", hint: "May be empty." },
    ], "Add");
    if (!answer) return;
    const body = Object.fromEntries(Object.entries(answer).filter(([, value]) => value));
    await this.#attempt(() => this.#post("/accounts", body), `Added ${answer.email}`);
  }

  async #claims({ localId, customAttributes, email }) {
    const answer = await ask(`Claims of ${shown(email ?? localId)}`, [
      { name: "claims", label: "JSON, as rules see it in auth.token", value: customAttributes ?? "{}", isLong: true, check: objectFault },
    ], "Save");
    if (answer) await this.#update({ localId, customAttributes: answer.claims }, "The claims are in the next token");
  }

  async #reset(email) {
    try {
      const { oobLink } = await this.#post("/accounts:sendOobCode", { requestType: "PASSWORD_RESET", email, returnOobLink: true });
      await copy(oobLink);
    } catch (refusal) {
      notice(`Could not make a link: ${refusal.message}`, true);
    }
  }

  async #remove(localId, name) {
    if (!(await confirmed(`Delete ${shown(name)}?`, "The account goes, and all its sign-ins. Data in the tree stays.", "Delete"))) return;
    await this.#attempt(() => this.#post("/accounts:delete", { localId }), `Deleted ${name}`);
  }
}

function objectFault(text) {
  try {
    const value = JSON.parse(text);
    return value && typeof value === "object" && !Array.isArray(value) ? null : "Claims are an object: {\"role\":\"editor\"}";
  } catch (error) {
    return error.message;
  }
}
