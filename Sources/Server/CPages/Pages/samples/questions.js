// A question in the inbox, and what can be answered.

import { attempt, byId, el, wholeText } from "./dom.js";
import { linked } from "./links.js";
import { timeOf } from "./partycard.js";

/** What a message shows: `stamp` changes with it, `make()` gives its parts. */
export function questionParts(page, { key, message, kind }) {
  const { party, isShut } = page.followed(message.party);
  const isGone = kind === "invitation" && isShut;
  const photo = kind === "photoQuestion" ? page.album.now(message.photo, () => page.draw()) : null;
  const [before, quoted = "", after] = question(page, message, kind, party, isGone);
  const time = party && kind === "invitation" ? timeOf(party.date) : NaN;
  const when = Number.isNaN(time) ? "" : wholeText(time);
  return {
    stamp: JSON.stringify([before, quoted, after, when, Boolean(photo), isGone]),
    make: () => [
      el("p", {}, before, linked(quoted), after),
      when ? el("p", { class: "when" }, when) : null,
      photo ? el("div", { class: "photos" }, el("img", { src: photo.address, alt: "The photo" })) : null,
      el("div", { class: "row" }, isGone
        ? answering("Dismiss", "dismiss", key, () => page.parties.dismiss(key))
        : [
          answering("Accept", "yes", key, () => answer(page, key, message, kind, true), "primary"),
          answering("Refuse", "no", key, () => answer(page, key, message, kind, false)),
        ]),
    ],
  };
}

/** The question in up to three texts: of the second, what a party is about, addresses become links. */
function question(page, message, kind, party, isGone) {
  const name = page.nameOf(message.from);
  const what = party?.description.split("\n")[0] ?? "…";
  switch (kind) {
    case "friendQuestion":
      return [`${name} asks to be your friend.`];
    case "invitation":
      return isGone ? [`${name} had invited you to a party that is no longer on.`] : [`${name} invites you: `, what];
    case "photoQuestion":
      return [`${name} has a photo for “`, what, "”."];
    default:
      return [`${name} suggests that you invite ${page.nameOf(message.guest)} to “`, what, "”."];
  }
}

function answering(words, focus, key, work, more = "") {
  const answer = async (event) => {
    const row = event.target.closest(".row");
    for (const button of row.children) button.disabled = true;
    await attempt("answer", work);
    for (const button of row.children) button.disabled = false;
    // The next question is where the answered one was.
    if (document.activeElement === document.body) (byId("inbox").querySelector("button") ?? byId("main")).focus();
  };
  return el(
    "button",
    { class: `small ${more}`, type: "button", "data-focus": `${focus}-${key}`, onclick: answer },
    words,
  );
}

function answer({ parties, friends }, key, message, kind, isYes) {
  switch (kind) {
    case "friendQuestion":
      return parties.answerFriend(key, message, isYes);
    case "invitation":
      return parties.answer(message.party, message.from, isYes, key);
    case "photoQuestion":
      return parties.answerPhoto(key, message, isYes);
    default:
      return parties.answerSuggestion(key, message, isYes, friends.includes(message.guest));
  }
}
