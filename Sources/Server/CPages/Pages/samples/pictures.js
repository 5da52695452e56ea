// The picture of a person or a room: chosen, shown while it goes up, and taken away.

import { attempt, byId, el, fill, notice, reason } from "./dom.js";
import { sendingLine, takeFiles } from "./uploads.js";

/**
 * Opens a dialog about a picture: `face()` draws what is there, `change(file, report)` replaces it, and `remove()`, where
 * there is one, takes it away.
 */
export function askForPicture({ title, face, change, remove }) {
  const line = el("div", { role: "status" });
  const send = async (file) => {
    const sent = { state: "pending", progress: 0 };
    const draw = (facts) => fill(line, [
      sendingLine(Object.assign(sent, facts), () => send(file), () => fill(line, [])),
    ]);
    draw({});
    try {
      await change(file, (part) => draw({ progress: Math.floor(part * 100) }));
    } catch (error) {
      draw({ state: "refused", why: reason(error) });
      if (!dialog.open) notice(`The picture was not changed: ${sent.why}.`, true);
      return;
    }
    dialog.close();
    notice("The picture is changed.");
  };
  const picker = el("input", {
    type: "file",
    accept: "image/*",
    hidden: true,
    onchange: () => picker.files.length && send(picker.files[0]),
  });
  const takeAway = async () => {
    if (await attempt("take the picture away", remove)) dialog.close();
  };
  const dialog = el(
    "dialog",
    { class: "picture-dialog", "aria-labelledby": "picture-title", onclose: () => dialog.remove() },
    el("h2", { id: "picture-title" }, title),
    face(),
    el("p", { class: "hint" }, "Choose a picture, or drop or paste it here."),
    line,
    picker,
    el(
      "div",
      { class: "row" },
      el("button", { class: "primary", type: "button", autofocus: true, onclick: () => picker.click() }, "Choose a picture"),
      remove ? el("button", { class: "danger", type: "button", onclick: takeAway }, "Remove the picture") : null,
      el("button", { type: "button", onclick: () => dialog.close() }, "Close"),
    ),
  );
  takeFiles(dialog, ([file]) => send(file));
  document.body.append(dialog);
  dialog.showModal();
}

/** A button at the head of the page with the own face; `ask` changes the own picture. */
export function ownFace(drawn, ask) {
  byId("me-name").before(el("button", { class: "plain own-face", type: "button", "aria-label": "Your picture", onclick: ask }, drawn));
}

/** Offers to change the picture that chat and timeline show of me. */
export function offerOwnPicture(people, files, { uid, username }) {
  const place = `users/${uid}/picture`;
  const old = () => files.folderOf(people.picture(uid), `people/${uid}`);
  const ask = () => askForPicture({
    title: "Your picture",
    face: () => people.face(uid, username),
    change: (file, report) => files.replacePicture(
      `people/${uid}/${people.key()}`, file, old(), (url) => ({ [place]: url }), place, report),
    remove: people.picture(uid) ? () => files.removePicture(old(), { [place]: null }) : null,
  });
  ownFace(people.face(uid, username), ask);
}
