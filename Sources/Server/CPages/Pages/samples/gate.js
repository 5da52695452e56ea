// The door of each page: sign in or sign up, choose a name, and then the page itself.

import { AccountError, Session } from "./accounts.js";
import { byId, el, fill, notice, reason, say, whenSubmitted } from "./dom.js";
import { Hearth } from "./hearth.js";

const states = { connecting: "Connecting…", online: "Connected", offline: "No connection. Trying again…" };

const wordPlace = "hearth.samples.word";

/**
 * Runs a page.
 *
 * - `database`: what it is about.
 * - `nameLabel`, `nameHint`, `namePattern`: how people are called there.
 * - `load(hearth, session)`: gives the profile of who is signed in, null when there is none yet.
 * - `make(hearth, session, name)`: makes one; throws with a message for people.
 * - `run(hearth, session, profile)`: draws the page.
 */
export function openGate(page) {
  const gate = new Gate(page);
  gate.start();
}

class Gate {
  #page;
  #isNew = false;
  #hearth = null;

  constructor(page) {
    this.#page = page;
  }

  start() {
    byId("sign-out").addEventListener("click", () => {
      Session.kept()?.signOut();
      this.#hearth?.close();
      location.reload();
    });
    const session = Session.kept();
    const word = sessionStorage.getItem(wordPlace) ?? "";
    sessionStorage.removeItem(wordPlace);
    if (session) this.#enter(session, null);
    else this.#askWho(word);
  }

  // The forms

  #askWho(message = "") {
    const { nameLabel } = this.#page;
    const email = field("E-mail", { type: "email", name: "email", autocomplete: "username", required: true });
    const password = field("Password", {
      type: "password",
      name: "password",
      required: true,
      minlength: 6,
      autocomplete: this.#isNew ? "new-password" : "current-password",
    });
    const fields = this.#isNew ? [this.#nameField(), email, password] : [email, password];
    const form = el(
      "form",
      { class: "card gate-form", "aria-labelledby": "gate-title" },
      el("h2", { id: "gate-title" }, this.#isNew ? "Create an account" : "Sign in"),
      fields,
      el("p", { class: "problem", role: "alert" }, message),
      el("button", { class: "primary", type: "submit" }, this.#isNew ? "Create account" : "Sign in"),
      el(
        "button",
        {
          class: "plain",
          type: "button",
          onclick: () => {
            this.#isNew = !this.#isNew;
            this.#askWho();
          },
        },
        this.#isNew ? "I have an account" : `New here? Create an account`,
      ),
    );
    whenSubmitted(form, async (data) => {
      const problem = form.querySelector(".problem");
      say(problem, "");
      try {
        const address = data.get("email").trim();
        const session = this.#isNew
          ? await Session.signUp(address, data.get("password"))
          : await Session.signIn(address, data.get("password"));
        await this.#enter(session, this.#isNew ? data.get("name").trim() : null);
      } catch (error) {
        if (!(error instanceof AccountError)) throw error;
        say(problem, error.message);
      }
    });
    this.#show(form);
    form.querySelector(`input[name=${nameLabel && this.#isNew ? "name" : "email"}]`).focus();
  }

  #nameField(value = "") {
    const { nameLabel, nameHint, namePattern } = this.#page;
    return field(nameLabel, {
      name: "name",
      required: true,
      value,
      pattern: namePattern,
      title: nameHint,
      maxlength: 100,
      autocomplete: "nickname",
    }, nameHint);
  }

  /** Who is signed in and has no profile here yet chooses a name. */
  #askName(session, hearth, name, message) {
    const form = el(
      "form",
      { class: "card gate-form", "aria-labelledby": "gate-title" },
      el("h2", { id: "gate-title" }, "One thing more"),
      el("p", {}, `You are signed in as ${session.email}. How shall others know you here?`),
      this.#nameField(name),
      el("p", { class: "problem", role: "alert" }, message),
      el("button", { class: "primary", type: "submit" }, "Go on"),
    );
    whenSubmitted(form, async (data) => {
      const problem = form.querySelector(".problem");
      say(problem, "");
      await this.#makeProfile(session, hearth, data.get("name").trim(), (text) => say(problem, text));
    });
    this.#show(form);
    form.querySelector("input").focus();
  }

  #show(form) {
    byId("gate").hidden = false;
    byId("app").hidden = true;
    fill(byId("gate-box"), [form]);
  }

  // The connection

  async #enter(session, name) {
    const { database, load } = this.#page;
    const hearth = new Hearth(database, session);
    this.#hearth = hearth;
    hearth.whenStateChanges = (state) => this.#showState(state);
    hearth.whenSignedOut = () => {
      session.signOut();
      // The page begins anew, and says why.
      sessionStorage.setItem(wordPlace, "You were signed out. Sign in again.");
      location.reload();
    };
    byId("me").hidden = false;
    say(byId("me-name"), session.email);
    let profile;
    try {
      profile = await load(hearth, session);
    } catch (error) {
      if (error.code !== "connection_lost") notice(`Could not look up who you are: ${reason(error)}.`, true);
      return;
    }
    if (profile) this.#run(hearth, session, profile);
    else if (name) await this.#makeProfile(session, hearth, name, (text) => this.#askName(session, hearth, name, text));
    else this.#askName(session, hearth, "", "");
  }

  async #makeProfile(session, hearth, name, refused) {
    try {
      await this.#page.make(hearth, session, name);
      this.#run(hearth, session, await this.#page.load(hearth, session));
    } catch (error) {
      refused(error.code ? `Could not take this name: ${reason(error)}.` : error.message);
    }
  }

  #run(hearth, session, profile) {
    byId("gate").hidden = true;
    byId("app").hidden = false;
    say(byId("me-name"), profile.username ?? profile.name);
    this.#page.run(hearth, session, profile);
  }

  #showState(state) {
    const light = byId("connection");
    light.dataset.state = state;
    say(light.querySelector(".words"), states[state]);
  }
}

/** An input with its label, and a hint that belongs to it. */
export function field(label, attributes, hint = "") {
  const id = `field-${attributes.name}`;
  const hintId = `${id}-hint`;
  return el(
    "div",
    { class: "field" },
    el("label", { for: id }, label),
    el("input", { id, ...attributes, ...(hint && { "aria-describedby": hintId }) }),
    hint ? el("p", { class: "hint", id: hintId }, hint) : null,
  );
}
