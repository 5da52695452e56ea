// What can be done with a room and its members.

import { attempt, el, face } from "./dom.js";
import { askForPicture } from "./pictures.js";

/** The parts of the panel; what each may do is what their role allows, and the rules decide in the end. */
export function roomPanel(conversation, room, nameOf) {
  const { me, people } = conversation;
  const { members } = room;
  const role = members.get(me.uid);
  const rules = role === "owner" || role === "admin";
  const renames = rules || (room.membersRename && role === "member");
  const others = [...people.following].filter((uid) => !members.has(uid));
  return [
    renames ? renaming(conversation, room) : null,
    renames ? picturing(conversation, room) : null,
    el("ul", { class: "list", "aria-label": "Members" }, [...members].map(([uid, itsRole]) =>
      member(conversation, uid, itsRole, nameOf(uid), rules))),
    others.length && role !== "watcher"
      ? el("div", { class: "row" }, others.map((uid) => adding(conversation, uid, nameOf(uid))))
      : el("p", { class: "hint" }, "To add a person, follow them first."),
    el("div", {}, leaving(conversation)),
  ];
}

function renaming({ source, thread }, { name }) {
  return el(
    "form",
    {
      class: "inline-form",
      onsubmit: (event) => {
        event.preventDefault();
        const wanted = event.target.elements.name.value.trim();
        if (wanted && wanted !== name) attempt("rename the room", () => source.rename(thread, wanted));
      },
    },
    el(
      "div",
      { class: "field" },
      el("label", { for: "room-rename" }, "Name"),
      el("input", {
        id: "room-rename", name: "name", value: name, maxlength: 100, required: true, "data-focus": "rename",
      }),
    ),
    el("button", { type: "submit", "data-focus": "rename-button" }, "Rename"),
  );
}

function picturing({ source, thread }, room) {
  const shown = () => face(room.name, thread.key, room.picture?.url);
  const ask = () => askForPicture({
    title: `Picture of ${room.name}`,
    face: shown,
    change: (file, report) => source.setPicture(thread, room.picture, file, report),
    remove: room.picture ? () => source.removePicture(thread, room.picture) : null,
  });
  return el(
    "div",
    { class: "row" },
    shown(),
    el("button", { class: "small", type: "button", "data-focus": "picture", onclick: ask }, "Change the picture"),
  );
}

function member({ source, thread, me, people }, uid, role, name, rules) {
  const mayGo = rules && uid !== me.uid && role !== "owner";
  return el(
    "li",
    { class: "person" },
    people.face(uid, name),
    el("span", { class: "grow name" }, name),
    el("span", { class: "role" }, role),
    mayGo ? el(
      "button",
      {
        class: "small",
        type: "button",
        "aria-label": `Put ${name} out`,
        "data-focus": `out-${uid}`,
        onclick: () => attempt(`put ${name} out`, () => source.putOut(thread, uid)),
      },
      "Put out",
    ) : null,
  );
}

function adding({ source, thread }, uid, name) {
  return el(
    "button",
    {
      class: "small",
      type: "button",
      "data-focus": `add-${uid}`,
      onclick: () => attempt(`add ${name}`, () => source.invite(thread, uid)),
    },
    `Add ${name}`,
  );
}

function leaving(conversation) {
  return el(
    "button",
    {
      class: "small danger",
      type: "button",
      "data-focus": "leave",
      onclick: () => attempt("leave the room", async () => {
        await conversation.source.leave(conversation.thread);
        conversation.page.closed(conversation);
      }),
    },
    "Leave the room",
  );
}
