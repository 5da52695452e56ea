// Values of the tree as people read and write them.

/** The types that a leaf can have, as they are offered for choice. */
export const types = ["text", "number", "true or false", "JSON"];

/** An outline, as the server gives it: a leaf, a cut text, or a map that is counted. */
export function read(outline) {
  let priority = null;
  let value = outline;
  if (value && typeof value === "object" && ".priority" in value) priority = value[".priority"];
  if (value && typeof value === "object" && ".value" in value) value = value[".value"];
  if (value === null || value === undefined) return { kind: "nothing", value: null, priority };
  if (typeof value !== "object") return { kind: "leaf", type: typeOf(value), value, priority };
  if ("count" in value) return { kind: "map", count: value.count, first: value.first ?? {}, priority };
  return { kind: "cut", type: "text", value: value.text, bytes: value.bytes, priority };
}

export const typeOf = (value) =>
  typeof value === "string" ? "text" : typeof value === "number" ? "number"
    : typeof value === "boolean" ? "true or false" : "JSON";

/** Characters that would turn around or hide what stands beside them are shown by their numbers. */
const unseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export const shown = (text) =>
  text.replace(unseen, (sign) =>
    sign === "\n" ? "⏎" : sign === "\t" ? "⇥" : `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** The same of a text of several lines, which stay. */
export const shownLines = (text) => text.split("\n").map(shown).join("\n");

/** The beginning of a text, and no half of a character. */
const fold = (text, length) => (text.length > length ? `${text.slice(0, length).replace(/[\ud800-\udbff]$/, "")}…` : text);

/** Whether a text is rather bytes than words: long, and without a blank, or with many characters that are not seen. */
export function isBinary(value) {
  if (typeof value !== "string" || value.length < 100) return false;
  const start = value.slice(0, 400);
  return /^(data:[\w/+.;=-]+,)?[A-Za-z0-9+/=_-]+$/.test(start) || (start.match(unseen)?.length ?? 0) > start.length / 10;
}

export const byteCount = (text) => new TextEncoder().encode(text).length;

/** Whether the browser may have rounded a number: those beyond 2^53 that the server holds digit by digit. */
export const isRounded = (value) =>
  typeof value === "number" && Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) <= 2 ** 63;

/** A leaf in one line, as JSON has it; a number that may be rounded has a sign before it. */
export function leafText(value, length = 300) {
  if (isRounded(value)) return `≈ ${value}`;
  if (typeof value !== "string") return asJSON(value);
  return `"${shown(fold(value, length))}"`;
}

/** What stands behind the key of a map: its first members, so that a list of records reads like a table. */
export function summary({ first, count }) {
  const parts = Object.entries(first).map(([key, part]) => {
    const member = read(part);
    if (member.kind === "map") return `${shown(key)}: {${number(member.count)}}`;
    return `${shown(key)}: ${leafText(member.value, 40)}${member.kind === "cut" ? "…" : ""}`;
  });
  return parts.join(", ") + (count > parts.length ? ", …" : "");
}

const plain = new Intl.NumberFormat("en");
export const number = (value) => plain.format(value);

export function bytes(count) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  let unit = 0;
  while (count >= 1000 && unit < units.length - 1) [count, unit] = [count / 1000, unit + 1];
  return `${unit ? count.toFixed(count < 10 ? 1 : 0) : count} ${units[unit]}`;
}

const date = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** The date of a number that is likely milliseconds or seconds since 1970, of the years 2001 to 2100; else nothing. */
export function dateOf(value) {
  if (typeof value !== "number") return null;
  for (const scale of [1, 1000]) {
    const time = value * scale;
    if (time > 978_307_200_000 && time < 4_102_444_800_000) return date.format(time);
  }
  return null;
}

/** A leaf as JSON; `JSON.stringify` has no minus before 0. */
export const asJSON = (value) => (Object.is(value, -0) ? "-0" : JSON.stringify(value));

export const hasUnseen = (text) => text.replace(/[\n\t]/g, "").search(unseen) >= 0;

/** A text of JSON in which characters that are not seen stand as escapes. */
export const escaped = (json) => json.replace(unseen, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What a person has typed, as JSON, digit by digit. Throws an `Error` with what is wrong. */
export function jsonOf(text, type) {
  const trimmed = text.trim();
  switch (type) {
    case "text":
      return JSON.stringify(text);
    case "number": {
      const value = Number(trimmed);
      if (!trimmed || !Number.isFinite(value)) throw new Error("A number looks like 12, -0.5 or 1e9.");
      return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed) ? trimmed : asJSON(value);
    }
    case "true or false": {
      const word = trimmed.toLowerCase();
      if (word !== "true" && word !== "false") throw new Error("Write true or false.");
      return word;
    }
    default:
      try {
        JSON.parse(text);
        return trimmed;
      } catch (error) {
        throw new Error(`This is no JSON: ${error.message}`);
      }
  }
}

/** What is wrong with a key; nothing when it is one. */
export function keyFault(key) {
  if (!key) return "A key has at least one character.";
  const bad = key.match(/[.#$/[\]\u0000-\u001f\u007f]/);
  if (bad) return `A key cannot hold ${shown(bad[0]) === bad[0] ? bad[0] : "a control character"}.`;
  const length = byteCount(key);
  return length > 768 ? `A key has at most 768 bytes; this one has ${length}.` : null;
}

const integer = (key) => (/^(0|-?[1-9]\d{0,9})$/.test(key) && Number(key) >= -(2 ** 31) && Number(key) < 2 ** 31 ? Number(key) : null);

/** The order of keys: whole numbers of 32 bits first, by value, then texts. Below 0 when `a` is before `b`. */
export function compareKeys(a, b) {
  const [one, other] = [integer(a), integer(b)];
  if (one !== null && other !== null) return one - other;
  if (one !== null || other !== null) return one === null ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

export const join = (path, key) => (path ? `${path}/${key}` : key);
export const parentOf = (path) => path.split("/").slice(0, -1).join("/");
export const keyOf = (path) => path.split("/").at(-1);
