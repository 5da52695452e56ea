// Accounts over the identity endpoints: sign up, sign in, tokens and their renewal.
//
// Who is signed in is kept for this tab alone (sessionStorage), so that two windows can be two people.

const toolkit = "/identitytoolkit.googleapis.com/v1/accounts:";
const renewal = "/securetoken.googleapis.com/v1/token";
const place = "hearth.samples.session";

const words = {
  EMAIL_EXISTS: "There is an account with this address already. Sign in instead.",
  EMAIL_NOT_FOUND: "There is no account with this e-mail address and password.",
  INVALID_PASSWORD: "There is no account with this e-mail address and password.",
  INVALID_LOGIN_CREDENTIALS: "There is no account with this e-mail address and password.",
  INVALID_EMAIL: "Write an e-mail address, such as ann@example.com.",
  MISSING_EMAIL: "Write your e-mail address.",
  MISSING_PASSWORD: "Write a password.",
  WEAK_PASSWORD: "The password needs at least 6 characters.",
  USER_DISABLED: "This account is disabled.",
  TOO_MANY_ATTEMPTS_TRY_LATER: "Too many attempts. Try again in a while.",
  OPERATION_NOT_ALLOWED: "This server does not let people sign in with passwords.",
  ADMIN_ONLY_OPERATION: "This server does not let people sign up by themselves.",
};

/** `isFinal` says that asking again with the same words cannot help. */
export class AccountError extends Error {
  constructor(message, isFinal) {
    super(message);
    this.isFinal = isFinal;
  }
}

async function post(address, body) {
  let response;
  try {
    response = await fetch(`${address}?key=any`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new AccountError("The server cannot be reached.", false);
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const code = answer.error?.message ?? "";
  const name = code.split(" ")[0];
  throw new AccountError(
    words[name] ?? (code || `The server answered ${response.status}.`),
    response.status < 500 && response.status !== 429,
  );
}

/** Who is signed in, in this tab. */
export class Session {
  constructor({ uid, email, idToken, refreshToken, expiresAt }) {
    Object.assign(this, { uid, email, idToken, refreshToken, expiresAt });
  }

  static async signUp(email, password) {
    return Session.#from(await post(`${toolkit}signUp`, { email, password, returnSecureToken: true }));
  }

  static async signIn(email, password) {
    const answer = await post(`${toolkit}signInWithPassword`, { email, password, returnSecureToken: true });
    return Session.#from(answer);
  }

  static #from(answer) {
    const session = new Session({
      uid: answer.localId,
      email: answer.email,
      idToken: answer.idToken,
      refreshToken: answer.refreshToken,
      expiresAt: Date.now() + Number(answer.expiresIn) * 1000,
    });
    session.#keep();
    return session;
  }

  /** The session of this tab; null when no user is signed in. */
  static kept() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(place));
      return kept?.uid && kept.refreshToken ? new Session(kept) : null;
    } catch {
      return null;
    }
  }

  #keep() {
    sessionStorage.setItem(place, JSON.stringify(this));
  }

  signOut() {
    sessionStorage.removeItem(place);
  }

  /** An ID token that counts for some minutes more; one that is made now where `isFresh`. */
  async token(isFresh) {
    if (!isFresh && this.expiresAt - Date.now() > 60_000) return this.idToken;
    const answer = await post(renewal, { grant_type: "refresh_token", refresh_token: this.refreshToken });
    this.idToken = answer.id_token;
    this.refreshToken = answer.refresh_token;
    this.expiresAt = Date.now() + Number(answer.expires_in) * 1000;
    this.#keep();
    return this.idToken;
  }
}
