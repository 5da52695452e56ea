// A message as a conversation shows it: what it says and answers, what became of it, and what can be done with it.

import { el, timeText } from "./dom.js";
import { attachmentElement, caption } from "./files.js";
import { linked } from "./links.js";

/** What an answer shows of the message that it answers. */
export function quoteText(item, nameOf) {
  if (!item) return "An earlier message";
  return `${item.name ?? nameOf(item.by)}: ${item.isDeleted ? "message deleted" : item.text}`;
}

/** Whether a message says no more than the titles of its files. */
const isCaption = ({ text, attachments }) =>
  attachments?.length > 0 && text === caption(attachments.map(({ title }) => title));

/**
 * The element. `row` is the message with what stands around it, `isOwn` whether it is mine, `face` that of its writer,
 * `quote` what it answers, `meta` the line below, and `actions` what can be done: words and functions.
 */
export function messageElement(row, { isOwn, name, face, quote, meta, actions }) {
  const state = row.state ? ` ${row.state}` : "";
  return el(
    "article",
    { class: `message${isOwn ? " own" : ""}${row.isJoined ? " joined" : ""}${state}${row.isDeleted ? " deleted" : ""}` },
    face,
    el(
      "div",
      { class: "body" },
      el("p", { class: row.isJoined || isOwn ? "unseen" : "from" }, isOwn ? "You" : name),
      quote ? el("p", { class: "quote" }, quote) : null,
      isCaption(row) ? null : el(
        "p",
        { class: "bubble", title: timeText(row.at) },
        row.isDeleted ? "Message deleted" : linked(row.text),
        row.isEdited && !row.isDeleted ? el("span", { class: "edited" }, " (edited)") : null,
      ),
      row.attachments?.length ? el("div", { class: "files" }, row.attachments.map(attachmentElement)) : null,
      meta,
    ),
    actions.length ? menu(actions, name, row) : null,
  );
}

function menu(actions, name, row) {
  return el(
    "details",
    {
      class: "actions",
      onkeydown: (event) => {
        const details = event.currentTarget;
        if (event.key !== "Escape" || !details.open) return;
        event.preventDefault();
        details.open = false;
        details.firstElementChild.focus();
      },
    },
    el("summary", { class: "small", "aria-label": `Actions for: ${row.isDeleted ? name : row.text.slice(0, 60)}` }, "⋯"),
    el("div", { class: "row" }, actions.map(([words, act]) => el(
      "button",
      {
        class: "small",
        type: "button",
        onclick: (event) => {
          event.currentTarget.closest("details").open = false;
          act();
        },
      },
      words,
    ))),
  );
}
