// The search of the data page: the server looks through all that is below a path, and what it finds is shown as it comes.

import { el, fill, reason } from "./dom.js";
import { send } from "./server.js";
import { keyOf, leafText, number, parentOf, read, shown } from "./values.js";

const mostShown = 1_000;

const ends = {
  all: "", hits: ` The first ${number(mostShown)} are shown: look further below, or for more.`,
  bytes: " There is more: look further below.", work: " It took too long: look further below.",
};

/** The lines of a streamed answer, each parsed, some at a time as they come. */
async function* linesOf(response) {
  let rest = "";
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop();
    yield lines.map((line) => JSON.parse(line));
  }
}

/** A text with what was looked for marked in it. */
function marked(text, wanted) {
  const start = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (start < 0) return [text];
  const end = start + wanted.length;
  return [text.slice(0, start), el("mark", {}, text.slice(start, end)), text.slice(end)];
}

export class Search {
  #shell;
  #go;
  #path = "";
  #wanted = null;
  #stop = null;
  #field = el("input", { type: "search", name: "find", "aria-label": "Search below this path for", placeholder: "a text, a number, true or false", spellcheck: "false", autocomplete: "off", maxlength: "300" });
  #part = el("select", { name: "in", "aria-label": "Search in" }, ["both", "keys", "values"].map((name) => el("option", { value: name }, name === "both" ? "keys and values" : name)));
  #stopButton = el("button", { type: "button", hidden: true, onclick: () => this.stop() }, "Stop");
  #words = el("p", { class: "quiet", role: "status" });
  #results = el("ul", { class: "hits", "aria-label": "Found" });

  /** `go(query)` goes to the address with `find` and `in`, or without them. */
  constructor(shell, go) {
    this.#shell = shell;
    this.#go = go;
    const form = el(
      "form",
      { class: "bar filter", role: "search" },
      this.#field, this.#part,
      el("button", { type: "submit", class: "primary" }, "Search"),
      this.#stopButton,
      el("button", { type: "button", onclick: () => this.#close() }, "Close"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      // The same once more finds what is there now.
      this.#wanted = null;
      if (this.#field.value) this.#go({ find: this.#field.value, ...(this.#part.value !== "both" && { in: this.#part.value }) });
    });
    this.element = el("div", { class: "search", hidden: true }, form, this.#words, this.#results);
  }

  open() {
    this.element.hidden = false;
    this.#field.focus();
    this.#field.select();
  }

  /** Shows what the address asks for. */
  show(path, query) {
    const [find, part] = [query.get("find"), query.get("in") ?? "both"];
    const wanted = find && JSON.stringify([this.#shell.database, path, find, part]);
    // What was found stays while a person goes through it.
    if (!find || wanted === this.#wanted) return;
    this.stop();
    this.#path = path;
    this.#wanted = wanted;
    fill(this.#results, []);
    this.element.hidden = false;
    [this.#field.value, this.#part.value] = [find, part];
    this.#look(path, find, part);
  }

  /** Ends the search under way; what it has found stays. */
  stop() {
    this.#stop?.abort();
    this.#stop = null;
  }

  #close() {
    this.stop();
    this.element.hidden = true;
    this.#wanted = null;
    fill(this.#results, []);
    this.#words.textContent = "";
    if (new URLSearchParams(location.search).has("find")) this.#go({});
  }

  async #look(path, find, part) {
    const stop = (this.#stop = new AbortController());
    this.#stopButton.hidden = false;
    let progress = { looked: 0, found: 0 };
    const isLatest = () => this.#stop === stop || !this.#stop;
    const say = (words) => {
      if (isLatest()) this.#words.textContent = `${number(progress.found)} found, ${number(progress.looked)} looked at${words}`;
    };
    say(" …");
    try {
      const query = { ns: this.#shell.database, path: `/${path}`, text: find, in: part, limit: mostShown };
      const response = await send("GET", "/.inspect/search", { query, signal: stop.signal });
      for await (const lines of linesOf(response)) {
        const hits = lines.filter((line) => line.path);
        progress = lines.findLast((line) => "looked" in line) ?? progress;
        this.#results.append(...hits.map((hit) => this.#row(hit, find)));
        say(progress.end ? `.${ends[progress.end]}` : " …");
      }
      if (!progress.end) say(": the search broke off.");
    } catch (refusal) {
      say(stop.signal.aborted ? ": stopped." : `: could not search on: ${reason(refusal)}.`);
    }
    if (isLatest()) this.#stopButton.hidden = true;
  }

  #row(hit, find) {
    const path = hit.path.slice(1);
    const node = read(hit.value);
    const below = shown(this.#path ? path.slice(this.#path.length) || hit.path : hit.path);
    const value = node.kind === "map" ? `{${number(node.count)}}`
      : node.kind === "cut" ? `${hit.value.at ? "…" : ""}${leafText(node.value)}…` : leafText(node.value);
    const words = hit.in === "value" ? marked(value, node.type === "text" ? shown(find) : find) : [value];
    return el(
      "li",
      {},
      // Among its siblings it says more than alone.
      el("a", { href: this.#shell.address("data", parentOf(path), { at: keyOf(path) }), title: shown(hit.path) },
        hit.in === "key" ? marked(below, shown(find)) : below),
      el("span", { class: `leaf ${node.type === "true or false" ? "boolean" : node.type ?? ""}` }, words),
    );
  }
}
