// The editor of rules: a text area over layers with the same text, coloured by the server's tokens. Only the lines in sight are drawn.

import { el, fill } from "./dom.js";

/** Milliseconds without a key before the server is asked. */
const pause = 200;
const lineHeight = 19;
const padding = 8;
/** Lines that are drawn above and below those in sight. */
const margin = 30;

/** What one edit does to pieces of a text, `{start, end}`, in the units of the text. */
function edited(before, after) {
  let from = 0;
  const least = Math.min(before.length, after.length);
  while (from < least && before.charCodeAt(from) === after.charCodeAt(from)) from += 1;
  let [oldEnd, newEnd] = [before.length, after.length];
  while (oldEnd > from && newEnd > from && before.charCodeAt(oldEnd - 1) === after.charCodeAt(newEnd - 1)) [oldEnd, newEnd] = [oldEnd - 1, newEnd - 1];
  const by = newEnd - oldEnd;
  return {
    touches: (piece) => piece.end > from && piece.start < Math.max(oldEnd, from + 1),
    /** Moves a piece, and cuts one that the edit cuts; returns whether anything is left of it. */
    move(piece) {
      if (piece.end <= from) return true;
      const isBehind = piece.start >= oldEnd;
      piece.start = isBehind ? piece.start + by : piece.start <= from ? piece.start : newEnd;
      piece.end = isBehind || piece.end >= oldEnd ? piece.end + by : from;
      return piece.end > piece.start;
    },
  };
}

