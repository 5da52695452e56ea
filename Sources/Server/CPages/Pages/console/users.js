// The page of accounts: who there is, and what can be done with each.

import { accountCount, accountPage, exportAccounts, findAccounts, importAccounts, post } from "./accounts.js";
import { ago, el, fill, notice, wholeText } from "./dom.js";
import { ask, attempt, confirmed, copy, lines, menuButton } from "./parts.js";
import { getJSON } from "./server.js";
import { number, shown } from "./values.js";

const pageSize = 100;
/** Bytes of claims. Source: Firebase Admin SDK, "Control access with custom claims". */
const mostClaims = 1000;

const nameOf = ({ email, phoneNumber, displayName }) => email ?? phoneNumber ?? displayName ?? "without a name";
const claimsOf = ({ customAttributes }) => (customAttributes && customAttributes !== "{}" ? customAttributes : "");

export class UsersPage {
  #shell;
  #rows = el("tbody");
  #empty = el("div", { class: "empty teach", hidden: true });
  #table;
  #count = el("span", { class: "count", role: "status" });
  #pager = el("div", { class: "bar" });
  #detail = el("aside", { class: "inspector chosen", "aria-label": "The chosen user", hidden: true });
  #query = new URLSearchParams();
  #turn = 0;
  #users = [];
  #chosen = null;

