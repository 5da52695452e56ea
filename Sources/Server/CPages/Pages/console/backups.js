// The page of backups: one is made by a download, and one that was made is verified.

import { el, fill, notice } from "./dom.js";
import { lines } from "./parts.js";
import { getJSON, sendFile } from "./server.js";
import { download, withProgress } from "./transfer.js";
import { bytes } from "./values.js";

export class BackupsPage {
  #made = el("p", { role: "status" });
  #result = el("div", { role: "status" });
  #file = el("input", { id: "backup-file", type: "file" });
  #lines = el("div");

  constructor() {
    this.element = el(
      "section",
      { class: "page", "aria-label": "Backups" },
      el("h1", {}, "Backups"),
      el("p", { class: "hint" }, "The server keeps no backups itself: one is made by a download here, or by hearth backup. It holds all databases, their rules, settings and accounts as of one moment; the server goes on meanwhile."),
      el("h2", {}, "Make one now"),
      el("div", { class: "bar" }, el("button", { type: "button", class: "primary", "data-changes": true, onclick: () => this.#make() }, "Download a backup"), this.#made),
      el("h2", {}, "Verify one"),
      el("form", { class: "bar", onsubmit: (event) => this.#verify(event) }, el("label", { for: "backup-file", class: "unseen" }, "The backup to verify"), this.#file, el("button", { type: "submit" }, "Verify")),
      el("p", { class: "hint" }, "The file is sent to the server, which reads it to its last node, as a restore would, and keeps nothing of it. One of more than --max-body is for hearth backup --verify."),
      this.#result,
      el("h2", {}, "On the command line"),
      this.#lines,
    );
  }

  async show() {
    // The folder as the server knows it, for who copies a line.
    const { settings } = await getJSON("/.inspect/settings.json").catch(() => ({ settings: [] }));
    const folder = settings.find(({ name }) => name === "data-dir")?.value ?? "hearth-data";
    const secret = settings.find(({ name }) => name === "admin-secret-file")?.value ?? `${folder}/admin-secret`;
    fill(this.#lines, [lines([
      ["a backup, verified", `hearth backup --url ${location.origin} --admin-secret-file ${secret} monday.backup`],
      ["verify one that is there", "hearth backup --verify monday.backup"],
      ["make a data folder of it, then start a server on it", "hearth restore monday.backup --data-dir hearth-data"],
    ])]);
  }

  close() {}

  async #make() {
    const name = `hearth-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.backup`;
    try {
      const size = await download("Download a backup", "/.backup", {}, name, "application/octet-stream");
      this.#made.textContent = `${name}, ${bytes(size)}, is with your downloads. Verify it before you rely on it.`;
    } catch (refusal) {
      notice(`No backup: ${refusal.message}`, true);
    }
  }

  async #verify(event) {
    event.preventDefault();
    const [file] = this.#file.files;
    fill(this.#result, []);
    if (!file) {
      notice("Choose a file first.", true);
      return;
    }
    try {
      const answer = await withProgress(`Verify ${file.name}`, (report, signal) => sendFile("/.inspect/backup_check.json", {}, file, { method: "POST", report, signal }));
      const { isGood, text } = JSON.parse(answer.text);
      fill(this.#result, [el("p", { class: isGood ? "good" : "problem" }, isGood ? `✓ ${file.name} is whole` : `✕ ${file.name} is no backup to rely on`), el("pre", {}, text)]);
    } catch (refusal) {
      notice(`Not verified: ${refusal.message}`, true);
    }
  }
}
