// The page of the server's state: what it does now, from its metrics, and what it did in the last hour.

import { Chart } from "./charts.js";
import { count, el, fill, wholeText } from "./dom.js";
import { lastHour, metrics, Repeated, seconds, state } from "./figures.js";
import { bytes, number } from "./values.js";

const kept = 150;
/** How far back the charts go: as far as there are samples, at most an hour. */
const spans = [5, 15, 30, 60].map((minutes) => minutes * 60_000);

const rate = (value) => number(value < 10 ? Math.round(value * 10) / 10 : Math.round(value));
const cores = (value) => `${number(Math.round(value * 1000) / 10)} %`;
const of = (name) => (sample) => sample[name];

/** Each chart: its name, its lines, and how a value is written. */
const charts = [
  ["A second", [["reads", "reads"], ["writes", "commits"], ["deliveries", "deliveries"]], rate],
  ["Put acknowledged, and sent to listeners", [["half within", "putMedian"], ["95 in 100", "put95"], ["99 in 100", "put99"]], seconds],
  ["Longest tick", [["longest tick", "longestTick"]], seconds],
  ["Connections", [["sockets", "connections"], ["sessions", "sessions"], ["listens", "listens"]], number],
  ["Memory", [["memory", "residentBytes"]], bytes],
  ["Processor", [["of one core", "cpuShare"]], cores],
  ["Disk", [["free", "freeDiskBytes"], ["log", "logBytes"]], bytes],
  ["Waits to be sent", [["waits", "queuedBytes"]], bytes],
  ["Refused by the rules, a second", [["refused", "refusals"]], rate],
];

export class OverviewPage {
  #shell;
  #words = el("p", { class: "quiet" });
  #state = el("dl", { class: "tiles" });
  #tiles = el("dl", { class: "tiles" });
  #databases = el("tbody");
  #problem = el("p", { class: "problem", role: "alert" });
  #young = el("p", { class: "quiet", hidden: true }, "The server takes a sample every 10 seconds; the first ones are on their way.");
  #charts = charts.map(([label, lines, text]) => new Chart(label, lines.map(([name, figure]) => ({ name, of: of(figure) })), text));
  #samples = [];
  #now = new Repeated(() => this.#look(), 2000);
  #hour = new Repeated(() => this.#lookBack(), 10_000);

