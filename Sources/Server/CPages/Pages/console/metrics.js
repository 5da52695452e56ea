// The page of metrics: each present value with what it says.

import { el, fill } from "./dom.js";
import { metrics, Repeated, seconds } from "./figures.js";
import { secondText } from "./parts.js";
import { bytes, number, shown } from "./values.js";

export class MetricsPage {
  #rows = el("tbody");
  #problem = el("p", { class: "problem", role: "alert" });
  #found = new Map();
  #looks = new Repeated(() => this.#look(), 5000);

  constructor() {
    this.field = el("input", { class: "path", type: "search", placeholder: "name, label or help", "aria-label": "Find metrics", spellcheck: "false", oninput: () => this.#draw() });
    this.element = el(
      "section",
      { class: "page", "aria-label": "Metrics" },
      el("div", { class: "bar" }, this.field, el("a", { href: "/.metrics", target: "_blank", rel: "noreferrer" }, "as Prometheus reads them")),
      this.#problem,
      el("div", { class: "wide" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, ["Metric", "Value", "What it says"].map((head, index) => el("th", { scope: "col", class: index === 1 ? "number" : null }, head)))), this.#rows)),
    );
  }

  show() {
    this.#looks.start();
  }

  close() {
    this.#looks.stop();
  }

  async #look() {
    try {
      this.#found = await metrics();
      this.#problem.textContent = "";
      this.#draw();
    } catch (refusal) {
      this.#problem.textContent = `Could not read the metrics: ${refusal.message}`;
    }
  }

  #draw() {
    const words = this.field.value.toLowerCase().split(/\s+/);
    const rows = [];
    for (const [name, { help, type, series }] of this.#found) {
      for (const { labels, text } of type === "histogram" ? histograms(series) : series.map(({ labels, value }) => ({ labels, text: shownValue(name, value) }))) {
        const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(", ");
        if (!words.every((word) => `${name} ${label} ${help}`.toLowerCase().includes(word))) continue;
        rows.push(el("tr", {}, el("th", { scope: "row", class: "mono" }, name, label ? el("div", { class: "quiet" }, shown(label)) : null), el("td", { class: "number" }, text), el("td", {}, help)));
      }
    }
    fill(this.#rows, rows.length ? rows : [el("tr", {}, el("td", { colspan: "3", class: "quiet" }, "No metric has that."))]);
  }
}

function shownValue(name, value) {
  if (/timestamp_seconds$|start_time_seconds$/.test(name)) return secondText(value * 1000);
  if (/bytes(_total|_greatest)?$/.test(name)) return bytes(value);
  if (/seconds$/.test(name)) return seconds(value);
  return number(value);
}

/** Each series of a histogram in words: how many, and within which time 95 in 100 stayed. */
function histograms(series) {
  const all = new Map();
  for (const { part, labels: { le, ...labels }, value } of series) {
    const key = JSON.stringify(labels);
    if (!all.has(key)) all.set(key, { labels, buckets: [] });
    if (part === "bucket") all.get(key).buckets.push([le === "+Inf" ? Infinity : Number(le), value]);
    else all.get(key)[part] = value;
  }
  return [...all.values()].map(({ labels, buckets, sum, count }) => {
    if (!count) return { labels, text: "none yet" };
    const [bound] = buckets.find(([, below]) => below >= 0.95 * count);
    return { labels, text: `${number(count)}, on average ${seconds(sum / count)}, 95 in 100 ${bound === Infinity ? "above 10 s" : `within ${seconds(bound)}`}` };
  });
}
