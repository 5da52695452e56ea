// The page of the server's state: what it does now, from its metrics.

import { el, fill } from "./dom.js";
import { send } from "./server.js";
import { bytes, number } from "./values.js";

const pause = 2000;
const kept = 150;

/** `{name: [{labels, value}]}` of metrics as Prometheus reads them. */
function parse(text) {
  const found = new Map();
  for (const line of text.split("\n")) {
    const [, name, labels = "", value] = line.match(/^([a-z_]+)(\{.*\})? (\S+)$/) ?? [];
    if (!name) continue;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push({ labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, each]) => [key, each])), value: Number(value) });
  }
  return found;
}

export class OverviewPage {
  #shell;
  #tiles = el("dl", { class: "tiles" });
  #databases = el("tbody");
  #problem = el("p", { class: "problem", role: "alert" });
  #samples = [];
  #timer = 0;

  constructor(shell) {
    this.#shell = shell;
    const heads = ["Database", "Commits", "Listens", "Indexes"].map((head, index) => el("th", { scope: "col", class: index ? "number" : null }, head));
    this.element = el(
      "section",
      { class: "page", "aria-label": "Overview" },
      el("h1", {}, "Overview"),
      this.#problem,
      this.#tiles,
      el("h2", {}, "Databases"),
      el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), this.#databases),
    );
  }

  show() {
    clearTimeout(this.#timer);
    this.#look();
  }

  close() {
    clearTimeout(this.#timer);
    this.#timer = null;
  }

  async #look() {
    try {
      const text = await (await send("GET", "/.metrics")).text();
      this.#samples.push({ at: performance.now(), metrics: parse(text) });
      if (this.#samples.length > kept) this.#samples.shift();
      this.#problem.textContent = "";
      this.#draw();
    } catch (refusal) {
      this.#problem.textContent = `Could not read the metrics: ${refusal.message}`;
    }
    if (this.#timer !== null) this.#timer = setTimeout(() => this.#look(), pause);
  }

  #value(name, sample = this.#samples.at(-1)) {
    return (sample.metrics.get(name) ?? []).reduce((sum, { value }) => sum + value, 0);
  }

  /** How much a counter grew each second, between one look and the next. */
  #rates(name) {
    return this.#samples.slice(1).map((sample, index) => {
      const before = this.#samples[index];
      return Math.max(0, (this.#value(name, sample) - this.#value(name, before)) / ((sample.at - before.at) / 1000));
    });
  }

  #draw() {
    const now = (name) => this.#samples.map((sample) => this.#value(name, sample));
    const tiles = [
      ["Log", this.#value("hearth_log_taking_writes") ? "takes writes" : "refuses writes", []],
      ["Connections", number(this.#value("hearth_transport_open_connections")), now("hearth_transport_open_connections")],
      ["Listens", number(this.#value("hearth_listens")), now("hearth_listens")],
      ["Commits a second", this.#rate("hearth_commits_total"), this.#rates("hearth_commits_total")],
      ["HTTP requests a second", this.#rate("hearth_http_requests_total"), this.#rates("hearth_http_requests_total")],
      ["Messages a second", this.#rate("hearth_messages_total"), this.#rates("hearth_messages_total")],
      ["Sent a second", `${bytes(Math.round(this.#rates("hearth_transport_bytes_sent_total").at(-1) ?? 0))}`, this.#rates("hearth_transport_bytes_sent_total")],
      ["Waits to be sent", bytes(this.#value("hearth_transport_queued_bytes")), now("hearth_transport_queued_bytes")],
      ["Refused by rules", number(this.#value("hearth_refused_requests_total")), this.#rates("hearth_refused_requests_total")],
      ["Longest turn, last minute", `${(this.#value("hearth_loop_recent_longest_turn_seconds") * 1000).toFixed(1)} ms`, now("hearth_loop_recent_longest_turn_seconds")],
    ];
    fill(this.#tiles, tiles.map(([label, value, points]) => el(
      "div", { class: "tile" }, el("dt", {}, label), el("dd", {}, value), sparkline(points),
    )));
    const byDatabase = (name) => new Map((this.#samples.at(-1).metrics.get(name) ?? []).map(({ labels, value }) => [labels.database, value]));
    const [commits, listens, indexes] = ["hearth_commit_number", "hearth_listens", "hearth_indexes"].map(byDatabase);
    fill(this.#databases, [...commits].map(([name, count]) => el(
      "tr",
      {},
      el("th", { scope: "row" }, el("a", { href: this.#shell.address("data", "", { ns: name }) }, name)),
      ...[count, listens.get(name) ?? 0, indexes.get(name) ?? 0].map((value) => el("td", { class: "number" }, number(value))),
    )));
  }

  #rate(name) {
    const last = this.#rates(name).at(-1) ?? 0;
    return number(last < 10 ? Math.round(last * 10) / 10 : Math.round(last));
  }
}

/** The course of a figure, the newest at the right. */
function sparkline(points) {
  const most = Math.max(...points, 1e-9);
  const step = 100 / (kept - 1);
  const first = 100 - (points.length - 1) * step;
  const line = points.map((value, index) => `${index ? "L" : "M"}${(first + index * step).toFixed(1)} ${(28 - (value / most) * 26).toFixed(1)}`).join("");
  return el("svg", { class: "spark", viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true" }, points.length > 1 ? el("path", { d: line }) : null);
}