  constructor(shell) {
    this.#shell = shell;
    const heads = ["Database", "Commits", "Listens", "Indexes"].map((head, index) => el("th", { scope: "col", class: index ? "number" : null }, head));
    this.element = el(
      "section",
      { class: "page", "aria-label": "Overview" },
      el("div", { class: "bar" }, el("h1", {}, "Overview"), this.#words),
      this.#problem,
      this.#state,
      el("h2", {}, "Now"),
      this.#tiles,
      el("h2", {}, "The last hour"),
      this.#young,
      el("div", { class: "charts" }, this.#charts.map(({ element }) => element)),
      el("h2", {}, "Databases"),
      el("table", { class: "list" }, el("thead", {}, el("tr", {}, heads)), this.#databases),
    );
  }

  show() {
    this.#now.start();
    this.#hour.start();
  }

  close() {
    this.#now.stop();
    this.#hour.stop();
  }

  async #look() {
    try {
      const [found, server] = await Promise.all([metrics(), state()]);
      this.#samples.push({ at: performance.now(), metrics: found });
      if (this.#samples.length > kept) this.#samples.shift();
      this.#problem.textContent = "";
      this.#drawState(this.#value("hearth_log_taking_writes") > 0, server);
      this.#draw();
    } catch (refusal) {
      this.#problem.textContent = `Could not read the metrics: ${refusal.message}`;
    }
  }

  async #lookBack() {
    try {
      const { samples } = await lastHour();
      this.#young.hidden = samples.length > 1;
      const age = samples.length ? samples.at(-1).time - samples[0].time : 0;
      const span = spans.find((each) => each >= age) ?? spans.at(-1);
      for (const chart of this.#charts) chart.draw(samples, span);
    } catch (refusal) {
      this.#problem.textContent = `Could not read the last hour: ${refusal.message}`;
    }
  }

  #drawState(takesWrites, { version, mode, now, since, isReady, memory, log, disk, certificateEnd, notes }) {
    this.#words.textContent = `Hearth ${version}, ${mode}, since ${wholeText(since)}`;
    const fault = notes.find(({ kind }) => kind === "fault");
    const tile = (label, value, more, kind = null) => el("div", { class: kind ? `tile ${kind}` : "tile" }, el("dt", {}, label), el("dd", {}, value), more ? el("dd", { class: "hint" }, more) : null);
    const checkpoint = log?.checkpointTime ? `checkpoint ${Math.max(0, Math.round((now - log.checkpointTime) / 60_000))} min ago` : "no checkpoint since the start";
    const days = certificateEnd && Math.floor((certificateEnd - now) / 86_400_000);
    fill(this.#state, [
      tile("Health", isReady ? (fault ? "in trouble" : "well") : "not ready", fault?.text, fault ? "bad" : null),
      tile("Memory", bytes(memory), "the tree is in it"),
      disk ? tile("Disk, free", bytes(disk.free), `of ${bytes(disk.total)}; below ${bytes(disk.reserve)} writes are refused`, disk.free < 2 * disk.reserve ? "warn" : null) : tile("Disk", "not used", "--memory"),
      tile("Log", takesWrites ? "takes writes" : "refuses writes", log && `${log.position === undefined ? "" : `at ${number(log.position)}; `}${bytes(log.bytes)} in ${count(log.segments, "segment")}; ${checkpoint}`),
      certificateEnd ? tile("Certificate", days < 0 ? "has ended" : `${number(days)} days`, wholeText(certificateEnd), days < 14 ? "warn" : null) : null,
    ]);
  }

  #value(name, sample = this.#samples.at(-1)) {
    return (sample.metrics.get(name)?.series ?? []).reduce((sum, { value }) => sum + value, 0);
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
    const last = (name) => rate(this.#rates(name).at(-1) ?? 0);
    const tiles = [
      ["Open sockets", number(this.#value("hearth_transport_open_connections")), now("hearth_transport_open_connections")],
      ["Listens", number(this.#value("hearth_listens")), now("hearth_listens")],
      ["Reads a second", last("hearth_reads_total"), this.#rates("hearth_reads_total")],
      ["Commits a second", last("hearth_commits_total"), this.#rates("hearth_commits_total")],
      ["Deliveries a second", last("hearth_transport_frames_sent_total"), this.#rates("hearth_transport_frames_sent_total")],
      ["HTTP requests a second", last("hearth_http_requests_total"), this.#rates("hearth_http_requests_total")],
      ["Sent a second", bytes(Math.round(this.#rates("hearth_transport_bytes_sent_total").at(-1) ?? 0)), this.#rates("hearth_transport_bytes_sent_total")],
      ["Waits to be sent", bytes(this.#value("hearth_transport_queued_bytes")), now("hearth_transport_queued_bytes")],
      ["Refused by rules", number(this.#value("hearth_refused_requests_total")), this.#rates("hearth_refused_requests_total")],
      ["Longest tick, last minute", seconds(this.#value("hearth_loop_recent_longest_turn_seconds")), now("hearth_loop_recent_longest_turn_seconds")],
    ];
    fill(this.#tiles, tiles.map(([label, value, points]) => el(
      "div", { class: "tile" }, el("dt", {}, label), el("dd", {}, value), sparkline(points),
    )));
    const byDatabase = (name) => new Map((this.#samples.at(-1).metrics.get(name)?.series ?? []).map(({ labels, value }) => [labels.database, value]));
    const [commits, listens, indexes] = ["hearth_commit_number", "hearth_listens", "hearth_indexes"].map(byDatabase);
    fill(this.#databases, [...commits].map(([name, newest]) => el(
      "tr",
      {},
      el("th", { scope: "row" }, el("a", { href: this.#shell.address("data", "", { ns: name }) }, name)),
      ...[newest, listens.get(name) ?? 0, indexes.get(name) ?? 0].map((value) => el("td", { class: "number" }, number(value))),
    )));
  }
}

/** The course of a figure while the page is open, the newest at the right. */
function sparkline(points) {
  const most = Math.max(...points, 1e-9);
  const step = 100 / (kept - 1);
  const first = 100 - (points.length - 1) * step;
  const line = points.map((value, index) => `${index ? "L" : "M"}${(first + index * step).toFixed(1)} ${(28 - (value / most) * 26).toFixed(1)}`).join("");
  return el("svg", { class: "spark", viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true" }, points.length > 1 ? el("path", { d: line }) : null);
}
