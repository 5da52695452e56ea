// Whole nodes, read and written as the text of their JSON: a number that the browser cannot hold comes back as it was.

import { Refusal } from "./hearth.js";
import { address, send } from "./server.js";

const tagged = { "X-Firebase-ETag": "true" };

export class Nodes {
  #database;

  constructor(database) {
    this.#database = database;
  }

  /** What is at a path, priorities included: `{text, etag}`. */
  async read(path) {
    const response = await send("GET", address(path), { query: this.#query({ format: "export" }), headers: tagged });
    return { text: await response.text(), etag: response.headers.get("ETag") };
  }

  /** How large it is, without reading it: `{children, bytes}`. */
  async size(path) {
    return (await send("GET", "/.inspect/size.json", { query: this.#query({ path: `/${path}` }) })).json();
  }

  /**
   * Writes a text, "null" to remove, with an `etag` only over what has it still. Gives the new tag.
   * Throws a `Refusal`: "etag_mismatch" when another client has written, with `reply.text` and `reply.etag` as it is now.
   */
  async write(path, text, etag = null) {
    const headers = { ...tagged, ...(etag && { "If-Match": etag }) };
    const request = { query: this.#query(), headers, ...(text !== "null" && { body: text }) };
    try {
      const response = await send(text === "null" ? "DELETE" : "PUT", address(path), request);
      return response.headers.get("ETag");
    } catch (refusal) {
      if (refusal.status !== 412) throw refusal;
      throw new Refusal("etag_mismatch", "another client has written there meanwhile", await this.read(path));
    }
  }

  /** Writes the text to one path and removes another, both at once. */
  async move(from, to, text) {
    const body = `{${JSON.stringify(to)}:${text},${JSON.stringify(from)}:null}`;
    await send("PATCH", "/.json", { query: this.#query({ print: "silent" }), body });
  }

  #query(more = {}) {
    return { ns: this.#database, ...more };
  }
}

/** The leaf that a text of JSON holds: `{text, priority}`, each as JSON; nothing where it is a map. */
export function leafOf(text) {
  const value = JSON.parse(text);
  if (value === null || typeof value !== "object") return { text, priority: null };
  if (!(".value" in value)) return null;
  // The server writes members in this order, and without blanks.
  const start = '{".value":'.length;
  const end = text.lastIndexOf(',".priority":');
  return { text: text.slice(start, end), priority: text.slice(end + ',".priority":'.length, -1) };
}

/** A leaf with a priority, both as JSON. */
export const leafWith = (text, priority) => (priority === null ? text : `{".value":${text},".priority":${priority}}`);
