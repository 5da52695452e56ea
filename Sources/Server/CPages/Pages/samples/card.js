// Cards: a few words on a colour, drawn as an SVG that is short enough to be the address of a post's picture.

export const addressLimit = 2000;
export const cardSize = { width: 600, height: 400 };

/** Colours of cards, by name; white words on each have a contrast of 4.5 and more. */
export const cardHues = {
  Clay: "#9a4a2a",
  Forest: "#2c6a4f",
  Sea: "#23628a",
  Plum: "#7a3f77",
  Slate: "#4d5a68",
  Ink: "#2b2a33",
};

const entities = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };
const escaped = (text) => text.replace(/[&<>"']/g, (sign) => entities[sign]);
const unescaped = (text) =>
  text.replace(/&(amp|lt|gt|quot|apos);/g, (entity) =>
    Object.keys(entities).find((sign) => entities[sign] === entity));

/** Lines of at most `width` characters, broken between words where there are some. */
export function lines(text, width) {
  const out = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (const word of paragraph.split(/\s+/)) {
      let rest = [...word];
      if (line && [...line].length + 1 + rest.length > width) {
        out.push(line);
        line = "";
      }
      while (rest.length > width) {
        out.push(rest.slice(0, width).join(""));
        rest = rest.slice(width);
      }
      line = line ? `${line} ${rest.join("")}` : rest.join("");
    }
    out.push(line);
  }
  return out;
}

/** The address of a card as a picture; null when it would be too long for a post. */
export function cardAddress(text, color) {
  const size = text.length > 60 ? 34 : text.length > 20 ? 46 : 64;
  const width = Math.floor(1000 / size);
  const rows = lines(text.trim(), width);
  const top = cardSize.height / 2 - ((rows.length - 1) * size * 1.25) / 2;
  const spans = rows
    .map((row, index) => `<text x='300' y='${Math.round(top + index * size * 1.25)}'>${escaped(row)}</text>`)
    .join("");
  const svg =
    `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 600 400'><title>${escaped(text.trim())}</title>` +
    `<rect width='600' height='400' fill='${color}'/><g fill='#fff' font-family='Georgia,serif' font-size='${size}' ` +
    `text-anchor='middle' dominant-baseline='middle'>${spans}</g></svg>`;
  const plain = `data:image/svg+xml,${svg.replace(/[%#<>"\s]|[^\x20-\x7e]/gu, (sign) => encodeURIComponent(sign))}`;
  const packed = `data:image/svg+xml;base64,${btoa(String.fromCharCode(...new TextEncoder().encode(svg)))}`;
  const shorter = plain.length < packed.length ? plain : packed;
  return shorter.length <= addressLimit ? shorter : null;
}

/** The words on a card, to be read out; null for any other picture. */
export function cardWords(address) {
  try {
    const [head, ...rest] = address.split(",");
    if (!head.startsWith("data:image/svg+xml")) return null;
    const body = rest.join(",");
    const bytes = head.endsWith(";base64") ? Uint8Array.from(atob(body), (sign) => sign.charCodeAt(0)) : null;
    const svg = bytes ? new TextDecoder().decode(bytes) : decodeURIComponent(body);
    const title = /<title>([^<]*)<\/title>/.exec(svg);
    return title ? unescaped(title[1]) : null;
  } catch {
    return null;
  }
}

/** Whether an address is one of a picture that a page loads. */
export function isPictureAddress(address) {
  if (typeof address !== "string" || address.length > addressLimit) return false;
  return /^(https?:\/\/|data:image\/)/i.test(address);
}
