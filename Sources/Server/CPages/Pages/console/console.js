// The frame of the console: which page is shown is what the address says.

import { byId, el, fill, notice } from "./dom.js";
import { Repeated, state } from "./figures.js";
import { Hearth } from "./hearth.js";
import { pages } from "./pages.js";
import { openPalette } from "./palette.js";
import { labelCells, opened } from "./parts.js";
import { credentials, getJSON } from "./server.js";
import { enter } from "./signin.js";

const base = "/.console/";
/** Pages with a place of their own in the bar of a narrow screen. */
const mostInBar = 6;

const icon = (path) => el("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, el("path", { d: path }));

/** On a narrow screen each cell of a table says what it is. */
function prepareTables() {
  const narrow = matchMedia("(max-width: 600px)");
  const label = () => narrow.matches && labelCells(byId("page"));
  new MutationObserver(label).observe(byId("page"), { childList: true, subtree: true });
  narrow.addEventListener("change", label);
}

class Shell {
  #page = null;
  #name = null;
  hearth = null;
  database = null;

  constructor() {
    addEventListener("popstate", () => this.#show());
    addEventListener("keydown", (event) => this.#press(event));
    byId("database").addEventListener("change", (event) => this.#visit(this.#name, this.#rest(), { ns: event.target.value }));
    byId("palette").addEventListener("click", () => this.#openPalette());
    byId("help").addEventListener("click", () => this.#showKeys());
    document.addEventListener("click", (event) => this.#follow(event));
    prepareTheme();
    prepareTables();
    this.#drawRail();
    this.listDatabases();
    this.#show();
    new Repeated(() => this.#drawStrip(), 15_000).start();
  }

  /** Goes to a page; `rest` is what stands behind its name in the address. */
  go(name, rest = "", query = {}) {
    this.#visit(name, rest, { ns: this.database, ...query });
  }

  /** The address of a page. */
  address(name, rest = "", query = {}) {
    const search = new URLSearchParams({ ns: this.database, ...query });
    const path = rest.split("/").map(encodeURIComponent).join("/");
    return `${base}${name}${path ? `/${path}` : ""}?${search}`;
  }

  #visit(name, rest, query) {
    history.pushState(null, "", this.address(name, rest, query));
    this.#show();
  }

  #rest() {
    const [, ...rest] = location.pathname.slice(base.length).split("/").filter(Boolean);
    return rest.map(decodeURIComponent).join("/");
  }

  #show() {
    const query = new URLSearchParams(location.search);
    const [word = "data"] = location.pathname.slice(base.length).split("/").filter(Boolean);
    const page = pages.find(({ name }) => name === word) ?? pages[0];
    this.#connect(query.get("ns") ?? byId("database").value ?? "");
    if (page.name !== this.#name) {
      this.#page?.close();
      this.#page = page.make(this);
      this.#name = page.name;
      document.title = `${page.label} · Hearth console`;
      fill(byId("page"), [this.#page.element]);
      for (const link of byId("rail").querySelectorAll("a")) {
        link.ariaCurrent = link.dataset.page === page.name ? "page" : null;
      }
      this.#more.classList.toggle("chosen", pages.indexOf(page) >= mostInBar);
    }
    for (const link of byId("rail").querySelectorAll("a")) link.href = this.address(link.dataset.page);
    this.#page.show(this.#rest(), query);
  }

  /** One connection to the database that is looked at. */
  #connect(name) {
    if (this.hearth && (name === this.database || !name)) return;
    this.hearth?.close();
    this.database = name || "default";
    this.#page?.close();
    this.#page = this.#name = null;
    this.hearth = new Hearth(this.database, credentials);
    this.hearth.whenStateChanges = (state) => {
      const place = byId("connection");
      place.dataset.state = state;
      place.querySelector(".words").textContent = { online: "live", offline: "no connection, trying", connecting: "connecting" }[state];
    };
    this.hearth.whenSignedOut = () => notice("The server does not take this page for an administrator's.", true);
    const pick = byId("database");
    if (![...pick.options].some((option) => option.value === this.database)) pick.append(el("option", {}, this.database));
    pick.value = this.database;
  }

  /** Offers the databases that there are. */
  async listDatabases() {
    try {
      const names = (await getJSON("/.inspect/databases.json")).map(({ name }) => name);
      const pick = byId("database");
      for (const name of names) {
        if (![...pick.options].some((option) => option.value === name)) pick.append(el("option", {}, name));
      }
      pick.value = this.database;
    } catch (refusal) {
      notice(`Could not list the databases: ${refusal.message}`, true);
    }
  }

  #more = el("button", { type: "button", class: "plain more", "aria-haspopup": "dialog", onclick: () => this.#openMore() }, icon("M5 12h.1M12 12h.1M19 12h.1"), el("span", {}, "More"));

  #drawRail() {
    const links = pages.map(({ name, label, icon: path, key, isRunning }, index) => el(
      "a",
      { href: base + name, "data-page": name, title: `${label} (g ${key})`, class: [index >= mostInBar && "extra", isRunning && !pages[index - 1].isRunning && "first"].filter(Boolean).join(" ") || null },
      icon(path),
      el("span", {}, label),
    ));
    fill(byId("rail"), [...links, this.#more]);
  }

  /** The pages that have no room in the bar of a narrow screen. */
  #openMore() {
    const { dialog } = opened([
      el("h2", { id: "dialog-title" }, "More pages"),
      el("ul", { class: "more-pages" }, pages.slice(mostInBar).map(({ name, label, icon: path }) => el("li", {}, el("button", {
        type: "button", "data-page": name,
        onclick: () => {
          dialog.close();
          this.go(name);
        },
      }, icon(path), label)))),
      el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => dialog.close() }, "Close")),
    ]);
  }

  /** What an administrator has to know of how the server runs, on every page. */
  async #drawStrip() {
    let notes = [];
    try {
      ({ notes } = await state());
    } catch {
      // Without an answer the mark of the connection says so, and what was known last may not hold any more.
    }
    const words = notes.map(({ kind, text }) => `${kind} ${text}`).join("\n");
    if (byId("strip").dataset.words === words) return;
    byId("strip").dataset.words = words;
    fill(byId("strip"), notes.map(({ kind, text }) => el("p", { class: `server-note ${kind}` }, text)));
  }

  /** Links within the console load no page. */
  #follow(event) {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || !link.pathname.startsWith(base) || link.download) return;
    event.preventDefault();
    history.pushState(null, "", link.href);
    this.#show();
  }

  // Keys

  #isAfterG = false;

  #openPalette() {
    openPalette(this, pages, [["Keys", () => this.#showKeys()], ["Other colours", () => byId("theme").click()]]);
  }

  #press(event) {
    if (event.key === "k" && (event.ctrlKey || event.metaKey) && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      this.#openPalette();
    }
    if (event.target.closest("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.#isAfterG) {
      this.#isAfterG = false;
      const page = pages.find(({ key }) => key === event.key);
      if (page) {
        event.preventDefault();
        this.go(page.name);
      }
      return;
    }
    if (event.key === "g") this.#isAfterG = true;
    else if (event.key === "?") this.#showKeys();
    else if (event.key === "/") {
      const field = this.#page.field;
      if (!field) return;
      event.preventDefault();
      field.focus();
      field.select();
    }
  }

  #showKeys() {
    const rows = [
      ...pages.map(({ label, key }) => [`g ${key}`, label]),
      ["Ctrl K", "go to a page, a path, a database, a user"], ["/", "the field of the page: a path, a filter"], ["?", "these keys"],
      ["↑ ↓ ← →", "move in the tree, open and close"], ["the beginning of a key", "go there"], ["Enter", "edit or open"], ["F2", "edit"], ["Ctrl Shift F", "search keys and values"], ["a", "add below"], ["Delete", "delete"], ["Ctrl Z", "take back the latest change"], ["o", "go where a value leads"],
    ];
    const { dialog } = opened([
      el("h2", { id: "dialog-title" }, "Keys"),
      el("dl", { class: "keys" }, rows.map(([key, words]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, words)]).flat()),
      el("div", { class: "buttons" }, el("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close")),
    ]);
  }
}

/** Colours as the system has them, or one of both, kept in this browser. */
function prepareTheme() {
  const button = byId("theme");
  const names = ["system", "light", "dark"];
  const use = (name) => {
    document.documentElement.dataset.theme = name;
    button.textContent = { system: "◐", light: "☀", dark: "☾" }[name];
    button.ariaLabel = { system: "Colours: as the system has them", light: "Colours: light", dark: "Colours: dark" }[name];
    button.title = button.ariaLabel;
  };
  use(names.includes(localStorage["hearth.console.theme"]) ? localStorage["hearth.console.theme"] : "system");
  button.addEventListener("click", () => {
    const name = names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length];
    localStorage["hearth.console.theme"] = name;
    use(name);
  });
}

await enter();
new Shell();
