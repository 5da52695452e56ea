// Values on their way to and from files, with how far they are and a way to stop.

import { el } from "./dom.js";
import { Refusal } from "./hearth.js";
import { opened } from "./parts.js";
import { send, sendFile } from "./server.js";
import { bytes } from "./values.js";

/** Shows a dialog while `work(report, signal)` runs; `report(done, all)` are bytes, `all` null where it is not known. */
export async function withProgress(title, work) {
  const bar = el("progress", { "aria-label": title });
  const words = el("p", { class: "quiet" }, "Beginning …");
  const stop = new AbortController();
  const { dialog } = opened([
    el("h2", { id: "dialog-title" }, title), bar, words,
    el("div", { class: "buttons" }, el("button", { type: "button", onclick: () => dialog.close() }, "Stop")),
  ]);
  dialog.addEventListener("close", () => stop.abort());
  try {
    return await work((done, all) => {
      if (all) [bar.max, bar.value] = [all, done];
      words.textContent = all ? `${bytes(done)} of ${bytes(all)}` : bytes(done);
    }, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) throw new Refusal("stopped", "it was stopped");
    throw error;
  } finally {
    dialog.close();
  }
}

/** Saves what an address answers with as a file; gives its bytes. */
export function download(title, path, query, name, type = "application/json") {
  return withProgress(title, async (report, signal) => {
    const response = await send("GET", path, { query, signal });
    const all = Number(response.headers.get("Content-Length")) || null;
    const pieces = [];
    let done = 0;
    for await (const piece of response.body) {
      pieces.push(piece);
      report((done += piece.length), all);
    }
    save(new Blob(pieces, { type }), name);
    return done;
  });
}

/** Sends a file as the body of a PUT, with an `etag` only over what has it still; gives the new tag then. */
export function upload(title, path, query, file, etag) {
  return withProgress(title, async (report, signal) => (await sendFile(path, query, file, { etag, report, signal })).etag);
}

/** Gives a person a file. */
export function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  // Not before the browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
