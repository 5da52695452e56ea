// A leaf while it is edited, in its row or in a dialog. What was typed stays until it is saved or left, whatever others write.

import { el, fill, reason } from "./dom.js";
import { leafOf, leafWith } from "./nodes.js";
import { opened } from "./parts.js";
import { asJSON, escaped, hasUnseen, isRounded, jsonOf, leafText, shown, typeOf, types } from "./values.js";

/** Texts above so many characters have a dialog of their own, and those above so many bytes no field at all. */
const longestLine = 400;
const mostBytes = 500_000;

/** Whether a leaf is better edited in a dialog: a text that is long or has lines. */
export const needsRoom = ({ node }) =>
  node.kind === "cut" || (typeof node.value === "string" && (node.value.length > longestLine || /[\n\r]/.test(node.value)));

/** Whether a text is so large that a field of the browser would hang. */
export const isTooLarge = ({ node }) => node.kind === "cut" && node.bytes > mostBytes;

export class Editor {
  #item;
  #nodes;
  #calls;
  /** As it was when it was last looked at: `{text, etag}`. */
  #loaded = null;
  #ready;
  #first;
  /** The value that the person has seen. */
  #seen;
  /** Whether they have yet to hear that another client has changed it since. */
  #isUnheard = false;
  #isSaving = false;
  #isOver = false;
  #field;
  #type;
  #problem = el("span", { class: "problem", role: "alert" });

  /** `calls` are `leave()`, when the editor is to go, and `saved(text, before, etag)`, of a write that was done. */
  constructor(item, nodes, calls, isLong = false) {
    this.#item = { ...item };
    this.#seen = item.node.value;
    this.#nodes = nodes;
    this.#calls = calls;
    const label = `Value of ${shown(item.key || "/")}`;
    this.#field = isLong
      ? el("textarea", { class: "editor", rows: "12", spellcheck: "false", "aria-label": label })
      : el("input", { class: "editor", spellcheck: "false", autocomplete: "off", "aria-label": label });
    this.#type = el("select", { "aria-label": "Type" }, types.map((name) => el("option", {}, name)));
    const { value } = item.node;
    this.#fill(value === null ? null : asJSON(value));
    // Until it is known whole.
    this.#field.disabled = item.node.kind === "cut" || isRounded(value);
    this.element = el("span", { class: "edit" }, this.#field, this.#type, isLong ? null : el("span", { class: "hint" }, "Enter saves, Escape leaves"), this.#problem);
    this.element.addEventListener("keydown", (event) => this.#press(event, isLong));
    if (!isLong) this.element.addEventListener("focusout", (event) => this.#blur(event));
    this.element.look = (node) => this.#look(node);
    this.#ready = this.#load();
  }

  /** Opens an editor in a dialog. */
  static open(item, nodes, calls) {
    const editor = new Editor(item, nodes, { ...calls, leave: () => dialog.close() }, true);
    const button = (words, work, kind = null) => el("button", { type: "button", class: kind, onclick: work }, words);
    const { dialog, closed } = opened([
      el("h2", { id: "dialog-title" }, `/${shown(item.path)}`), editor.element,
      el("div", { class: "buttons" }, button("Cancel", () => dialog.close()), button("Save", () => editor.save(), "primary")),
    ]);
    dialog.classList.add("wide-dialog");
    editor.#field.focus();
    closed.then(calls.leave);
    return editor;
  }

  /** Shows a leaf, given as JSON, as people type it; nothing for one that is not there. */
  #fill(json) {
    const value = json === null ? null : JSON.parse(json);
    const isText = typeof value === "string";
    // A field for words cannot hold such characters, or would hide them.
    const type = value === null ? this.#item.typeHint ?? "text" : isText && hasUnseen(value) ? "JSON" : typeOf(value);
    const text = value === null ? "" : type === "text" ? value : isText ? escaped(json) : json;
    if (this.#field.value !== text) this.#field.value = text;
    this.#type.value = type;
    this.#first = { text: this.#field.value, type };
  }

  get #isTouched() {
    return this.#field.value !== this.#first.text || this.#type.value !== this.#first.type;
  }

  async #load() {
    try {
      this.#loaded = await this.#nodes.read(this.#item.path);
    } catch (refusal) {
      this.#say(`Could not read it: ${reason(refusal)}.`);
      return;
    }
    const leaf = leafOf(this.#loaded.text);
    if (leaf && !this.#isTouched) this.#fill(leaf.text === "null" ? null : leaf.text);
    else this.#isUnheard = !leaf || asJSON(JSON.parse(leaf.text)) !== asJSON(this.#seen);
    if (!this.#field.disabled) return;
    this.#field.disabled = false;
    this.#field.focus();
  }

  #say(words) {
    fill(this.#problem, [words]);
  }

  /** What stands there now, as the page has heard. */
  #look(node) {
    if (this.#isSaving || JSON.stringify(node) === JSON.stringify(this.#item.node)) return;
    this.#item = { ...this.#item, node };
    const now = node.kind === "nothing" ? "nothing" : node.kind === "map" ? "a map" : leafText(node.value, 80);
    this.#say(`Another client has changed it: it is now ${now}. Enter asks once more, Escape leaves it so.`);
  }

  #press(event, isLong) {
    event.stopPropagation();
    if (event.key === "Escape" && !isLong) this.#leave();
    if (event.key === "Enter" && event.target === this.#field && (!isLong || event.ctrlKey || event.metaKey)) this.save();
  }

  #blur(event) {
    if (this.element.contains(event.relatedTarget) || !this.element.isConnected || this.#field.disabled || this.#isSaving || this.#isOver) return;
    // A page that is left for another window is not left for good.
    if (!document.hasFocus()) return;
    if (this.#isTouched) this.save();
    else this.#leave();
  }

  #leave() {
    // The focus goes with it, which is no reason to save.
    this.#isOver = true;
    this.#calls.leave();
  }

  async save() {
    if (this.#isSaving) return;
    let text;
    try {
      text = jsonOf(this.#field.value, this.#type.value);
    } catch (error) {
      return this.#say(error.message);
    }
    this.#isSaving = true;
    try {
      await this.#ready;
      if (!this.#loaded) this.#ready = this.#load();
      await this.#ready;
      if (this.#isUnheard) this.#askOnceMore();
      else if (this.#loaded) await this.#write(text);
    } finally {
      this.#isSaving = false;
    }
  }

  #askOnceMore() {
    this.#isUnheard = false;
    this.#say(`Another client has written meanwhile: it is now ${shown(this.#loaded.text.slice(0, 80))}. Enter writes yours over it, Escape leaves it so.`);
  }

  async #write(text) {
    const { path } = this.#item;
    const before = this.#loaded;
    const { priority } = leafOf(before.text) ?? { priority: null };
    const whole = text === "null" || text.startsWith("{") || text.startsWith("[") ? text : leafWith(text, priority);
    let etag;
    try {
      etag = await this.#nodes.write(path, whole, before.etag);
    } catch (refusal) {
      if (refusal.code !== "etag_mismatch") return this.#say(`Not saved: ${reason(refusal)}. Enter tries again.`);
      this.#loaded = refusal.reply;
      // An earlier try has arrived whose answer was lost.
      if (refusal.reply.text !== whole) return this.#askOnceMore();
      etag = refusal.reply.etag;
    }
    this.#leave();
    this.#calls.saved(whole, before.text, etag);
  }
}
