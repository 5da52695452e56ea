// What the server says of itself: its metrics, its state, and the last hour.

import { getJSON, send } from "./server.js";

/** Metrics as Prometheus reads them: `{name: {type, help, series: [{labels, value}]}}`; what belongs to a histogram stands under its name. */
export function parse(text) {
  const found = new Map();
  const family = (name) => {
    if (!found.has(name)) found.set(name, { type: "", help: "", series: [] });
    return found.get(name);
  };
  for (const line of text.split("\n")) {
    const [, what, about, words] = line.match(/^# (HELP|TYPE) (\S+) (.*)$/) ?? [];
    if (what) family(about)[what.toLowerCase()] = words.replaceAll("\\n", " ").replaceAll("\\\\", "\\");
    const [, name, labels = "", value] = line.match(/^([a-z_]+)(\{.*\})? (\S+)$/) ?? [];
    if (!name) continue;
    const [, base, part] = name.match(/^(.*)_(bucket|sum|count)$/) ?? [];
    const isPart = base && found.get(base)?.type === "histogram";
    family(isPart ? base : name).series.push({
      part: isPart ? part : null,
      labels: Object.fromEntries([...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, each]) => [key, each.replaceAll("\\\"", "\"")])),
      value: value === "+Inf" ? Infinity : Number(value),
    });
  }
  return found;
}

export const metrics = async () => parse(await (await send("GET", "/.metrics")).text());

export const state = () => getJSON("/.inspect/state.json");

/** The samples of the last hour, the oldest first, each an object by the names that the server gives; `span` in milliseconds. */
export async function lastHour() {
  const { every, limit, names, samples } = await getJSON("/.inspect/history.json");
  return { every, span: every * limit * 1000, samples: samples.map((sample) => Object.fromEntries(names.map((name, index) => [name, sample[index]]))) };
}

/** A time in seconds, as short as it can be said. */
export function seconds(value) {
  if (value === 0) return "0";
  if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
  if (value < 1) return `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
  return `${value.toFixed(value < 10 ? 1 : 0)} s`;
}

/** Calls `look` now and then every `pause` milliseconds, one call at a time, until `stop`. */
export class Repeated {
  #timer = 0;
  #turn = 0;
  #look;
  #pause;

  constructor(look, pause) {
    this.#look = look;
    this.#pause = pause;
  }

  async start() {
    this.stop();
    const turn = this.#turn;
    await this.#look();
    if (turn === this.#turn) this.#timer = setTimeout(() => this.start(), this.#pause);
  }

  stop() {
    this.#turn += 1;
    clearTimeout(this.#timer);
  }
}
