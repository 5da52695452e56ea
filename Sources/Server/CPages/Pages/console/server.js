// Requests to this server as its administrator: by a word in development, by the cookie of who has signed in elsewhere.

import { Refusal } from "./hearth.js";

/** In development the word that stands for an administrator on this machine. */
const owner = "owner";
const sessionAddress = "/.console/session.json";

/**
 * What this browser may do, as the server says: `mode` is "development" or "production"; there `signedIn`, and with it `role`
 * ("admin" or "viewer"), `name` and `expiresAt`. `keepsCookie` says whether browsers keep the cookie at this address.
 */
export let session = { mode: "development", signedIn: false, keepsCookie: true };

export const isDevelopment = () => session.mode === "development";

/** Whether this person looks at everything and changes nothing. */
export const isViewer = () => session.role === "viewer";

const viewerWords = "You are signed in as a viewer, who may look and change nothing.";

/** Asks the person to sign in; the sign-in view sets it. The promise ends when they have. */
let askToSignIn = () => Promise.reject(new Refusal("signed_out", "You are signed out."));
let asking = null;

export function whenSignedOut(ask) {
  askToSignIn = ask;
}

/** Waits until the person has signed in; who comes while they are asked waits for the same. */
export function signedIn() {
  asking ??= askToSignIn().finally(() => {
    asking = null;
  });
  return asking;
}

/** Asks the server who is signed in, or signs in or out with another method. */
export async function renewSession(method = "GET", body) {
  const response = await request(method, sessionAddress, { body });
  session = await response.json();
  document.dispatchEvent(new Event("hearth-session"));
  return session;
}

/** For connections: nothing is sent on them in production, as the cookie is sent when they are opened. */
export const credentials = {
  token: async (isFresh) => {
    if (isDevelopment()) return owner;
    // The session has ended: the next connection is opened by a new one.
    if (isFresh) await signedIn();
    return null;
  },
  expiresAt: Infinity,
  prepare: async () => {
    if (isDevelopment()) return "";
    if (!(await renewSession()).signedIn) await signedIn();
    return "";
  },
};

/** The address of a node, each key percent-encoded. */
export const address = (path) =>
  `${path.split("/").filter(Boolean).map((key) => `/${encodeURIComponent(key)}`).join("") || "/"}.json`;

/**
 * Sends a request; `query` is an object, `body` a text or something that becomes JSON. Gives the `Response` of a success.
 * Throws a `Refusal` with the server's words and `status`. One that is refused since the session is over is sent again when the
 * person has signed in.
 */
export async function send(method, path, options = {}) {
  try {
    return await request(method, path, options);
  } catch (refusal) {
    if (!(await mayTryAgain(refusal))) throw refusal;
    return request(method, path, options);
  }
}

async function mayTryAgain(refusal) {
  if (refusal.status !== 401 || isDevelopment() || (await renewSession()).signedIn) return false;
  await signedIn();
  return true;
}

async function request(method, path, { query = {}, body, headers = {}, signal } = {}) {
  const search = new URLSearchParams(query).toString();
  let response;
  try {
    response = await fetch(search ? `${path}?${search}` : path, {
      method,
      signal,
      headers: { ...(isDevelopment() && { Authorization: `Bearer ${owner}` }), ...headers },
      ...(body !== undefined && { body: typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body) }),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal("connection_lost", "The server does not answer.");
  }
  if (response.ok) return response;
  throw refusal(response.status, await response.text());
}

function refusal(status, text) {
  let words = text.trim();
  try {
    const { error } = JSON.parse(text);
    words = typeof error === "string" ? error : error.message;
  } catch {
    // It was no JSON: the text itself says what is wrong.
  }
  if (status === 403 && isViewer()) words = viewerWords;
  const refused = new Refusal(`http_${status}`, words || `The server answered ${status}.`);
  refused.status = status;
  return refused;
}

/**
 * Sends a file, with an `etag` only over what has it still; gives the new tag, if there is one, and the text of the answer. `report(done, all)`
 * says how much of it was sent. Only this way of asking says so.
 */
export async function sendFile(path, query, file, options) {
  try {
    return await sendOnce(path, query, file, options);
  } catch (refusal) {
    if (!(await mayTryAgain(refusal))) throw refusal;
    return sendOnce(path, query, file, options);
  }
}

function sendOnce(path, query, file, { method = "PUT", etag, report, signal }) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, `${path}?${new URLSearchParams(query)}`);
    if (isDevelopment()) request.setRequestHeader("Authorization", `Bearer ${owner}`);
    if (etag) request.setRequestHeader("If-Match", etag);
    request.upload.addEventListener("progress", ({ loaded, total }) => report(loaded, total));
    request.addEventListener("load", () => {
      if (request.status < 300) resolve({ etag: request.getResponseHeader("ETag"), text: request.responseText });
      else reject(refusal(request.status, request.responseText));
    });
    request.addEventListener("error", () => reject(new Refusal("connection_lost", "The server does not answer.")));
    request.addEventListener("abort", () => reject(new Refusal("stopped", "it was stopped")));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

export const getJSON = async (path, query) => (await send("GET", path, { query })).json();

let project = null;

/** Where the accounts are: a server has those of one project. */
export async function accountsAddress() {
  project ??= (await getJSON("/.accounts/realm.json")).project;
  return `/identitytoolkit.googleapis.com/v1/projects/${encodeURIComponent(project)}`;
}
