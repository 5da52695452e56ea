// Requests to this server as its administrator.

import { Refusal } from "./hearth.js";

/** In development the word that stands for an administrator on this machine. */
const token = "owner";

export const credentials = { token: async () => token, expiresAt: Infinity };

/** The address of a node, each key percent-encoded. */
export const address = (path) =>
  `${path.split("/").filter(Boolean).map((key) => `/${encodeURIComponent(key)}`).join("") || "/"}.json`;

/**
 * Sends a request; `query` is an object, `body` a text or something that becomes JSON. Gives the `Response` of a success.
 * Throws a `Refusal` with the server's words and `status`.
 */
export async function send(method, path, { query = {}, body, headers = {}, signal } = {}) {
  const search = new URLSearchParams(query).toString();
  let response;
  try {
    response = await fetch(search ? `${path}?${search}` : path, {
      method,
      signal,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { body: typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body) }),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("connection_lost", "The server does not answer.");
  }
  if (response.ok) return response;
  throw refusal(response.status, await response.text());
}

function refusal(status, text) {
  let words = text.trim();
  try {
    const { error } = JSON.parse(text);
    words = typeof error === "string" ? error : error.message;
  } catch {
    // It was no JSON: the text itself says what is wrong.
  }
  const refused = new Refusal(`http_${status}`, words || `The server answered ${status}.`);
  refused.status = status;
  return refused;
}

/**
 * Sends a file, with an `etag` only over what has it still; gives the new tag, if there is one, and the text of the answer. `report(done, all)`
 * says how much of it was sent. Only this way of asking says so.
 */
export function sendFile(path, query, file, { method = "PUT", etag, report, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, `${path}?${new URLSearchParams(query)}`);
    request.setRequestHeader("Authorization", `Bearer ${token}`);
    if (etag) request.setRequestHeader("If-Match", etag);
    request.upload.addEventListener("progress", ({ loaded, total }) => report(loaded, total));
    request.addEventListener("load", () => {
      if (request.status < 300) resolve({ etag: request.getResponseHeader("ETag"), text: request.responseText });
      else reject(refusal(request.status, request.responseText));
    });
    request.addEventListener("error", () => reject(new Refusal("connection_lost", "The server does not answer.")));
    request.addEventListener("abort", () => reject(new Refusal("stopped", "it was stopped")));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

export const getJSON = async (path, query) => (await send("GET", path, { query })).json();
