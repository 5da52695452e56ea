// The page of files: the buckets as folders, one file looked at, and files that come and go.

import { el, fill, notice } from "./dom.js";
import { ask, attempt, confirmed, copy, lines, menuButton, secondText } from "./parts.js";
import { getJSON, send, sendFile } from "./server.js";
import { download, withProgress } from "./transfer.js";
import { bytes, number, shown } from "./values.js";

const pageSize = 200;
/** Bytes of a text that are shown. */
const previewBytes = 64 * 1024;
/** Files that are deleted at the same time. */
const deletesAtOnce = 8;
const settable = ["contentType", "cacheControl", "contentDisposition", "contentEncoding", "contentLanguage"];
const tokensKey = "firebaseStorageDownloadTokens";

const segment = encodeURIComponent;
const objectsOf = (bucket) => `/storage/v1/b/${segment(bucket)}/o`;
const addressOf = (bucket, name) => `${objectsOf(bucket)}/${segment(name)}`;
const lastOf = (name) => name.replace(/\/$/, "").split("/").at(-1);
const sizeText = (size) => (size < 1000 ? bytes(size) : `${bytes(size)} (${number(size)} bytes)`);
const folderText = (name) => shown(name) || "(without a name)";
const tokensOf = ({ metadata = {} }) => (metadata[tokensKey] ?? "").split(",").filter(Boolean);

export class FilesPage {
  #shell;
  #pick = el("select", { "aria-label": "Bucket", onchange: () => this.#go(this.#pick.value, "") });
  #crumbs = el("nav", { class: "crumbs grow", "aria-label": "Folder" });
  #rows = el("tbody");
  #table = el("div", { class: "wide drop" }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, ["Name", "Size", "Type", "Changed"].map((head) => el("th", { scope: "col", class: head === "Size" ? "number" : null }, head)))), this.#rows));
  #empty = el("div", { class: "empty teach", hidden: true });
  #pager = el("div", { class: "bar" });
  #detail = el("aside", { class: "inspector chosen", "aria-label": "The chosen file", hidden: true });
  #input = el("input", { type: "file", multiple: true, hidden: true, onchange: () => this.#upload([...this.#input.files]) });
  #bucket = "";
  #prefix = "";
  #chosen = null;
  #turn = 0;
  #listed = null;

