// Accounts on their way to and from files, in the form of `hearth users export` and Firebase's `auth:export`.

import { el, fill } from "./dom.js";
import { opened } from "./parts.js";
import { accountsAddress, send } from "./server.js";
import { save } from "./transfer.js";
import { number, shown } from "./values.js";

export const post = async (path, body, signal) => (await send("POST", (await accountsAddress()) + path, { body, signal })).json();

const batchGet = async (query, signal) => (await send("GET", `${await accountsAddress()}/accounts:batchGet`, { query, signal })).json();

/** Accounts of one question, and bytes of them; refusals that are listed; bytes of a file that is read here. */
const batch = 1000;
const batchBytes = 3_000_000;
const mostListed = 100;
const mostBytes = 200_000_000;
const existing = "localId belongs to an existing account";

/** Members that a file has, under the names that the server has for them. */
const exported = ["localId", "email", "emailVerified", "passwordHash", "salt", "displayName", "photoUrl", "createdAt", "phoneNumber", "disabled", "customAttributes"];
const imported = [...exported, "lastLoginAt", "validSince", "initialEmail", "emailLinkSignin", "customAuth", "passwordUpdatedAt", "mfaInfo", "providerUserInfo"];
const provided = ["providerId", "rawId", "email", "displayName", "photoUrl"];

const pick = (object, names) => Object.fromEntries(names.filter((name) => object[name] !== undefined && object[name] !== null).map((name) => [name, object[name]]));
/** Of the two alphabets of base64 files have one and requests the other; Hearth's own hashes are in neither. */
const plain = (text) => (text.startsWith("$") ? text : text.replaceAll("-", "+").replaceAll("_", "/"));
const webSafe = (text) => (text.startsWith("$") ? text : text.replaceAll("+", "-").replaceAll("/", "_"));
const recoded = (user, recode) => Object.fromEntries(["passwordHash", "salt"].filter((name) => typeof user[name] === "string").map((name) => [name, recode(user[name])]));

/** A dialog that shows how far something is, and stops it; `work(show, signal)` gives what stands there at the end. */
async function withCount(title, work) {
  const words = el("p", { role: "status" }, "Beginning …");
  const button = el("button", { type: "button", onclick: () => dialog.close() }, "Stop");
  const result = el("div");
  const stop = new AbortController();
  const { dialog } = opened([el("h2", { id: "dialog-title" }, title), words, result, el("div", { class: "buttons" }, button)]);
  dialog.addEventListener("close", () => stop.abort());
  try {
    fill(result, (await work((text) => (words.textContent = text), stop.signal)) ?? []);
  } catch (error) {
    if (!stop.signal.aborted) fill(result, [el("p", { class: "problem" }, error.message)]);
  }
  button.textContent = "Close";
  return dialog;
}

/** Saves all accounts as a file. */
export function exportAccounts() {
  return withCount("Export the accounts", async (show, signal) => {
    const pieces = [];
    let [count, next] = [0, null];
    do {
      const page = await batchGet({ maxResults: batch, ...(next && { nextPageToken: next }) }, signal);
      for (const user of page.users ?? []) {
        const providers = (user.providerUserInfo ?? []).filter(({ providerId }) => providerId !== "password" && providerId !== "phone");
        const line = {
          ...pick(user, exported), ...recoded(user, plain), ...(user.lastLoginAt && { lastSignedInAt: user.lastLoginAt }),
          providerUserInfo: providers.map((provider) => pick(provider, provided)),
        };
        pieces.push(`${count ? ",\n" : "\n"}${JSON.stringify(line)}`);
        count += 1;
      }
      next = page.nextPageToken;
      show(`${number(count)} accounts`);
    } while (next);
    save(new Blob(['{"users": [', ...pieces, "\n]}\n"], { type: "application/json" }), "users.json");
    return [el("p", {}, "The file holds the hashes of passwords: keep it where only you can read it.")];
  });
}

/** Takes in the accounts of a file; `options` has `overwrite` and how passwords are hashed. Gives the dialog that shows how it went. */
export function importAccounts(file, { overwrite, hashing }) {
  return withCount(`Import ${shown(file.name)}`, async (show, signal) => {
    if (file.size > mostBytes) throw new Error(`A file of more than ${number(mostBytes / 1e6)} MB is taken in by 'hearth users import'.`);
    const users = usersOf(await file.text());
    const refused = [];
    let [done, there, at] = [0, 0, 0];
    while (at < users.length) {
      const from = at;
      const sent = [];
      let size = 0;
      while (at < users.length && sent.length < batch && size < batchBytes) {
        const user = request(users[at], at);
        size += JSON.stringify(user).length;
        sent.push(user);
        at += 1;
      }
      const { error = [] } = await post("/accounts:batchCreate", { ...hashing, allowOverwrite: overwrite, users: sent }, signal);
      const isThere = ({ message }) => !overwrite && message?.startsWith(existing);
      there += error.filter(isThere).length;
      done += sent.length - error.length;
      for (const fault of error.filter((one) => !isThere(one))) refused.push({ index: from + Number(fault.index ?? 0), message: fault.message });
      show(`${number(at)} of ${number(users.length)}: ${number(done)} taken in, ${number(there)} were there, ${number(refused.length)} refused`);
    }
    const more = refused.length - mostListed;
    return [
      there ? el("p", {}, "Those that were there stay as they are.") : null,
      el("ul", { class: "faults" }, refused.slice(0, mostListed).map(({ index, message }) => el("li", { class: "error" }, `users[${index}] ${shown(users[index]?.localId ?? "")}: ${shown(message)}`))),
      more > 0 ? el("p", { class: "quiet" }, `and ${number(more)} more`) : null,
    ].filter(Boolean);
  });
}

function usersOf(text) {
  let content;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is no JSON file of accounts: ${error.message}. A CSV file is taken in by 'hearth users import'.`);
  }
  const users = Array.isArray(content) ? content : content?.users;
  if (!Array.isArray(users)) throw new Error("There is no list 'users' in this file.");
  return users;
}

function request(user, index) {
  if (user === null || typeof user !== "object") throw new Error(`users[${index}] is no object.`);
  return { ...pick(user, imported), ...recoded(user, webSafe), ...(user.lastSignedInAt && { lastLoginAt: user.lastSignedInAt }) };
}

/** How many accounts there are. */
export const accountCount = async () => Number((await post("/accounts:query", { returnUserInfo: false })).recordsCount);

/** A page of accounts in the order of their uids, behind one; `next` is the last of them, null at the end. */
export async function accountPage(after, size) {
  const page = await batchGet({ maxResults: size, ...(after && { nextPageToken: after }) });
  return { users: page.users ?? [], next: page.nextPageToken ?? null };
}

/** Accounts of which the address, the number, the uid or a word of the name begins with a text; `isCut` when there may be more. */
export async function findAccounts(text, limit) {
  const { userInfo = [], isCut = false } = await post("/accounts:query", { search: text, limit });
  return { users: userInfo, isCut };
}
