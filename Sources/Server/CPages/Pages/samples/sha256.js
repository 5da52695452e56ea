// SHA-256 (FIPS 180-4). Browsers have it only on https and localhost, and these pages are opened over plain HTTP as well.

/** The first 32 bits of the fractional parts of a root of the first `count` primes. */
function primeRoots(count, power) {
  const roots = [];
  for (let number = 2; roots.length < count; number += 1) {
    let divisor = 2;
    while (divisor * divisor <= number && number % divisor) divisor += 1;
    if (divisor * divisor > number) roots.push(((number ** power) % 1) * 2 ** 32 | 0);
  }
  return roots;
}

const start = primeRoots(8, 1 / 2);
const rounds = primeRoots(64, 1 / 3);

const turned = (word, bits) => (word >>> bits) | (word << (32 - bits));

/** The text's bytes, a one bit, zeros up to whole blocks of 64 bytes, and the number of bits in the last eight. */
function padded(text) {
  const bytes = new TextEncoder().encode(text);
  const blocks = new DataView(new ArrayBuffer(((bytes.length + 72) >> 6) * 64));
  new Uint8Array(blocks.buffer).set(bytes);
  blocks.setUint8(bytes.length, 0x80);
  blocks.setBigUint64(blocks.byteLength - 8, BigInt(bytes.length) * 8n);
  return blocks;
}

/** The SHA-256 of a text in UTF-8, as 64 hexadecimal digits. */
export function sha256(text) {
  const blocks = padded(text);
  const hash = Int32Array.from(start);
  const words = new Int32Array(64);
  for (let place = 0; place < blocks.byteLength; place += 64) {
    for (let index = 0; index < 64; index += 1) {
      if (index < 16) {
        words[index] = blocks.getInt32(place + index * 4);
        continue;
      }
      const [far, near] = [words[index - 15], words[index - 2]];
      const first = turned(far, 7) ^ turned(far, 18) ^ (far >>> 3);
      const second = turned(near, 17) ^ turned(near, 19) ^ (near >>> 10);
      words[index] = words[index - 16] + first + words[index - 7] + second;
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let index = 0; index < 64; index += 1) {
      const choice = (e & f) ^ (~e & g);
      const majority = (a & b) ^ (a & c) ^ (b & c);
      const first = (h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + choice + rounds[index] + words[index]) | 0;
      const second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + majority;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, index) => { hash[index] += word; });
  }
  return [...hash].map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}
