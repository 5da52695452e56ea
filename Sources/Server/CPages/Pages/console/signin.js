// The door of the console: who may enter, and who has.

import { byId, el, fill, notice } from "./dom.js";
import { isDevelopment, isViewer, renewSession, session, signedIn, whenSignedOut } from "./server.js";

const accounts = "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=console";

/** Lets the person in: at once in development, else when they have signed in. */
export async function enter() {
  whenSignedOut(askToSignIn);
  document.addEventListener("hearth-session", showWho);
  new MutationObserver(markChanges).observe(byId("page"), { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
  for (;;) {
    try {
      await renewSession();
      break;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
  if (!isDevelopment() && !session.signedIn) await signedIn();
}

/** The button that says who is signed in, and leads out. */
function showWho() {
  const button = byId("who") ?? el("button", { id: "who", type: "button", class: "plain" });
  if (!button.isConnected) {
    button.addEventListener("click", signOut);
    byId("theme").before(button);
  }
  button.hidden = isDevelopment() || !session.signedIn;
  const name = session.email ?? session.name;
  fill(button, [el("span", { class: "words" }, isViewer() ? `${name}, looks only · ` : `${name} · `), "Sign out"]);
  button.title = isViewer() ? `${name}: a viewer looks at everything and changes nothing` : `${name}, an administrator`;
  document.documentElement.dataset.role = session.role ?? "";
  markChanges();
}

const reason = "A viewer changes nothing";
let wasViewer = false;

/** What changes something is not for viewers: `data-changes` marks it. */
function markChanges() {
  wasViewer ||= isViewer();
  if (!wasViewer) return;
  for (const control of document.querySelectorAll("[data-changes]")) {
    const isMarked = control.title === reason;
    if (isViewer() && !(isMarked && control.disabled)) Object.assign(control, { disabled: true, title: reason });
    else if (!isViewer() && isMarked) Object.assign(control, { disabled: false, title: "" });
  }
}

async function signOut() {
  try {
    await renewSession("DELETE");
  } catch (refusal) {
    return notice(`Not signed out: ${refusal.message}`, true);
  }
  // Nothing that was seen stays in the page.
  location.reload();
}

let wasIn = false;

/** Asks over whatever is on the page, which stays as it is. */
function askToSignIn() {
  return new Promise((resolve) => {
    const problem = el("p", { class: "problem", role: "alert" });
    const secret = field("door-secret", "Administrator's secret", { type: "password", autocomplete: "current-password", autofocus: true });
    const email = field("door-email", "Address", { type: "email", autocomplete: "username" });
    const password = field("door-password", "Password", { type: "password", autocomplete: "current-password" });
    const bySecret = el("div", { class: "way" }, secret.row, el("p", { class: "hint" }, "It is in the file admin-secret of the data folder, or in the one that --admin-secret-file names."));
    const byAccount = el("div", { class: "way", hidden: true }, email.row, password.row, el("p", { class: "hint" }, "Of an account that an administrator has let in."));
    const choice = (name, label, isFirst) => {
      const button = el("button", { type: "button", class: "small", "aria-pressed": String(isFirst) }, label);
      button.addEventListener("click", () => {
        bySecret.hidden = name !== "secret";
        byAccount.hidden = name === "secret";
        for (const one of ways.children) one.setAttribute("aria-pressed", String(one === button));
        (name === "secret" ? secret : email).input.focus();
      });
      return button;
    };
    const ways = el("div", { class: "ways", role: "group", "aria-label": "How to sign in" }, choice("secret", "With the secret", true), choice("account", "With an account", false));
    const enterButton = el("button", { type: "submit", class: "primary" }, "Sign in");
    const form = el("form", { method: "dialog" }, el("h2", { id: "door-title" }, "Sign in"), el("p", {}, wasIn
      ? "Your session is over. What you have typed is still there."
      : `The console of ${location.host} is for its administrators.`), ...(session.keepsCookie
      ? [ways, bySecret, byAccount, problem, el("div", { class: "buttons" }, enterButton)]
      : [plainWords()]));
    const dialog = el("dialog", { id: "door", "aria-labelledby": "door-title" }, form);
    dialog.addEventListener("cancel", (event) => event.preventDefault());
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      enterButton.disabled = true;
      problem.textContent = "";
      try {
        await signIn(bySecret.hidden ? { email: email.input.value, password: password.input.value } : { secret: secret.input.value });
        wasIn = true;
        dialog.close();
        dialog.remove();
        resolve();
      } catch (refusal) {
        problem.textContent = refusal.message;
      } finally {
        enterButton.disabled = false;
      }
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function field(id, label, attributes) {
  const input = el("input", { id, spellcheck: "false", ...attributes });
  return { input, row: el("div", { class: "field" }, el("label", { for: id }, label), input) };
}

async function signIn({ secret, email, password }) {
  const body = email === undefined ? { secret } : { idToken: await idToken(email, password) };
  await renewSession("POST", body);
  if (!(await renewSession()).signedIn) {
    throw new Error("This browser did not keep the session: it keeps it over https only, or its cookies are turned off.");
  }
}

async function idToken(email, password) {
  const response = await fetch(accounts, { method: "POST", body: JSON.stringify({ email, password, returnSecureToken: true }) });
  const { idToken: token, error } = await response.json();
  if (token) return token;
  const words = { TOO_MANY_ATTEMPTS_TRY_LATER: "Too many attempts have failed; try again later." };
  throw new Error(words[error?.message?.split(" ")[0]] ?? "The address or the password is wrong.");
}

function plainWords() {
  return el("div", {}, el("p", {}, "This page came over plain http, where browsers keep no cookie of a session. so no user can sign in here. Do one of these:"), el("ul", {},
    el("li", {}, "start the server with ", el("code", {}, "--tls-cert"), " and ", el("code", {}, "--tls-key"), ", and come by https;"),
    el("li", {}, "behind a proxy that speaks TLS, name it with ", el("code", {}, "--trusted-proxy"), ";"),
    el("li", {}, "on the machine of the server, come by ", el("code", {}, `http://localhost:${location.port || 80}`), ".")));
}
