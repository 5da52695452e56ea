// Files that a person gives to a page, and what the page says of them while they go up.

import { el } from "./dom.js";

/** Calls `take` with the files that are dropped on an element or pasted in it; what an element inside took is left out. */
export function takeFiles(element, take) {
  const isMine = (event, data) => !event.defaultPrevented && data?.types.includes("Files");
  const drag = (event) => {
    if (!isMine(event, event.dataTransfer)) return;
    event.preventDefault();
    element.classList.toggle("dropping", event.type === "dragover");
    if (event.type === "drop") take(event.dataTransfer.files);
  };
  for (const type of ["dragover", "dragleave", "drop"]) element.addEventListener(type, drag);
  element.addEventListener("paste", (event) => {
    if (!isMine(event, event.clipboardData)) return;
    event.preventDefault();
    take(event.clipboardData.files);
  });
}

/**
 * How far something is on its way: `progress` is in percent, null for what has no files. Where `state` is "refused" it
 * says why, and `again` and `discard` are what a person can do.
 */
export function sendingLine({ state, why, progress }, again, discard) {
  const button = (words, onclick) => el("button", { class: "small", type: "button", "data-focus": words, onclick }, words);
  if (state === "refused") {
    return el(
      "div",
      { class: "meta row" },
      el("span", {}, `Not sent: ${why}.`),
      button("Try again", again),
      button("Discard", discard),
    );
  }
  if (progress === null || progress >= 100) return el("p", { class: "meta" }, "Sending…");
  return el(
    "p",
    { class: "meta" },
    `Sending… ${progress} % `,
    el("progress", { max: 100, value: progress, "aria-hidden": "true" }),
  );
}
