// Addresses and phone numbers in what people say, as links. Tests/Clients/links.json has examples, and the Swift
// library finds the same ones.

import { el } from "./dom.js";

const brackets = { ")": "(", "]": "[", "}": "{" };
const count = (text, sign) => text.split(sign).length - 1;

/** The links in a text in their order: `{start, end, address}`. */
export function textLinks(text) {
  const links = [];
  for (const { 0: word, index } of text.matchAll(/[^\s<>"]+/gu)) {
    const [start, end] = trimmed(word);
    const address = page(word.slice(start, end)) ?? email(word.slice(start, end));
    if (address) links.push({ start: index + start, end: index + end, address });
  }
  const numbers = [];
  let from = 0;
  for (const next of [...links, { start: text.length, end: text.length }]) {
    numbers.push(...phones(text, from, next.start));
    from = next.end;
  }
  return [...links, ...numbers].sort((one, other) => one.start - other.start);
}

/** The nodes of a text: texts, and anchors that lead nowhere but to a page, a mail program or a telephone. */
export function linked(text) {
  const nodes = [];
  let from = 0;
  for (const { start, end, address } of textLinks(text)) {
    nodes.push(text.slice(from, start));
    const isPage = /^https?:/.test(address);
    nodes.push(el("a", {
      href: address,
      "data-focus": address,
      rel: "noopener noreferrer",
      target: isPage && "_blank",
    }, text.slice(start, end)));
    from = end;
  }
  return [...nodes, text.slice(from)].filter((node) => node !== "");
}

/** A word without the punctuation of the sentence around it: from where to where. */
function trimmed(word) {
  const start = /^[([{'«„“‚‘*_`,;]*/u.exec(word)[0].length;
  let end = word.length;
  while (end > start) {
    const last = word[end - 1];
    const left = word.slice(start, end);
    if (brackets[last] ? count(left, last) <= count(left, brackets[last]) : !".,;:!?'»“”’…*_`".includes(last)) break;
    end -= 1;
  }
  return [start, end];
}

const isHost = (labels) => labels.every((label) => /^(?!-)[\p{L}\p{M}0-9_-]+$(?<!-)/u.test(label));

function page(word) {
  const scheme = /^https?:\/\//i.exec(word)?.[0];
  if (!scheme && !/^www\./i.test(word)) return null;
  const rest = word.slice(scheme?.length ?? 0);
  const [, host, port] = /^([^/?#:]*)([^/?#]*)/u.exec(rest);
  const labels = host.split(".");
  if ((!scheme && labels.length < 3) || !isHost(labels) || !/^(:[0-9]+)?$/.test(port)) return null;
  return (scheme?.toLowerCase() ?? "https://") + encoded(rest);
}

function email(word) {
  const [name, host, ...more] = word.replace(/^mailto:/i, "").split("@");
  if (more.length || host === undefined || !/^(?!\.)[A-Za-z0-9._%+-]+$(?<!\.)/.test(name)) return null;
  const labels = host.split(".");
  const isThere = labels.length > 1 && /^[\x00-\x7f]*$/.test(host) && isHost(labels) && /^[A-Za-z]{2,}$/.test(labels.at(-1));
  return isThere ? `mailto:${name}@${host}` : null;
}

/** Everything but printable ASCII, and what ends an address in a text, as % and two digits. */
function encoded(text) {
  return [...new TextEncoder().encode(text)].map((byte) => {
    const sign = String.fromCharCode(byte);
    const isPlain = byte > 0x20 && byte < 0x7f && !"\\^`{|}".includes(sign);
    return isPlain ? sign : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

function phones(text, start, end) {
  const links = [];
  let isFree = true;
  for (let index = start; index < end; ) {
    const found = isFree ? phone(text.slice(index, end)) : null;
    if (found) {
      links.push({ start: index, end: index + found.length, address: found.address });
      index += found.length;
      isFree = false;
    } else {
      isFree = /[\s([:]/u.test(text[index]);
      index += 1;
    }
  }
  return links;
}

/** The number with which a text begins, and its address; null when it begins with none. */
function phone(text) {
  const first = /^\(?([+0])/.exec(text)?.[1];
  if (!first) return null;
  const separators = first === "+" ? " ()/-." : " ()/-";
  let [length, digits, last] = [0, "", " "];
  for (let index = 0; index < text.length; index += 1) {
    const sign = text[index];
    if (/[0-9]/.test(sign)) {
      digits += sign;
      length = index + 1;
    } else if (sign === "+" ? digits : !separators.includes(sign) || sign === last) {
      break;
    }
    last = sign;
  }
  if (/^[\p{L}@_]/u.test(text.slice(length))) return null;
  const [least, most] = first === "+" ? [7, 15] : [9, 15];
  if (digits.length < least || digits.length > most) return null;
  // +43 (0)1 2345: the 0 is for those in the country.
  const shown = first === "+" ? text.slice(0, length).replace("(0)", "") : text.slice(0, length);
  return { length, address: `tel:${first === "+" ? "+" : ""}${shown.replace(/[^0-9]/g, "")}` };
}