/** The first index whose piece ends behind an offset; pieces ascend and do not overlap. */
function firstBehind(pieces, offset) {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces[middle].end <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Offsets in the units of JavaScript, of those in characters as the server counts them. */
export function unitsOf(text) {
  if (!/[\ud800-\udfff]/.test(text)) return (offset) => offset;
  const units = [0];
  for (const sign of text) units.push(units.at(-1) + sign.length);
  return (offset) => units[Math.min(offset, units.length - 1)];
}

export class Editor {
  #calls;
  #text = "";
  /** Offsets of the lines. */
  #starts = [0];
  #tokens = [];
  #faults = [];
  /** What can be pointed at: rules and their parts, outer ones first. */
  #parts = [];
  #pointed = null;
  #signs = new Map();
  #first = -1;
  #last = -1;
  #numbers = el("div");
  #paint = el("div");
  #marks = el("div");
  #notes = el("div", { class: "notes" });
  #frame = 0;

  /** `changed()` when a person has typed, `pointed(part)` when a part is pointed at, or none. */
  constructor(label, calls) {
    this.#calls = calls;
    this.field = el("textarea", { class: "code", spellcheck: "false", autocapitalize: "off", autocomplete: "off", "aria-label": label, wrap: "off" });
    const layer = (content, name) => el("pre", { class: name, "aria-hidden": "true" }, content);
    this.element = el(
      "div",
      { class: "editor-box" },
      layer(this.#numbers, "numbers"),
      el("div", { class: "layers" }, layer(this.#marks, "paint marks"), layer(this.#paint, "paint"), this.field, this.#notes),
    );
    this.field.addEventListener("input", () => this.#typed());
    this.field.addEventListener("scroll", () => this.#later(false));
    this.field.addEventListener("keydown", (event) => this.#press(event));
    this.field.addEventListener("pointermove", ({ clientX, clientY }) => this.#pointAt(document.caretPositionFromPoint?.(clientX, clientY)?.offset));
    this.field.addEventListener("pointerleave", () => this.#pointAt(undefined));
    for (const name of ["keyup", "click"]) this.field.addEventListener(name, () => this.#pointAt(this.field.selectionStart));
    new ResizeObserver(() => this.#later(true)).observe(this.field);
  }

  get text() {
    return this.#text;
  }

  /** Puts another text in; what a person has typed is lost. */
  set text(text) {
    // As the field has it: its lines end in one way. The same text stays where it is.
    if (this.#text === text.replace(/\r\n?/g, "\n")) return;
    this.field.value = text;
    this.#take();
    this.field.scrollTop = this.field.scrollLeft = 0;
  }

  /** The tokens of the text as the server has cut it: `runs` are the gap before each, its length and its kind. */
  setTokens({ kinds, runs }) {
    const units = unitsOf(this.#text);
    let place = 0;
    this.#tokens = [];
    for (let index = 0; index < runs.length; index += 3) {
      const start = place + runs[index];
      place = start + runs[index + 1];
      this.#tokens.push({ start: units(start), end: units(place), kind: kinds[runs[index + 2]] });
    }
    this.#later(true);
  }

  /** Underlines: `{line, column, kind}`, the kind "error" or "warning". Each goes to the end of the token there. */
  setFaults(faults) {
    this.#faults = faults.map(({ line, column, kind }) => {
      const start = this.offset(line, column);
      const token = this.#tokens[firstBehind(this.#tokens, start)];
      const end = token && token.start <= start ? token.end : start + 1;
      return { start: Math.min(start, Math.max(0, this.#text.length - 1)), end, kind };
    });
    this.#later(true);
  }

  /** What can be pointed at, `{start, end, rule?, ...}`, outer parts first; and `{start, end, sign, name, title}`, for the margin. */
  setParts(parts, signs) {
    this.#parts = parts;
    this.#signs = new Map(signs.map((sign) => [this.lineOf(sign.start), sign]));
    this.#later(true);
  }

  lineOf(offset) {
    let [low, high] = [0, this.#starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The offset of a line and a column, both from 1, the column in characters. */
  offset(line, column) {
    const start = this.#starts[line - 1] ?? this.#text.length;
    const end = this.#starts[line] ?? this.#text.length;
    return Math.min(start + unitsOf(this.#text.slice(start, end))(column - 1), this.#text.length);
  }

  goTo(line, column) {
    const place = this.offset(line, column);
    this.field.focus();
    this.field.setSelectionRange(place, place);
    this.reveal(line);
    this.#pointAt(place);
  }

  reveal(line) {
    this.field.scrollTop = Math.max(0, (line - 6) * lineHeight);
    this.#later(false);
  }

  /** Shows something under a line, over the lines that follow; null shows nothing. */
  setNote(line, content) {
    fill(this.#notes, content ? [content] : []);
    this.#notes.dataset.line = line ?? "";
    this.#later(false);
  }

  // What is typed

  #typed() {
    this.#take();
    this.#calls.changed();
  }

  /** Takes the text of the field over; tokens and marks move with it until the server has said more. */
  #take() {
    const text = this.field.value;
    const edit = edited(this.#text, text);
    this.#text = text;
    this.#starts = [0];
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.#starts.push(at + 1);
    this.#tokens = this.#tokens.filter(edit.move);
    this.#faults = this.#faults.filter(edit.move);
    // The counts of a rule are of its text as it was.
    const lost = new Set([...this.#parts, ...this.#signs.values()].filter((part) => edit.touches(part.rule ?? part)));
    const isKept = (part) => !lost.has(part) && edit.move(part);
    this.#parts = this.#parts.filter(isKept);
    this.#signs = new Map([...this.#signs.values()].filter(isKept).map((sign) => [this.lineOf(sign.start), sign]));
    this.#pointed = null;
    this.#later(true);
  }

  #press(event) {
    if (event.key === "Escape" && this.#notes.firstChild) {
      this.setNote(null, null);
      event.preventDefault();
    }
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    // A new line begins where the one before does.
    const before = this.field.value.slice(0, this.field.selectionStart).split("\n").at(-1);
    const indent = before.match(/^\s*/)[0] + (/[{[(]\s*$/.test(before) ? "  " : "");
    event.preventDefault();
    this.field.setRangeText(`\n${indent}`, this.field.selectionStart, this.field.selectionEnd, "end");
    this.#typed();
  }

  #pointAt(offset) {
    const part = offset === undefined ? null : this.#parts.findLast(({ start, end }) => start <= offset && offset < end) ?? null;
    if (part === this.#pointed) return;
    this.#pointed = part;
    this.#calls.pointed(part);
    this.#later(true);
  }

  // What is drawn

  #later(isChanged) {
    if (isChanged) this.#first = -1;
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  #draw() {
    const { scrollTop, scrollLeft, clientHeight } = this.field;
    const top = Math.max(0, Math.floor((scrollTop - padding) / lineHeight));
    const bottom = Math.min(this.#starts.length, top + Math.ceil(clientHeight / lineHeight) + 1);
    if (this.#first < 0 || top < this.#first || bottom > this.#last) {
      this.#first = Math.max(0, top - margin);
      this.#last = Math.min(this.#starts.length, bottom + margin);
      this.#fill();
    }
    const y = padding + this.#first * lineHeight - scrollTop;
    this.#numbers.style.transform = `translateY(${y}px)`;
    for (const layer of [this.#paint, this.#marks]) layer.style.transform = `translate(${padding - scrollLeft}px, ${y}px)`;
    const { line } = this.#notes.dataset;
    if (line) this.#notes.style.transform = `translateY(${padding + Number(line) * lineHeight - scrollTop}px)`;
  }

  #fill() {
    const start = this.#starts[this.#first];
    const end = this.#starts[this.#last] ?? this.#text.length;
    const lines = Array.from({ length: this.#last - this.#first }, (_, index) => index + this.#first);
    fill(this.#numbers, lines.map((line) => {
      const sign = this.#signs.get(line);
      return sign ? el("span", { class: sign.name, title: sign.title }, `${sign.sign} ${line + 1}\n`) : `${line + 1}\n`;
    }));
    // A layer as wide as the longest number of all keeps its width while it is scrolled.
    this.#numbers.parentElement.style.minWidth = `${String(this.#starts.length).length + 4}ch`;
    const seen = this.#tokens.slice(firstBehind(this.#tokens, start));
    const cut = seen.findIndex((token) => token.start >= end);
    fill(this.#paint, this.#pieces(cut < 0 ? seen : seen.slice(0, cut), start, end, ({ kind }) => `t-${kind}`));
    const marks = [...this.#faults];
    if (this.#pointed) marks.push({ ...this.#pointed, kind: "pointed" });
    fill(this.#marks, this.#overlapping(marks.filter((mark) => mark.end > start && mark.start < end), start, end));
  }

  /** The text of a range, with an element for each piece. */
  #pieces(pieces, start, end, classOf) {
    const parts = [];
    let place = start;
    for (const piece of pieces) {
      const [from, to] = [Math.max(piece.start, place), Math.min(piece.end, end)];
      if (to <= from) continue;
      if (from > place) parts.push(this.#text.slice(place, from));
      parts.push(el("span", { class: classOf(piece) }, this.#text.slice(from, to)));
      place = to;
    }
    parts.push(this.#text.slice(place, end));
    return parts;
  }

  /** The same where pieces may overlap. */
  #overlapping(marks, start, end) {
    const bounds = [...new Set(marks.flatMap((mark) => [mark.start, mark.end]))].sort((one, other) => one - other);
    const pieces = bounds.slice(0, -1).map((from, index) => {
      const to = bounds[index + 1];
      return { start: from, end: to, kind: [...new Set(marks.filter((mark) => mark.start < to && mark.end > from).map(({ kind }) => `m-${kind}`))].join(" ") };
    }).filter(({ kind }) => kind);
    return this.#pieces(pieces, start, end, ({ kind }) => kind);
  }
}

/** Asks what the server says of the text of an editor: one question at a time, and again of what was typed meanwhile. */
export class TextCheck {
  #editor;
  #problems;
  #calls;
  #timer = 0;
  #isAsking = false;

  /** `ask(text)` gives what the server says, and `show(found)` shows it; a failure stands in the list of problems. */
  constructor(editor, problems, calls) {
    this.#editor = editor;
    this.#problems = problems;
    this.#calls = calls;
  }

  /** Asks when no key was pressed for a while. */
  soon() {
    this.stop();
    this.#timer = setTimeout(() => this.now(), pause);
  }

  stop() {
    clearTimeout(this.#timer);
  }

  async now() {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { text } = this.#editor;
    try {
      const found = await this.#calls.ask(text);
      if (text === this.#editor.text) this.#calls.show(found);
    } catch (refusal) {
      fill(this.#problems, [el("li", { class: "error" }, `The text was not checked: ${refusal.message}`)]);
    }
    this.#isAsking = false;
    if (text !== this.#editor.text) await this.now();
  }
}
