// The coverage of rules: their text, each rule in the colour of what it came to, and what each part of it gave.
// It imports nothing, so that it draws as well in a file of its own, which opens without a server.

/** Parts that are marked, and rules that one list names. */
const mostParts = 20_000;
const mostListed = 500;
/** Characters of a part that are quoted above its counts. */
const quoted = 120;

/** What the evaluations of a rule came to, from the best to the worst. */
export const states = [
  { name: "both", sign: "±", words: "true and false" },
  { name: "only-true", sign: "+", words: "only true" },
  { name: "only-false", sign: "−", words: "only false" },
  { name: "errors", sign: "!", words: "errors" },
  { name: "never", sign: "○", words: "never consulted" },
];

/** Characters that are not seen or turn the text around; a tab, a line's end and a space stay. */
const unseen = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
const shown = (text) => text.replace(unseen, (sign) => `[U+${sign.codePointAt(0).toString(16).toUpperCase()}]`);

function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.flat());
  return element;
}

export const sum = (values) => values.reduce((total, { count }) => total + count, 0);
export const times = (count) => ["never", "once", "twice"][count] ?? `${count} times`;

/** What a rule came to; an error is shown before anything else, since a rule that ends in one is most often a mistake. */
export function stateOf({ values }) {
  const has = (test) => values.some(test);
  const [isTrue, isFalse] = [has(({ value }) => value === true), has(({ value }) => value === false)];
  if (has(({ error }) => error !== undefined)) return 3;
  return isTrue && isFalse ? 0 : isTrue ? 1 : isFalse ? 2 : 4;
}

/** A value with its count, in words. */
export function words({ value, cut, snapshot, error, others }) {
  if (error !== undefined) return error;
  if (others) return "other values";
  if (snapshot === "null") return "a location with nothing";
  if (snapshot === "object") return "a location with children";
  if (snapshot) return `a location with a ${snapshot}`;
  return value !== null && typeof value === "object" ? "an object" : JSON.stringify(value) + (cut ? "…" : "");
}

/**
 * The report of rules for files as that of a database: an `allow` is a rule, with the parts of its condition in each other.
 * What stands in functions is drawn where it is, and is none of the rules that are counted (`isShared`).
 */
function asRules({ report, ...rest }) {
  const entry = ({ line, column, offset, endOffset, text, ...counts }) => ({
    position: { line, column, offset, endOffset },
    values: [
      { value: true, count: counts.true }, { value: false, count: counts.false },
      { error: "an error", count: counts.error }, { others: true, count: counts.other },
    ].filter(({ count }) => count > 0),
    text, children: [],
  });
  const nested = (parts) => {
    const open = [];
    const outermost = [];
    const sorted = parts.map(entry).sort(({ position: one }, { position: other }) => one.offset - other.offset || other.endOffset - one.endOffset);
    for (const part of sorted) {
      while (open.length && open.at(-1).position.endOffset <= part.position.offset) open.pop();
      (open.at(-1)?.children ?? outermost).push(part);
      open.push(part);
    }
    return outermost;
  };
  const shared = new Map();
  const rules = report.map((allow) => {
    const isOwn = ({ offset, endOffset }) => offset >= allow.offset && endOffset <= allow.endOffset;
    for (const part of allow.parts) if (!isOwn(part)) shared.set(`${part.offset} ${part.endOffset}`, part);
    return { ...entry(allow), kind: `allow ${allow.words}`, path: allow.pattern, children: nested(allow.parts.filter(isOwn)) };
  });
  const functions = nested([...shared.values()]).map((part) =>
    ({ ...part, kind: "part of a function", path: part.text, isShared: true, children: [part] }));
  return { ...rest, report: [...rules, ...functions].sort(({ position: one }, { position: other }) => one.offset - other.offset) };
}

class Drawing {
  #report;
  #scalars;
  #offset = 0;
  /** What can be pointed at, in the order of the text: `{element, rule, entry}`; a whole rule has no entry. */
  #parts = [];
  #current = 0;
  #panel = make("div", { class: "counts", id: "counts", role: "status" });
  #code = make("code", {});

