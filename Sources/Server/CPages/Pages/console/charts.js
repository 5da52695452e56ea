// Charts of the last hour, drawn as SVG: axes, the value under the pointer or the arrow keys, and a table of the same.

import { el, fill } from "./dom.js";

const [width, height] = [340, 120];
const [left, right, top, bottom] = [46, 8, 8, 20];
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const short = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** A round number that is not less than `value`. */
function roundUp(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 2.5, 5, 10].map((step) => step * unit).find((step) => step >= value * 0.999);
}

/**
 * A chart. `lines` are `{name, of(sample)}`, where null leaves a gap; `text(value)` writes a value for people. `draw(samples, span)`
 * shows samples, each with `time`, over `span` milliseconds that end with the newest.
 */
export class Chart {
  #label;
  #lines;
  #text;
  #span = 1;
  #samples = [];
  #chosen = null;
  #value = el("output", { class: "chart-value" });
  #svg;
  #table = el("table", { class: "list" });
  #details;

  constructor(label, lines, text) {
    this.#label = label;
    this.#lines = lines;
    this.#text = text;
    this.#svg = el("svg", {
      class: "chart", viewBox: `0 0 ${width} ${height}`, tabindex: "0", role: "img",
      onpointermove: (event) => this.#point(event), onpointerleave: () => this.#choose(null),
      onkeydown: (event) => this.#press(event), onblur: () => this.#choose(null),
    });
    this.#details = el("details", {
      ontoggle: () => this.#drawTable(),
    }, el("summary", {}, "Table"), el("div", { class: "chart-table" }, this.#table));
    this.element = el(
      "figure",
      { class: "chart-box" },
      el("figcaption", {}, el("h3", {}, label), this.#value),
      this.#svg,
      lines.length > 1 ? el("p", { class: "legend" }, lines.map(({ name }, index) => el("span", {}, el("i", { class: `line-${index}` }), name))) : null,
      this.#details,
    );
  }

  draw(samples, span) {
    this.#samples = samples;
    this.#span = span;
    if (this.#chosen !== null && this.#chosen >= samples.length) this.#chosen = null;
    this.#drawLines();
    if (this.#details.open) this.#drawTable();
  }

  #end() {
    return this.#samples.at(-1)?.time ?? Date.now();
  }

  #x(time) {
    return left + (width - left - right) * Math.max(0, 1 - (this.#end() - time) / this.#span);
  }

  #drawLines() {
    const values = this.#lines.map(({ of }) => this.#samples.map(of));
    const greatest = Math.max(0, ...values.flat().filter((value) => value !== null));
    // Nothing at all is drawn on a scale of one.
    const most = greatest > 0 ? roundUp(greatest) : 1;
    const y = (value) => top + (height - top - bottom) * (1 - value / most);
    const paths = values.map((points, index) => {
      let isOpen = false;
      const path = points.map((value, place) => {
        const step = value === null ? "" : `${isOpen ? "L" : "M"}${this.#x(this.#samples[place].time).toFixed(1)} ${y(value).toFixed(1)}`;
        isOpen = value !== null;
        return step;
      }).join("");
      return el("path", { class: `line line-${index}`, d: path || "M0 0" });
    });
    const end = this.#end();
    const marks = [0, 0.5, 1].map((share) => [
      el("path", { class: "grid", d: `M${left} ${y(most * share)}H${width - right}` }),
      el("text", { class: "axis", x: left - 5, y: y(most * share) + 4, "text-anchor": "end" }, this.#text(most * share)),
    ]);
    const times = [[0, "start"], [0.5, "middle"], [1, "end"]].map(([share, anchor]) => el(
      "text",
      { class: "axis", x: left + (width - left - right) * share, y: height - 5, "text-anchor": anchor },
      short.format(end - this.#span * (1 - share)),
    ));
    const chosen = this.#samples[this.#chosen];
    const cursor = chosen ? el("path", { class: "cursor", d: `M${this.#x(chosen.time).toFixed(1)} ${top}V${height - bottom}` }) : null;
    fill(this.#svg, [...marks.flat(), ...times, ...paths, cursor]);
    this.#say(chosen ?? this.#samples.at(-1), Boolean(chosen));
  }

  #say(sample, isChosen) {
    const words = sample
      ? this.#lines.map(({ name, of }) => `${this.#lines.length > 1 ? `${name} ` : ""}${of(sample) === null ? "–" : this.#text(of(sample))}`).join(" · ")
      : "no sample yet";
    this.#value.textContent = isChosen ? `${clock.format(sample.time)}: ${words}` : words;
    this.#svg.setAttribute("aria-label", `${this.#label}: ${this.#value.textContent}. Arrow keys go through the last hour.`);
  }

  #choose(index) {
    if (index === this.#chosen) return;
    this.#chosen = index;
    this.#drawLines();
  }

  #point(event) {
    if (!this.#samples.length) return;
    const box = this.#svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * width;
    const distances = this.#samples.map(({ time }) => Math.abs(this.#x(time) - x));
    this.#choose(distances.indexOf(Math.min(...distances)));
  }

  #press(event) {
    const last = this.#samples.length - 1;
    const now = this.#chosen ?? last;
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, Escape: null }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.#choose(to === null ? null : Math.max(0, Math.min(last, to)));
  }

  /** The newest first; only while it is looked at. */
  #drawTable() {
    if (!this.#details.open) return;
    const heads = ["Time", ...this.#lines.map(({ name }) => name)];
    fill(this.#table, [
      el("thead", {}, el("tr", {}, heads.map((head, index) => el("th", { scope: "col", class: index ? "number" : null }, head)))),
      el("tbody", {}, this.#samples.toReversed().map((sample) => el("tr", {}, el("th", { scope: "row" }, clock.format(sample.time)), this.#lines.map(({ of }) => el("td", { class: "number" }, of(sample) === null ? "–" : this.#text(of(sample))))))),
    ]);
  }
}
