// The inbox of the party service, which works like e-mail: a message is a question, which I answer, or the answer to one
// of mine, which is applied by itself. Applying twice is harmless.

import { NOW } from "./hearth.js";

const types = new Set(["friend_request", "party_invite", "image_uploaded"]);
const contents = new Set(["invite", "accept", "refuse"]);

export const isMessage = (value) =>
  typeof value?.from === "string" && types.has(value.messageType) && contents.has(value.messageContent) &&
  typeof value.party === "string" && typeof value.photo === "string";

/** What a message is to the owner of the parties in `owned`. */
export function meaning(message, owned) {
  const { messageType: type, messageContent: content, party, guest } = message;
  const isHost = owned.has(party);
  if (type === "friend_request") return content === "invite" ? "friendQuestion" : "friendAnswer";
  if (type === "image_uploaded") {
    if (content === "invite") return isHost ? "photoQuestion" : "stale";
    return isHost && content === "refuse" ? "photoTakenBack" : "photoAnswer";
  }
  if (guest) {
    if (content === "invite") return isHost ? "suggestion" : "stale";
    return "suggestionAnswer";
  }
  if (content === "invite") return isHost ? "stale" : "invitation";
  if (isHost) return "guestAnswer";
  return content === "refuse" ? "cancelled" : "stale";
}

const questions = new Set(["friendQuestion", "photoQuestion", "suggestion", "invitation"]);
export const isQuestion = (kind) => questions.has(kind);

/** Messages by the server's times, and then by key; those without a time come last. */
export const inOrder = (messages) =>
  messages.sort(([key, { sentAt: one = Infinity }], [otherKey, { sentAt: other = Infinity }]) =>
    one === other ? (key < otherKey ? -1 : 1) : one - other);

/** A message as it is sent. */
export function messageTo(to, from, messageType, messageContent, { party = "null", photo = "null", guest } = {}) {
  return { from, to, messageType, messageContent, party, photo, sentAt: NOW, ...(guest && { guest }) };
}

/** Whether an answer still changes what is mine: whom I took off stays off, and only the uploader takes a photo away. */
export async function stillCounts(hearth, { from, party, photo }, kind) {
  switch (kind) {
    case "guestAnswer":
      return (await hearth.get(`parties/${party}/guests/${from}`)) !== null;
    case "photoTakenBack":
      return hearth.get(`photos/${photo}/owner`).then((owner) => owner === null || owner === from, (refusal) => {
        // No client sees a photo that is gone.
        if (refusal.code === "permission_denied") return true;
        throw refusal;
      });
    default:
      return true;
  }
}

/** The update that applies an answer to what is mine, and takes it out of the inbox. */
export function applying(me, key, found, kind) {
  const { from, messageContent: content, party, photo } = found;
  const isYes = content === "accept";
  const done = { [`messages/${me}/${key}`]: null };
  switch (kind) {
    case "friendAnswer":
      return { [`users/${me}/friends/${from}`]: isYes, ...done };
    case "guestAnswer":
      return { [`parties/${party}/guests/${from}`]: isYes, ...done };
    case "cancelled":
      return { [`users/${me}/attendingParties/${party}`]: null, ...done };
    case "photoTakenBack":
      return { [`parties/${party}/photos/${photo}`]: null, ...done };
    default:
      return done;
  }
}

/** What an applied answer says to me; null for nothing. */
export function news(found, kind, name) {
  const isYes = found.messageContent === "accept";
  switch (kind) {
    case "friendAnswer":
      return isYes ? `${name} is now your friend.` : `${name} is not your friend.`;
    case "guestAnswer":
      return isYes ? `${name} comes to your party.` : `${name} does not come to your party.`;
    case "cancelled":
      return `${name} has cancelled a party.`;
    case "photoAnswer":
      return isYes ? `${name} has added your photo.` : `${name} has not taken your photo.`;
    case "suggestionAnswer":
      return isYes ? `${name} has invited whom you suggested.` : `${name} has not invited whom you suggested.`;
    default:
      return null;
  }
}