  constructor(shell) {
    this.#shell = shell;
    this.field = el("input", { class: "path", type: "search", placeholder: "beginning of an address, number, uid or name", "aria-label": "Find users", spellcheck: "false" });
    this.field.addEventListener("change", () => this.#go({ find: this.field.value.trim() }));
    const heads = ["User", "Uid", "Made", "Last sign-in", "State"].map((head) => el("th", { scope: "col", class: head === "User" || head === "State" ? null : "spare" }, head));
    this.#table = el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), this.#rows));
    const more = menuButton("More", () => [["Import …", () => this.#import(), true], ["Export", () => exportAccounts()]]);
    this.element = el(
      "section",
      { class: "page split", "aria-label": "Users" },
      el(
        "div",
        { class: "main-part" },
        el("div", { class: "bar" }, this.field, this.#count, el("button", { type: "button", class: "primary", "data-changes": true, onclick: () => this.#make() }, "Add user"), more),
        this.#empty,
        this.#table,
        this.#pager,
      ),
      this.#detail,
    );
  }

  show(_, query) {
    const isSame = ["find", "after"].every((name) => query.get(name) === this.#query.get(name));
    this.#query = query;
    this.field.value = query.get("find") ?? "";
    this.#chosen = query.get("user");
    // Choosing one lists nothing anew.
    if (isSame && this.#users.length > 0) this.#drawRows();
    else this.#load();
    this.#look();
  }

  close() {
    this.#turn += 1;
  }

  /** Goes on with other values in the address; an empty one leaves it out. */
  #go(change) {
    const query = Object.fromEntries([...this.#query].filter(([name]) => name !== "ns"));
    const all = { ...("find" in change || "after" in change ? {} : query), ...change };
    this.#shell.go("users", "", Object.fromEntries(Object.entries(all).filter(([, value]) => value)));
  }

  async #load() {
    const turn = (this.#turn += 1);
    const text = this.field.value.trim();
    try {
      const { users, next = null, isCut = false } = text ? await findAccounts(text, pageSize) : await accountPage(this.#query.get("after"), pageSize);
      const count = text ? users.length : await accountCount();
      if (turn !== this.#turn) return;
      this.#users = users;
      this.#count.textContent = text ? `${number(count)}${isCut ? " or more" : ""} found` : `${number(count)} ${count === 1 ? "user" : "users"}`;
      fill(this.#pager, [
        this.#query.get("after") ? el("button", { type: "button", onclick: () => this.#go({ after: "" }) }, "First page") : null,
        next ? el("button", { type: "button", onclick: () => this.#go({ after: next }) }, "Next page") : null,
        isCut ? el("p", { class: "quiet" }, "There may be more: write more of it.") : null,
      ]);
      this.#teach(text);
      this.#drawRows();
    } catch (refusal) {
      if (turn === this.#turn) notice(`Could not list the users: ${refusal.message}`, true);
    }
  }

  #teach(text) {
    this.#empty.hidden = this.#users.length > 0;
    this.#table.hidden = this.#users.length === 0;
    fill(this.#empty, text
      ? [el("h2", {}, "No such user"), el("p", {}, "A user is found by the beginning of the address, the phone number, the uid, or of a word of the name.")]
      : [el("h2", {}, "No users yet"), el("p", {}, "They come as people sign up, for example so:"), lines([
        ["curl", `curl -d '{"email":"ann@example.com","password":"secret"}' '${location.origin}/identitytoolkit.googleapis.com/v1/accounts:signUp?key=any'`],
        ["JavaScript", `connectAuthEmulator(getAuth(), ${JSON.stringify(location.origin)}); createUserWithEmailAndPassword(getAuth(), "ann@example.com", "secret")`],
        ["Swift", 'try await Auth.auth().createUser(withEmail: "ann@example.com", password: "secret")'],
      ]), el("p", {}, "Or from here:"), el("p", {}, el("button", { type: "button", class: "primary", "data-changes": true, onclick: () => this.#make() }, "Add user"))]);
  }

  #drawRows() {
    fill(this.#rows, this.#users.map((user) => this.#row(user)));
  }

  #time(value) {
    return Number(value) ? el("time", { title: wholeText(Number(value)) }, ago(Number(value), this.#shell.hearth.now)) : "never";
  }

  #row(user) {
    const { localId: uid, displayName, disabled, createdAt, lastLoginAt } = user;
    const name = nameOf(user);
    return el(
      "tr",
      { class: disabled ? "off" : null, "aria-selected": String(uid === this.#chosen), onclick: () => this.#go({ user: uid }) },
      el(
        "th", { scope: "row" },
        el("button", { type: "button", class: "plain" }, shown(name)),
        displayName && displayName !== name ? el("div", { class: "quiet" }, shown(displayName)) : null,
      ),
      el("td", { class: "mono spare" }, shown(uid)),
      el("td", { class: "spare" }, this.#time(createdAt)),
      el("td", { class: "spare" }, this.#time(lastLoginAt)),
      el("td", {}, disabled ? "disabled" : claimsOf(user) ? el("code", {}, shown(claimsOf(user))) : "active"),
    );
  }

  // One user

  async #look() {
    const uid = this.#chosen;
    if (!uid) {
      this.#detail.hidden = true;
      return;
    }
    try {
      const { users: [user] = [] } = await post("/accounts:lookup", { localId: [uid] });
      if (uid !== this.#chosen) return;
      this.#detail.hidden = false;
      // In a narrow window it stands above the list.
      this.#detail.scrollIntoView({ block: "nearest" });
      if (user) this.#draw(user);
      else fill(this.#detail, [this.#head(shown(uid)), el("p", { class: "quiet" }, "There is no such user any more.")]);
    } catch (refusal) {
      notice(`Could not read the user: ${refusal.message}`, true);
    }
  }

  #head(title) {
    return el("div", { class: "bar" }, el("h2", { class: "grow" }, title), el("button", { type: "button", "aria-label": "Close", onclick: () => this.#go({ user: "" }) }, "✕"));
  }

  #draw(user) {
    const { localId: uid, email, emailVerified, phoneNumber, displayName, disabled, createdAt, lastLoginAt, validSince, providerUserInfo = [] } = user;
    const name = nameOf(user);
    const fact = (label, ...value) => [el("dt", {}, label), el("dd", {}, ...value)];
    const act = (words, work) => el("button", { type: "button", "data-changes": true, onclick: work }, words);
    const sessions = el("div", {}, el("p", { class: "quiet" }, "Looking …"));
    fill(this.#detail, [
      this.#head(shown(name)),
      el("dl", { class: "facts" }, ...fact("Uid", el("button", { type: "button", class: "plain mono", title: "Copy", onclick: () => copy(uid) }, shown(uid))),
        ...(email ? fact("Address", shown(email), el("span", { class: "quiet" }, emailVerified ? " verified" : " not verified")) : []),
        ...(phoneNumber ? fact("Number", shown(phoneNumber)) : []),
        ...(displayName ? fact("Name", shown(displayName)) : []),
        ...fact("Signs in by", providerUserInfo.map(({ providerId }) => providerId).join(", ") || "anonymous or custom tokens"),
        ...fact("Made", this.#time(createdAt)), ...fact("Last sign-in", this.#time(lastLoginAt)),
        ...fact("State", disabled ? "disabled" : "active")),
      el("div", { class: "buttons" },
        el("a", { class: "button", href: this.#shell.address("requests", "", { uid }) }, "Requests"),
        el("a", { class: "button", href: this.#shell.address("data", "", { as: uid }) }, "See as this user"),
        email ? act("Reset link", () => this.#reset(email)) : null,
        act(disabled ? "Enable" : "Disable", () => this.#update({ localId: uid, disableUser: !disabled }, `${disabled ? "Enabled" : "Disabled"} ${name}`)),
        act("Delete", () => this.#remove(uid, name))),
      this.#claims(user),
      el("h3", {}, "Sessions"),
      el("p", {}, "Tokens count that were given ", Number(validSince) ? ["since ", el("time", {}, wholeText(Number(validSince) * 1000))] : "at any time", "."),
      sessions,
      el("div", { class: "buttons" }, act("Sign out everywhere", () => this.#update({ localId: uid, validSince: String(Math.ceil(this.#shell.hearth.now / 1000)) }, `${name} is signed out everywhere`))),
    ]);
    this.#listConnections(uid, sessions);
  }

  /** The open connections that are signed in as a user, where the server lists them. */
  async #listConnections(uid, place) {
    try {
      const { connections } = await getJSON("/.inspect/connections.json", { text: uid, limit: 500 });
      const own = connections.filter((connection) => connection.uid === uid);
      fill(place, own.length === 0 ? [el("p", { class: "quiet" }, "No connection is open.")] : [el("ul", {}, own.map(({ id, door, database, since }) => el(
        "li", {}, el("a", { href: this.#shell.address("requests", "", { connection: id }) }, `connection ${id}`), ` ${door} to ${database}`, since ? [" since ", this.#time(since)] : null,
      )))]);
    } catch (refusal) {
      fill(place, [400, 404].includes(refusal.status) ? [] : [el("p", { class: "quiet" }, `The connections are not known: ${refusal.message}`)]);
    }
  }

  #claims(user) {
    const field = el("textarea", { id: "claims", rows: "4", spellcheck: "false", "aria-describedby": "claims-problem" });
    const problem = el("p", { class: "problem", id: "claims-problem" });
    const saved = claimsOf(user) ? JSON.stringify(JSON.parse(claimsOf(user)), null, 2) : "{}";
    field.value = saved;
    const button = el("button", { type: "submit", "data-changes": true, disabled: true }, "Save the claims");
    field.addEventListener("input", () => {
      problem.textContent = claimsFault(field.value) ?? "";
      button.disabled = problem.textContent !== "" || field.value === saved;
    });
    const form = el("form", { class: "simulator" }, el("label", { for: "claims" }, el("h3", {}, "Claims (JSON, as rules see them in auth.token)")), field, problem, el("div", { class: "buttons" }, button));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#update({ localId: user.localId, customAttributes: JSON.stringify(JSON.parse(field.value)) }, "The claims are in the next token");
    });
    return form;
  }

  // What is done

  async #attempt(work, done) {
    await attempt(work, done);
    await this.#load();
    await this.#look();
  }

  #update(change, done) {
    return this.#attempt(() => post("/accounts:update", change), done);
  }

  async #make() {
    const answer = await ask("Add a user", [
      { name: "email", label: "Email address", check: (text) => (/^\S+@\S+$/.test(text) ? null : "Write a whole address.") },
      { name: "password", label: "Password", hint: "At least 6 characters. Empty: the user chooses one by a reset link.", check: (text) => (text && text.length < 6 ? "At least 6 characters." : null) },
      { name: "displayName", label: "Name", hint: "May be empty." },
    ], "Add");
    if (!answer) return;
    const body = Object.fromEntries(Object.entries(answer).filter(([, value]) => value));
    await this.#attempt(() => post("/accounts", body), `Added ${answer.email}`);
  }

  async #reset(email) {
    try {
      const { oobLink } = await post("/accounts:sendOobCode", { requestType: "PASSWORD_RESET", email, returnOobLink: true });
      await copy(oobLink);
    } catch (refusal) {
      notice(`Could not make a link: ${refusal.message}`, true);
    }
  }

  async #remove(localId, name) {
    const words = "The account goes with its claims and ways to sign in, and open connections are signed out. Data in the tree stays, also what is kept under this uid. It cannot be taken back.";
    if (!(await confirmed(`Delete ${shown(name)}?`, words, "Delete"))) return;
    await this.#attempt(() => post("/accounts:delete", { localId }), `Deleted ${name}`);
  }

  async #import() {
    const picker = el("input", { type: "file", accept: ".json,application/json" });
    picker.addEventListener("change", async () => {
      const [file] = picker.files;
      const hashed = "hashed by Firebase (SCRYPT)";
      const needed = (text, all) => (all.hash === hashed && !text.trim() ? "Firebase's console shows it." : null);
      const answer = file && await ask(`Import ${shown(file.name)}`, [
        { name: "present", label: "Accounts that are there already", choices: ["stay as they are", "are replaced"] },
        { name: "hash", label: "Passwords", choices: ["as 'hearth users export' has them, or none", hashed], hint: "Other ways of hashing: hearth users import." },
        { name: "key", label: "base64_signer_key", check: needed },
        { name: "separator", label: "base64_salt_separator", check: needed },
        { name: "rounds", label: "rounds", value: "8", check: needed },
        { name: "memory", label: "mem_cost", value: "14", check: needed },
      ], "Import");
      if (!answer) return;
      const hashing = answer.hash === hashed ? {
        hashAlgorithm: "SCRYPT", signerKey: answer.key.trim().replaceAll("+", "-").replaceAll("/", "_"), saltSeparator: answer.separator.trim().replaceAll("+", "-").replaceAll("/", "_"),
        rounds: Number(answer.rounds), memoryCost: Number(answer.memory),
      } : {};
      await importAccounts(file, { overwrite: answer.present === "are replaced", hashing });
      this.#load();
    });
    picker.click();
  }
}

function claimsFault(text) {
  try {
    const value = JSON.parse(text);
    if (!value || typeof value !== "object" || Array.isArray(value)) return "Claims are an object: {\"role\":\"editor\"}";
    const { length } = new TextEncoder().encode(JSON.stringify(value));
    return length > mostClaims ? `Claims have at most ${number(mostClaims)} bytes; these have ${number(length)}.` : null;
  } catch (error) {
    return error.message;
  }
}
