// A question in the inbox, and what can be answered.

import { attempt, byId, el, wholeText } from "./dom.js";
import { timeOf } from "./partycard.js";

/** What a letter shows: `stamp` changes with it, `make()` gives its parts. */
export function letterParts(page, { key, letter, kind }) {
  const { party, isShut } = page.followed(letter.party);
  const isGone = kind === "invitation" && isShut;
  const photo = kind === "photoQuestion" ? page.album.now(letter.photo, () => page.draw()) : null;
  const text = question(page, letter, kind, party, isGone);
  const time = party && kind === "invitation" ? timeOf(party.date) : NaN;
  const when = Number.isNaN(time) ? "" : wholeText(time);
  return {
    stamp: JSON.stringify([text, when, Boolean(photo), isGone]),
    make: () => [
      el("p", {}, text),
      when ? el("p", { class: "when" }, when) : null,
      photo ? el("div", { class: "photos" }, el("img", { src: photo.address, alt: "The photo" })) : null,
      el("div", { class: "row" }, isGone
        ? answering("Dismiss", "dismiss", key, () => page.parties.dismiss(key))
        : [
          answering("Accept", "yes", key, () => answer(page, key, letter, kind, true), "primary"),
          answering("Refuse", "no", key, () => answer(page, key, letter, kind, false)),
        ]),
    ],
  };
}

function question(page, letter, kind, party, isGone) {
  const name = page.nameOf(letter.from);
  const what = party?.description.split("\n")[0] ?? "…";
  switch (kind) {
    case "friendQuestion":
      return `${name} asks to be your friend.`;
    case "invitation":
      return isGone ? `${name} had invited you to a party that is no longer on.` : `${name} invites you: ${what}`;
    case "photoQuestion":
      return `${name} has a photo for “${what}”.`;
    default:
      return `${name} suggests that you invite ${page.nameOf(letter.guest)} to “${what}”.`;
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

function answer({ parties, friends }, key, letter, kind, isYes) {
  switch (kind) {
    case "friendQuestion":
      return parties.answerFriend(key, letter, isYes);
    case "invitation":
      return parties.answer(letter.party, letter.from, isYes, key);
    case "photoQuestion":
      return parties.answerPhoto(key, letter, isYes);
    default:
      return parties.answerSuggestion(key, letter, isYes, friends.includes(letter.guest));
  }
}
