// The lines in which two texts differ.

import { el } from "./dom.js";

/** Differing lines up to which the shortest difference is looked for. */
const mostSteps = 1500;
/** Equal lines that stand around those that differ. */
const context = 3;

/** The difference, line by line: `{sign, text, old, now}`, the sign " ", "+" or "-", the lines counted from 1. */
export function difference(before, after) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let [oldEnd, nowEnd] = [old.length, now.length];
  while (oldEnd > start && nowEnd > start && old[oldEnd - 1] === now[nowEnd - 1]) [oldEnd, nowEnd] = [oldEnd - 1, nowEnd - 1];
  const same = (from, to, at) => old.slice(from, to).map((text, index) => ({ sign: " ", text, old: from + index + 1, now: at + index + 1 }));
  return [...same(0, start, 0), ...middle(old.slice(start, oldEnd), now.slice(start, nowEnd), start), ...same(oldEnd, old.length, nowEnd)];
}

/** The same for texts that begin and end otherwise. Source: Myers, "An O(ND) difference algorithm". */
function middle(old, now, first) {
  const gone = (index) => ({ sign: "-", text: old[index], old: first + index + 1 });
  const come = (index) => ({ sign: "+", text: now[index], now: first + index + 1 });
  const most = Math.min(old.length + now.length, mostSteps);
  const reach = new Int32Array(2 * most + 3);
  const at = most + 1;
  const steps = [];
  for (let step = 0; step <= most; step += 1) {
    steps.push(reach.slice());
    for (let line = -step; line <= step; line += 2) {
      const isDown = line === -step || (line !== step && reach[at + line - 1] < reach[at + line + 1]);
      let x = isDown ? reach[at + line + 1] : reach[at + line - 1] + 1;
      while (x < old.length && x - line < now.length && old[x] === now[x - line]) x += 1;
      reach[at + line] = x;
      if (x >= old.length && x - line >= now.length) return walk(steps, at, old, now, first, gone, come);
    }
  }
  return [...old.map((_, index) => gone(index)), ...now.map((_, index) => come(index))];
}

function walk(steps, at, old, now, first, gone, come) {
  const found = [];
  let [x, y] = [old.length, now.length];
  for (let step = steps.length - 1; step >= 0; step -= 1) {
    const reach = steps[step];
    const line = x - y;
    const isDown = line === -step || (line !== step && reach[at + line - 1] < reach[at + line + 1]);
    const before = line + (isDown ? 1 : -1);
    const [fromX, fromY] = step ? [reach[at + before], reach[at + before] - before] : [0, 0];
    while (x > fromX && y > fromY) {
      [x, y] = [x - 1, y - 1];
      found.push({ sign: " ", text: old[x], old: first + x + 1, now: first + y + 1 });
    }
    if (step === 0) break;
    found.push(isDown ? come(y - 1) : gone(x - 1));
    [x, y] = [fromX, fromY];
  }
  return found.reverse();
}

/** How many lines are new and gone, in words. */
export function differenceWords(lines) {
  const [added, removed] = ["+", "-"].map((sign) => lines.filter((line) => line.sign === sign).length);
  if (added + removed === 0) return "The texts are the same.";
  return `${added} ${added === 1 ? "line is" : "lines are"} new, ${removed} ${removed === 1 ? "is" : "are"} gone.`;
}

/** The difference as it is read: what differs, with some lines around it. */
export function differenceView(lines, label) {
  const isNear = (index) => lines.slice(Math.max(0, index - context), index + context + 1).some(({ sign }) => sign !== " ");
  const rows = [];
  let skipped = 0;
  const skip = () => {
    if (skipped) rows.push(el("div", { class: "skipped" }, `${skipped} equal ${skipped === 1 ? "line" : "lines"}`));
    skipped = 0;
  };
  const kinds = { "+": "added-line", "-": "removed-line", " ": "" };
  lines.forEach((line, index) => {
    if (!isNear(index)) return (skipped += 1);
    skip();
    rows.push(el("div", { class: kinds[line.sign] }, el("span", { class: "line-number" }, `${line.now ?? line.old}`), `${line.sign} ${line.text}`));
  });
  skip();
  return el("pre", { class: "difference", tabindex: "0", role: "group", "aria-label": label }, rows);
}
