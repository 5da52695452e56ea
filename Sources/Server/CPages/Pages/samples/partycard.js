// A party as its host and its guests see it.

import { attempt, el, fill, notice, wholeText, whenSubmitted } from "./dom.js";
import { field } from "./gate.js";
import { linked } from "./links.js";
import { sendingLine } from "./uploads.js";

/** The time of a party, which is a number or a text; a text without a zone is in UTC. NaN for what is no time. */
export function timeOf(date) {
  if (typeof date === "number") return date;
  const hasZone = /T.*(Z|[+-]\d\d:\d\d)$/.test(date) || !String(date).includes("T");
  return Date.parse(hasZone ? date : `${date}Z`);
}

/** A time as the input for it wants it, in the time of this place. */
const localText = (time) => new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

const longest = 12 * 3_600_000;
const answers = { true: "comes", false: "does not come", invited: "is invited" };

export function partyParts(page, key, party) {
  const isOwner = party.owner === page.me.uid;
  const time = timeOf(party.date);
  const when = Number.isNaN(time) ? String(party.date) : wholeText(time);
  const end = time < page.hearth.now - longest ? " · over" : "";
  const host = isOwner ? "Your party" : `Party of ${page.nameOf(party.owner)}`;
  const [title, ...rest] = party.description.split("\n");
  const button = (words, focus, onclick, more = "") => el(
    "button", { class: `small ${more}`, type: "button", "data-focus": focus, onclick }, words,
  );
  return [
    el(
      "div",
      {},
      el("h3", {}, linked(title)),
      rest.length ? el("p", { class: "more" }, linked(rest.join("\n"))) : null,
      el("p", { class: "when" }, `${host} · ${when}${end}`),
    ),
    guestList(page, key, party, isOwner),
    photoList(page, key, party, isOwner),
    sendings(page, key),
    el(
      "div",
      { class: "row" },
      upload(page, key),
      isOwner ? [
        button("Change", "change", () => askForParty(page, key, party)),
        button("Cancel the party", "cancel", () => askToCancel(page, key, party), "danger"),
      ] : [
        button("I cannot come", "leave", () =>
          attempt("answer", () => page.parties.answer(key, party.owner, false))),
        suggestion(page, key, party),
      ],
    ),
  ];
}

// Guests

function guestList(page, key, { guests = {} }, isOwner) {
  const chips = Object.entries(guests).map(([uid, answer]) => {
    const name = page.nameOf(uid);
    const state = answer === true ? "coming" : answer === false ? "refused" : "";
    return el(
      "li",
      { class: `guest ${state}` },
      el("span", {}, name),
      el("span", { class: "answer" }, answers[answer] ?? ""),
      isOwner && answer === false ? inviting(page, key, uid, "Ask again", `Ask ${name} again`) : null,
    );
  });
  const others = isOwner ? page.friends.filter((uid) => !(uid in guests)) : [];
  const more = others.map((uid) => el(
    "li",
    { class: "guest" },
    el("span", {}, page.nameOf(uid)),
    inviting(page, key, uid, "Invite", `Invite ${page.nameOf(uid)}`),
  ));
  if (!chips.length && !more.length) return el("p", { class: "quiet" }, "No guest is invited yet.");
  return el("ul", { class: "guests", "aria-label": "Guests" }, chips, more);
}

function inviting(page, key, uid, words, label) {
  return el(
    "button",
    {
      class: "small",
      type: "button",
      "aria-label": label,
      "data-focus": `invite-${uid}`,
      onclick: () => attempt("invite", () => page.parties.invite(key, uid)),
    },
    words,
  );
}

function suggestion(page, key, { owner, guests = {} }) {
  const others = page.friends.filter((uid) => uid !== owner && !(uid in guests));
  if (!others.length) return null;
  return el(
    "select",
    {
      class: "suggest",
      "aria-label": "Suggest a friend to the host",
      "data-focus": "suggest",
      onchange: (event) => {
        const guest = event.target.value;
        if (!guest) return;
        event.target.value = "";
        attempt("suggest a friend", async () => {
          await page.parties.suggest(key, owner, guest);
          notice(`${page.nameOf(owner)} was asked to invite ${page.nameOf(guest)}.`);
        });
      },
    },
    el("option", { value: "" }, "Suggest a friend…"),
    others.map((uid) => el("option", { value: uid }, page.nameOf(uid))),
  );
}