  constructor(report, title) {
    this.#report = report;
    this.#scalars = [...report.rules];
    report.report.forEach((rule) => this.#drawRule(rule));
    this.#code.append(...this.#text(this.#scalars.length));
    const box = make(
      "div", { class: "code-box", role: "group", "aria-label": "Rules with counts" },
      make("pre", { class: "numbers", "aria-hidden": "true" }, this.#numbers()), make("pre", {}, this.#code),
    );
    this.main = make("section", { class: "coverage", "aria-label": "Coverage" }, this.#head(title), this.#notes(), box);
    this.aside = make("div", { class: "coverage-side" }, this.#panel, this.#lists());
    this.#listen(box);
    this.#show(null);
    this.#parts[0]?.element.setAttribute("tabindex", "0");
  }

  // The text

  /** The text up to an offset; every end of a line is one newline, and `indent` marks the blank before continued lines. */
  #text(end, marksIndent = false) {
    const text = shown(this.#scalars.slice(this.#offset, end).join("").replace(/\r\n?/g, "\n"));
    this.#offset = end;
    if (!marksIndent) return text ? [text] : [];
    return text.split(/(?<=\n)([ \t]+)/).map((piece, index) => (index % 2 ? make("span", { class: "indent" }, piece) : piece));
  }

  #drawRule(rule) {
    this.#code.append(...this.#text(rule.position.offset));
    const element = this.#part(`rule ${states[stateOf(rule)].name}`, rule);
    element.dataset.times = sum(rule.values);
    // The outermost part is the rule itself.
    const parts = rule.children.length === 1 ? rule.children[0].children : rule.children;
    this.#drawParts(element, parts, rule);
    element.append(...this.#text(rule.position.endOffset, true));
    this.#code.append(element);
  }

  #drawParts(parent, entries, rule) {
    for (const entry of entries) {
      if (this.#parts.length > mostParts) return;
      parent.append(...this.#text(entry.position.offset, true));
      const isUnneeded = rule.values.length > 0 && entry.values.length === 0;
      const element = this.#part(isUnneeded ? "part unneeded" : "part", rule, entry);
      this.#drawParts(element, entry.children, rule);
      element.append(...this.#text(entry.position.endOffset, true));
      parent.append(element);
    }
  }

  #part(kind, rule, entry = null) {
    const element = make("span", { class: kind, tabindex: "-1", role: "group", "aria-describedby": "counts", "data-part": this.#parts.length });
    this.#parts.push({ element, rule, entry });
    return element;
  }

  /** The lines, each with the worst of what the rules that begin in it came to. */
  #numbers() {
    const worst = new Map();
    for (const rule of this.#report.report) {
      const { line } = rule.position;
      worst.set(line, Math.max(worst.get(line) ?? 0, stateOf(rule)));
    }
    const count = this.#report.rules.split(/\r\n?|\n/).length;
    return Array.from({ length: count }, (_, index) => {
      const state = states[worst.get(index + 1)];
      return state ? make("span", { class: state.name }, `${state.sign} ${index + 1}\n`) : `${index + 1}\n`;
    });
  }

  // What stands around it

  #head(title) {
    const rules = this.#report.report.filter(({ isShared }) => !isShared);
    const counts = states.map((_, state) => rules.filter((rule) => stateOf(rule) === state).length);
    const evaluated = { count: 0, all: 0 };
    const look = (entry) => {
      evaluated.all += 1;
      if (entry.values.length > 0) evaluated.count += 1;
      entry.children.forEach(look);
    };
    for (const rule of this.#report.report) rule.children.forEach(look);
    const figure = (name, count, all) => {
      const bar = make("i", {});
      bar.style.width = `${all ? (count * 100) / all : 100}%`;
      return make("div", {}, make("dt", {}, name), make("dd", {}, `${count}`, make("small", {}, ` of ${all}`)), make("dd", { class: "share", "aria-hidden": "true" }, bar));
    };
    const bar = make("div", { class: "states", "aria-hidden": "true" }, states.map(({ name }, state) => {
      const part = make("i", { class: name });
      part.style.flexGrow = counts[state];
      return counts[state] ? part : "";
    }));
    const legend = make("ul", { class: "legend" }, states.map((state, index) => make("li", {}, sign(state), ` ${state.words} `, make("b", {}, `${counts[index]}`))));
    legend.append(make("li", {}, make("span", { class: "part unneeded" }, "part"), " never needed where its rule ran"));
    return make(
      "header", {}, make("div", {}, make("h2", {}, "Coverage"), make("p", { class: "quiet" }, shown(title))),
      make(
        "dl", {}, figure("rules consulted", rules.length - counts[4], rules.length), figure("parts evaluated", evaluated.count, evaluated.all),
        make("div", {}, make("dt", {}, "decisions"), make("dd", {}, `${this.#report.decisions}`)),
      ),
      make("div", { class: "course" }, bar, legend),
    );
  }

  #notes() {
    const { cut, hint } = this.#report;
    return [
      hint, cut ? `${cut} of the decisions were too long to be counted whole: their last rules are missing here.` : null,
      this.#parts.length > mostParts ? `Only the first ${mostParts} parts are marked; all are in the JSON.` : null,
    ].filter(Boolean).map((note) => make("p", { class: "strip" }, note));
  }

  /** The rules to look at. The value of a constant needs no counts. */
  #lists() {
    const rules = this.#parts.filter(({ rule, entry }) => !entry && !rule.isShared);
    if (rules.length === 0) return [make("p", { class: "quiet" }, "These rules have no rule.")];
    const list = (title, state, isOpen, isListed = () => true) => {
      const found = rules.filter(({ rule }) => stateOf(rule) === state && isListed(rule));
      if (found.length === 0) return state === 4 ? make("p", { class: "quiet" }, "Every rule was consulted.") : "";
      const rows = found.slice(0, mostListed).map(({ element, rule }) => {
        const button = make("button", { type: "button", class: "plain" }, make("small", {}, `${rule.position.line}`), ` ${rule.kind} `, make("code", {}, shown(rule.path)));
        button.addEventListener("click", () => this.#goTo(Number(element.dataset.part)));
        return make("li", {}, button);
      });
      if (found.length > mostListed) rows.push(make("li", { class: "quiet" }, `and ${found.length - mostListed} more`));
      return make("details", isOpen ? { open: "" } : {}, make("summary", {}, sign(states[state]), ` ${title} `, make("b", {}, `${found.length}`)), make("ul", {}, rows));
    };
    const varies = (rule) => rule.children.length > 0;
    return [list("Never consulted", 4, true), list("Ended in an error", 3, true), list("Never false", 1, false, varies), list("Never true", 2, false, varies)];
  }

  // Pointing

  #listen(box) {
    const at = (event) => event.target.closest?.("[data-part]")?.dataset.part;
    box.addEventListener("pointerover", (event) => {
      if (at(event) !== undefined) this.#show(Number(at(event)));
    });
    box.addEventListener("pointerleave", () => {
      if (box.contains(document.activeElement)) this.#show(this.#current);
    });
    box.addEventListener("focusin", (event) => {
      if (at(event) === undefined) return;
      this.#parts[this.#current].element.setAttribute("tabindex", "-1");
      this.#current = Number(at(event));
      this.#parts[this.#current].element.setAttribute("tabindex", "0");
      this.#show(this.#current);
    });
    box.addEventListener("keydown", (event) => {
      const isRule = ({ entry }) => !entry;
      const later = this.#parts.findIndex((part, index) => index > this.#current && isRule(part));
      const places = {
        ArrowRight: this.#current + 1, ArrowLeft: this.#current - 1, ArrowDown: later < 0 ? this.#parts.length - 1 : later,
        ArrowUp: this.#parts.findLastIndex((part, index) => index < this.#current && isRule(part)), Home: 0, End: this.#parts.length - 1,
      };
      if (!(event.key in places) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      this.#goTo(Math.max(0, Math.min(places[event.key], this.#parts.length - 1)));
    });
  }

  #goTo(index) {
    const { element } = this.#parts[index];
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Shows the counts of a part. */
  #show(index) {
    const part = this.#parts[index];
    if (!part) {
      this.#panel.replaceChildren(make("p", { class: "quiet" }, "Point at a rule or at any part of one, or walk with the arrow keys: what it came to shows here."));
      return;
    }
    const { rule, entry } = part;
    const { values, position } = entry ?? rule;
    const count = sum(values);
    const state = states[stateOf(rule)];
    const head = entry
      ? make("code", {}, shown(this.#quote(position)))
      : make("span", {}, sign(state), " ", make("b", {}, rule.kind), " ", make("code", {}, shown(rule.path)));
    const left = entry?.unevaluated ?? 0;
    const sub = !entry
      ? count ? `consulted ${times(count)}: ${state.words}` : "never consulted"
      : count + left === 0 ? "its rule was never consulted" : `evaluated ${times(count)}${left ? `, not needed ${times(left)}` : ""}`;
    this.#panel.replaceChildren(
      make("p", {}, head), make("p", { class: "quiet" }, `line ${position.line}, ${sub}`),
      make("table", {}, make("tbody", {}, values.map((value) => {
        const bar = make("i", {});
        bar.style.width = `${(value.count * 100) / count}%`;
        return make("tr", { class: value.error === undefined ? "" : "errors" }, make("td", {}, make("bdi", {}, shown(words(value))), bar), make("td", { class: "number" }, `${value.count}`));
      }))),
    );
  }

  #quote({ offset, endOffset }) {
    const text = this.#scalars.slice(offset, Math.min(endOffset, offset + quoted)).join("").replace(/[\r\n]/g, " ");
    return text + (endOffset - offset > quoted ? "…" : "");
  }
}

const sign = (state) => make("i", { class: `sign ${state.name}`, "aria-hidden": "true" }, state.sign);

/** The elements of a report as `/.inspect/coverage.json` has it: `main`, the text, and `aside`, the counts and lists beside it. */
export const coverage = (report, title) => new Drawing(report.service === "files" ? asRules(report) : report, title);

// In a file of its own the report stands beside this module.
const own = document.getElementById("own-coverage");
if (own) {
  const { title, report } = JSON.parse(own.textContent);
  document.title = `Rules coverage: ${shown(title)}`;
  const { main, aside } = coverage(report, title);
  const side = make("aside", { class: "inspector", "aria-label": "Counts" }, aside);
  document.body.append(make("main", { class: "page split" }, main, side));
}
