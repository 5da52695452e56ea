// Seeing the data as another person does: a connection that the rules decide as theirs.
//
// In development it is signed in with a token that is not signed, as emulators take them. In production it is the administrator's
// own, on behalf of the other person, and reads only.

import { Hearth } from "./hearth.js";
import { credentials, isDevelopment } from "./server.js";

const base64 = (text) =>
  btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

/** The claims that a person is meant by: an object as JSON, else a uid. Throws an `Error` for what is neither. */
export function claimsOf(text) {
  if (!text.trim().startsWith("{")) return { sub: text.trim() };
  let claims;
  try {
    claims = JSON.parse(text);
  } catch (error) {
    throw new Error(`These claims are no JSON: ${error.message}`);
  }
  const { uid, sub = uid, ...more } = claims;
  if (typeof sub !== "string" || !sub) throw new Error('Claims have a "uid".');
  return { ...more, sub };
}

/** A connection as a person; signed out for an empty text. */
export function connectAs(database, text) {
  const claims = text.trim() ? claimsOf(text) : null;
  if (isDevelopment()) {
    const token = claims && `${base64('{"alg":"none"}')}.${base64(JSON.stringify(claims))}.`;
    return new Hearth(database, { token: async () => token, expiresAt: Infinity });
  }
  const override = JSON.stringify(claims && { uid: claims.sub, token: claims });
  return new Hearth(database, {
    ...credentials,
    prepare: async () => `${await credentials.prepare()}&auth_variable_override=${encodeURIComponent(override)}`,
  });
}