// Photos

function photoList(page, key, party, isOwner) {
  const photos = Object.keys(party.photos ?? {}).sort()
    .map((photo) => [photo, page.album.now(photo, () => page.draw())]).filter(([, known]) => known);
  if (!photos.length) return null;
  return el("div", { class: "photos" }, photos.map(([photo, { owner, address }]) => {
    const isUploader = owner === page.me.uid;
    const remove = () => attempt("remove the photo", () =>
      page.parties.removePhoto(key, party.owner, photo, isUploader));
    return el(
      "figure",
      {},
      el("img", { src: address, alt: `Photo by ${page.nameOf(owner)}` }),
      isOwner || isUploader ? el(
        "button",
        {
          class: "small",
          type: "button",
          "aria-label": `Remove this photo by ${page.nameOf(owner)}`,
          "data-focus": `remove-${photo}`,
          onclick: remove,
        },
        "Remove",
      ) : null,
    );
  }));
}

function sendings({ outbox }, key) {
  const sent = outbox.to(key);
  if (!sent.length) return null;
  return el("ul", { class: "sendings", "aria-label": "Photos on their way" }, sent.map((photo) => el(
    "li",
    { class: photo.state },
    el("img", { src: photo.address, alt: photo.title }),
    sendingLine(photo, () => outbox.deliver(photo), () => outbox.discard(photo)),
  )));
}

function upload(page, key) {
  return el(
    "label",
    { class: "upload" },
    el("input", {
      type: "file",
      accept: "image/*",
      multiple: true,
      "aria-label": "Add photos; they can be dropped or pasted here as well",
      title: "Choose photos, or drop or paste them here",
      "data-focus": "photo",
      onchange: ({ target }) => {
        page.addPhotos(key, target.files);
        target.value = "";
      },
    }),
    el("span", { "aria-hidden": "true" }, "Add photos"),
  );
}

// Dialogs

/** Asks for a new party, or for what is to be changed of one. */
export function askForParty(page, key = null, party = null) {
  const dialog = document.getElementById("party-dialog");
  const { friends, hearth, parties } = page;
  const known = party ? timeOf(party.date) : NaN;
  const time = Number.isNaN(known) ? Math.ceil(hearth.now / 3_600_000) * 3_600_000 + 24 * 3_600_000 : known;
  const text = el("textarea", { id: "field-description", name: "description", rows: 3, maxlength: 2000, required: true });
  text.value = party?.description ?? "";
  const invited = friends.length
    ? `Invited: ${friends.map((uid) => page.nameOf(uid)).join(", ")}`
    : "You have no friends here yet, so no guest is invited.";
  const form = el(
    "form",
    {},
    el("h2", { id: "party-dialog-title" }, party ? "Change the party" : "New party"),
    el("div", { class: "field" }, el("label", { for: "field-description" }, "What is it?"), text),
    field("When?", { name: "date", type: "datetime-local", required: true, value: localText(time) }),
    party ? null : el("p", { class: "hint" }, invited),
    el(
      "div",
      { class: "row" },
      el("button", { class: "primary", type: "submit" }, party ? "Change" : "Make the party"),
      el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
    ),
  );
  whenSubmitted(form, async (data) => {
    const description = data.get("description").trim();
    const date = new Date(data.get("date")).getTime();
    if (!description || Number.isNaN(date)) return;
    const isDone = await attempt(party ? "change the party" : "make the party", () =>
      party ? parties.change(key, description, date) : parties.make(description, date, friends));
    // Without a connection it may take long, and by now the dialog may ask for something else.
    if (isDone && form.isConnected) dialog.close();
  });
  fill(dialog, [form]);
  dialog.showModal();
}

function askToCancel(page, key, party) {
  const dialog = document.getElementById("party-dialog");
  const cancel = async ({ target }) => {
    const isDone = await attempt("cancel the party", () => page.parties.cancel(key, party.guests));
    if (isDone && target.isConnected) dialog.close();
  };
  fill(dialog, [
    el("h2", { id: "party-dialog-title" }, "Cancel this party?"),
    el("p", {}, "Each guest who wanted to come is notified. This cannot be taken back."),
    el(
      "div",
      { class: "row" },
      el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Keep it"),
      el("button", { class: "danger", type: "button", onclick: cancel }, "Cancel the party"),
    ),
  ]);
  dialog.showModal();
}