  constructor(shell) {
    this.#shell = shell;
    const more = menuButton("More", () => [
      ["Add folder …", () => this.#makeFolder()],
      ["Delete this folder …", () => this.#deleteFolder(this.#prefix), true],
      ["Copy the folder's address", () => copy(`gs://${this.#bucket}/${this.#prefix}`)],
    ]);
    const part = el(
      "div",
      { class: "main-part" },
      el(
        "div",
        { class: "bar" },
        this.#pick, this.#crumbs, this.#input,
        el("button", { type: "button", onclick: () => this.#list() }, "Look again"),
        el("button", { type: "button", class: "primary", "data-changes": true, onclick: () => this.#input.click() }, "Upload"), more,
      ),
      this.#empty, this.#table, this.#pager,
    );
    part.addEventListener("dragover", (event) => event.preventDefault());
    part.addEventListener("drop", (event) => {
      event.preventDefault();
      this.#upload([...event.dataTransfer.files]);
    });
    this.element = el("section", { class: "page split", "aria-label": "Files" }, part, this.#detail);
  }

  async show(rest, query) {
    await this.#listBuckets(rest);
    this.#prefix = query.get("in") ?? "";
    this.#chosen = query.get("file");
    if (this.#listed !== `${this.#bucket}/${this.#prefix}`) await this.#list();
    this.#mark();
    await this.#look();
  }

  close() {
    this.#turn += 1;
  }

  /** Goes to a folder, and maybe a file in it. */
  #go(bucket, prefix, file = null) {
    this.#shell.go("files", bucket, { ...(prefix && { in: prefix }), ...(file !== null && { file }) });
  }

  /** The address of a folder. Its name stands whole: a folder may have no name. */
  #folder(prefix) {
    return this.#shell.address("files", this.#bucket, prefix ? { in: prefix } : {});
  }

  // The list

  async #listBuckets(bucket) {
    try {
      const { items = [] } = await getJSON("/storage/v1/b");
      const names = items.map(({ name }) => name);
      if (bucket && !names.includes(bucket)) names.push(bucket);
      fill(this.#pick, names.map((name) => el("option", { selected: name === bucket }, name)));
      this.#pick.disabled = names.length === 0;
      this.#bucket = bucket || (names[0] ?? "");
    } catch (refusal) {
      notice(`Could not list the buckets: ${refusal.message}`, true);
    }
  }

  async #list(pageToken = null) {
    const turn = (this.#turn += 1);
    this.#drawCrumbs();
    if (!this.#bucket) return this.#teach([], null);
    try {
      const { items = [], prefixes = [], nextPageToken } = await getJSON(objectsOf(this.#bucket), {
        prefix: this.#prefix, delimiter: "/", maxResults: pageSize, ...(pageToken && { pageToken }),
      });
      if (turn !== this.#turn) return;
      this.#listed = `${this.#bucket}/${this.#prefix}`;
      // A folder that was made by hand is a file of its own name.
      const rows = [...prefixes.map((prefix) => this.#folderRow(prefix)), ...items.filter(({ name }) => name !== this.#prefix).map((item) => this.#fileRow(item))];
      fill(this.#rows, [...(pageToken ? this.#rows.children : []), ...rows]);
      fill(this.#pager, nextPageToken ? [el("button", { type: "button", onclick: () => this.#list(nextPageToken) }, `Show ${number(pageSize)} more`)] : []);
      this.#teach(this.#rows.children, null);
      this.#mark();
    } catch (refusal) {
      if (turn === this.#turn) this.#teach([], refusal.message);
    }
  }

  #drawCrumbs() {
    const folders = this.#prefix.split("/").slice(0, -1);
    const steps = folders.map((folder, index) => [folderText(folder), folders.slice(0, index + 1).map((each) => `${each}/`).join("")]);
    fill(this.#crumbs, [["all", ""], ...steps].map(([words, prefix], index) => [
      index ? el("span", { class: "quiet" }, " / ") : null,
      el("a", { href: this.#folder(prefix), "aria-current": index === steps.length ? "page" : null }, words),
    ]).flat());
  }

  #folderRow(prefix) {
    return el("tr", {}, el("th", { scope: "row" }, el("a", { href: this.#folder(prefix) }, `${folderText(lastOf(prefix))}/`)), el("td"), el("td", { class: "quiet" }, "folder"), el("td"));
  }

  #fileRow({ name, size, contentType = "", updated }) {
    return el(
      "tr",
      { "data-name": name },
      el("th", { scope: "row" }, el("button", { type: "button", class: "plain", onclick: () => this.#go(this.#bucket, this.#prefix, name) }, shown(lastOf(name)))),
      el("td", { class: "number" }, bytes(Number(size))), el("td", {}, shown(contentType)), el("td", {}, el("time", {}, secondText(Date.parse(updated)))),
    );
  }

  #mark() {
    for (const row of this.#rows.children) row.ariaSelected = row.dataset.name !== undefined && row.dataset.name === this.#chosen ? "true" : null;
  }

  #teach(rows, problem) {
    this.#empty.hidden = rows.length > 0;
    this.#table.hidden = rows.length === 0;
    if (rows.length > 0) return;
    fill(this.#rows, []);
    const bucket = this.#bucket || "demo.appspot.com";
    const objects = `${location.origin}/upload/storage/v1/b/${bucket}/o`;
    fill(this.#empty, problem ? [el("p", { class: "problem" }, problem)] : [
      el("h2", {}, this.#prefix ? "Nothing in this folder" : "No files yet"),
      el("p", {}, "Drop files here, or send one as an app does. Rules of files decide what apps may do; this page is not asked."),
      lines([
        ["curl", `curl -H 'Content-Type: text/plain' --data 'hello' '${objects}?uploadType=media&name=${segment(`${this.#prefix}hello.txt`)}'`],
        ["JavaScript", `uploadBytes(ref(getStorage(app, "gs://${bucket}"), ${JSON.stringify(`${this.#prefix}hello.txt`)}), file)`],
      ]),
    ]);
  }

  // Files that come and go

  async #upload(files) {
    this.#input.value = "";
    if (files.length === 0) return;
    if (!this.#bucket) return notice("There is no bucket to send it to.", true);
    let done = 0;
    try {
      for (const file of files) {
        const title = files.length > 1 ? `Upload ${file.name} (${done + 1} of ${files.length})` : `Upload ${file.name}`;
        await withProgress(title, (report, signal) => sendFile(`/upload/storage/v1/b/${segment(this.#bucket)}/o`, { uploadType: "media", name: this.#prefix + file.name }, file, { method: "POST", report, signal }));
        done += 1;
      }
      notice(files.length === 1 ? `Uploaded ${shown(files[0].name)}` : `Uploaded ${number(done)} files`);
    } catch (refusal) {
      notice(`${done ? `Uploaded ${number(done)} of ${number(files.length)}, then` : "Not uploaded:"} ${refusal.message}`, true);
    }
    await this.#list();
  }

  async #makeFolder() {
    const answer = await ask("Add a folder", [{ name: "name", label: "Name", hint: "A folder is there while a file is in it; this one opens, and what you upload makes it.", check: (text) => (!text.trim() ? "Write a name." : text.includes("/") ? "One folder at a time." : null) }], "Open");
    if (answer) this.#go(this.#bucket, `${this.#prefix}${answer.name.trim()}/`);
  }

  /** Deletes everything below a prefix, counted first. */
  async #deleteFolder(prefix) {
    const names = [];
    try {
      await withProgress(`Count what is below ${shown(prefix) || "the bucket"}`, async (report, signal) => {
        let pageToken = null;
        do {
          const { items = [], nextPageToken } = await (await send("GET", objectsOf(this.#bucket), { query: { prefix, maxResults: 1000, ...(pageToken && { pageToken }) }, signal })).json();
          names.push(...items.map(({ name }) => name));
          pageToken = nextPageToken;
        } while (pageToken);
      });
    } catch (refusal) {
      return notice(`Not counted: ${refusal.message}`, true);
    }
    if (names.length === 0) return notice("There is nothing to delete.");
    const whole = `gs://${this.#bucket}/${shown(prefix)}`;
    if (!(await confirmed(`Delete ${number(names.length)} file${names.length === 1 ? "" : "s"}?`, `All of ${whole} is deleted. This cannot be taken back.`, "Delete"))) return;
    let done = 0;
    try {
      await withProgress(`Delete ${whole}`, async (report, signal) => {
        const rest = names[Symbol.iterator]();
        const work = async () => {
          for (const name of rest) {
            if (signal.aborted) return;
            await send("DELETE", addressOf(this.#bucket, name), { signal }).catch((refusal) => {
              // Another one was faster.
              if (refusal.status !== 404) throw refusal;
            });
            done += 1;
          }
        };
        await Promise.all(Array.from({ length: deletesAtOnce }, work));
      });
      notice(`Deleted ${number(done)} file${done === 1 ? "" : "s"}`);
    } catch (refusal) {
      notice(`Deleted ${number(done)} of ${number(names.length)}, then: ${refusal.message}`, true);
    }
    await this.#list();
  }

  // One file

  async #look() {
    const [name, bucket, turn] = [this.#chosen, this.#bucket, this.#turn];
    this.#detail.hidden = name === null;
    if (name === null) return;
    try {
      const object = await getJSON(addressOf(bucket, name));
      if (turn === this.#turn && name === this.#chosen) this.#draw(object);
    } catch (refusal) {
      fill(this.#detail, [this.#head(name), el("p", { class: "problem" }, refusal.message)]);
    }
  }

  #head(name) {
    return el("div", { class: "bar" }, el("h2", { class: "grow" }, shown(lastOf(name))), el("button", { type: "button", "aria-label": "Close", onclick: () => this.#go(this.#bucket, this.#prefix) }, "✕"));
  }

  #draw(object) {
    const { name, size, contentType, updated, timeCreated, md5Hash, generation, metageneration, metadata = {} } = object;
    const preview = el("div", { class: "preview" });
    this.#preview(preview, object);
    const facts = [
      ["Path", name], ["Size", sizeText(Number(size))], ["Type", contentType ?? ""],
      ["Made", secondText(Date.parse(timeCreated))], ["Changed", secondText(Date.parse(updated))],
      ...settable.slice(1).filter((field) => object[field]).map((field) => [field, object[field]]),
      ["MD5", md5Hash ?? "none"], ["Generation", `${generation}, change ${metageneration}`],
    ];
    const own = Object.entries(metadata).filter(([key]) => key !== tokensKey);
    const tokens = tokensOf(object);
    fill(this.#detail, [
      this.#head(name), preview,
      el("div", { class: "buttons" },
        el("button", { type: "button", onclick: () => this.#download(object) }, "Download"),
        el("button", { type: "button", "data-changes": true, onclick: () => this.#change(object) }, "Change …"),
        el("button", { type: "button", class: "danger", "data-changes": true, onclick: () => this.#delete(name) }, "Delete")),
      el("dl", { class: "facts" }, facts.map(([word, text]) => [el("dt", {}, word), el("dd", { class: "mono" }, shown(String(text)))]).flat()),
      el("h3", {}, "Own metadata"),
      own.length ? el("dl", { class: "facts" }, own.map(([key, text]) => [el("dt", {}, shown(key)), el("dd", { class: "mono" }, shown(text))]).flat()) : el("p", { class: "quiet" }, "None."),
      el("h3", {}, "Download links"),
      el("p", { class: "hint" }, "Who has a link gets the file, whatever the rules say, until its token is taken away."),
      el("ul", {}, tokens.map((token) => el("li", { class: "bar" }, el("span", { class: "mono grow" }, `${token.slice(0, 8)}…`),
        el("button", { type: "button", class: "small", onclick: () => copy(this.#link(name, token)) }, "Copy link"),
        el("button", { type: "button", class: "small", "data-changes": true, "aria-label": `Take away the token ${token.slice(0, 8)}`, onclick: () => this.#token(name, { delete_token: token }) }, "Take away")))),
      el("div", { class: "bar" }, el("button", { type: "button", class: "small", "data-changes": true, onclick: () => this.#token(name, { create_token: "true" }) }, "New link")),
    ]);
  }

  #link(name, token) {
    return `${location.origin}/v0/b/${segment(this.#bucket)}/o/${segment(name)}?alt=media&token=${token}`;
  }

  /** Shows what a browser can show without running any of it. */
  async #preview(place, { name, contentType = "", size }) {
    const source = `${addressOf(this.#bucket, name)}?alt=media`;
    const missing = () => fill(place, [el("p", { class: "quiet" }, "The browser cannot show it.")]);
    if (/^image\//.test(contentType)) fill(place, [el("img", { src: source, alt: `The picture ${lastOf(name)}`, onerror: missing })]);
    else if (/^(audio|video)\//.test(contentType)) fill(place, [el(contentType.split("/")[0] === "audio" ? "audio" : "video", { src: source, controls: true, preload: "metadata", onerror: missing })]);
    else if (/^text\/|json|javascript|xml/.test(contentType) && Number(size) > 0) {
      try {
        const response = await send("GET", addressOf(this.#bucket, name), { query: { alt: "media" }, headers: { Range: `bytes=0-${previewBytes - 1}` } });
        const text = await response.text();
        fill(place, [el("pre", { class: "explanation", tabindex: "0", "aria-label": "The beginning of the text" }, text), Number(size) > previewBytes ? el("p", { class: "quiet" }, `The first ${bytes(previewBytes)}.`) : null]);
      } catch (refusal) {
        fill(place, [el("p", { class: "problem" }, refusal.message)]);
      }
    }
  }

  async #download({ name, contentType }) {
    try {
      await download(`Download ${lastOf(name)}`, addressOf(this.#bucket, name), { alt: "media" }, lastOf(name), contentType);
    } catch (refusal) {
      notice(`Not downloaded: ${refusal.message}`, true);
    }
  }

  async #change(object) {
    const own = Object.fromEntries(Object.entries(object.metadata ?? {}).filter(([key]) => key !== tokensKey));
    const fields = settable.map((field) => ({ name: field, label: field, value: object[field] ?? "" }));
    const isMap = (text) => {
      try {
        const map = JSON.parse(text || "{}");
        return Object.values(map).every((value) => typeof value === "string") && !Array.isArray(map) ? null : "An object whose values are texts.";
      } catch (error) {
        return `This is no JSON: ${error.message}`;
      }
    };
    const answer = await ask(`Change ${lastOf(object.name)}`, [...fields, { name: "metadata", label: "Own metadata, as JSON", value: JSON.stringify(own, null, 1), isLong: true, check: isMap }], "Change");
    if (!answer) return;
    const map = JSON.parse(answer.metadata || "{}");
    const gone = Object.keys(own).filter((key) => !(key in map)).map((key) => [key, null]);
    const body = { ...Object.fromEntries(settable.map((field) => [field, answer[field] || null])), metadata: { ...map, ...Object.fromEntries(gone) } };
    await attempt(() => send("PATCH", addressOf(this.#bucket, object.name), { query: { ifMetagenerationMatch: object.metageneration }, body, headers: { "Content-Type": "application/json" } }), "Changed");
    await this.#list();
    await this.#look();
  }

  async #token(name, query) {
    await attempt(() => send("POST", `/v0/b/${segment(this.#bucket)}/o/${segment(name)}`, { query }), "delete_token" in query ? "The link leads nowhere any more" : "There is a new link");
    await this.#look();
  }

  async #delete(name) {
    if (!(await confirmed(`Delete ${shown(lastOf(name))}?`, "Its links lead nowhere then. This cannot be taken back.", "Delete"))) return;
    await attempt(() => send("DELETE", addressOf(this.#bucket, name)), `Deleted ${shown(lastOf(name))}`);
    this.#listed = null;
    this.#go(this.#bucket, this.#prefix);
  }
}
