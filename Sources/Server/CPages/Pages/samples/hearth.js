// A client of the plain event protocol, /.events: one WebSocket, requests as promises, observers that outlive it.
//
// When the connection is lost a new one is opened and everything that is observed is asked for again. Reads wait
// for it, and so do writes that were not sent yet. A write that was on its way is rejected with "connection_lost":
// whether it was done is unknown, so the caller looks and decides; `updateOnce` does.

const alphabet = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
const longestPause = 10_000;
const pingEvery = 30_000;
const pingPatience = 20_000;

/** The server's time, in a value that is written. */
export const NOW = { ".sv": "timestamp" };

/** The number that is there plus `count`, in a value that is written. */
export const increased = (count) => ({ ".sv": { increment: count } });

/** Why a request was refused: `code` is one of the protocol's, "connection_lost", or "closed" by this page. */
export class Refusal extends Error {
  /** `reply` is the server's answer, where it says more. */
  constructor(code, message, reply = {}) {
    super(message);
    Object.assign(this, { code, reply });
  }
}

/**
 * Does something that is harmless twice, and again when it was refused or cut off: what it read may have changed before
 * it wrote.
 */
export async function settled(work) {
  for (let triesLeft = 4; ; triesLeft -= 1) {
    try {
      return await work();
    } catch (refusal) {
      if (triesLeft === 1 || !["permission_denied", "connection_lost"].includes(refusal.code)) throw refusal;
    }
  }
}

export class Hearth {
  #database;
  #credentials;
  #socket = null;
  #isOpen = false;
  #isClosed = false;
  #lastId = 0;
  #waiting = new Map();
  #queued = [];
  #observers = new Map();
  #isPreparing = false;
  #pause = 500;
  #timer = 0;
  #pinger = 0;
  #renewal = 0;
  #clockOffset = 0;
  #lastKeyTime = 0;
  #lastKeyDigits = [];

  /** Called with "connecting", "online" or "offline". */
  whenStateChanges = () => {};
  /** Called on each new connection, after `auth`: what has to be left with the server anew. */
  whenConnected = () => {};
  /** Called once when the server no longer knows who this is. */
  whenSignedOut = () => {};

  /**
   * `credentials.token(isFresh)` gives an ID token, fetched anew where `isFresh`; throws when there is none left.
   * `credentials.expiresAt` is when it runs out, in milliseconds of this device's clock.
   * `credentials.prepare()`, where there is one, is awaited before each connection is opened; it gives what is added to
   * the query of its address.
   */
  constructor(database, credentials) {
    this.#database = database;
    this.#credentials = credentials;
    addEventListener("online", this.#retryNow);
    // A page that is left may be kept by the browser, with its connection: to others it would still be there.
    addEventListener("pagehide", this.#hide);
    addEventListener("pageshow", this.#retryNow);
    this.#connect();
  }

  /** The server's clock, in milliseconds since 1970. */
  get now() {
    return Date.now() + this.#clockOffset;
  }

  /** A token of who is signed in, for requests over HTTP. */
  token() {
    return this.#credentials.token(false);
  }

  get isOnline() {
    return this.#isOpen;
  }

  close() {
    this.#isClosed = true;
    removeEventListener("online", this.#retryNow);
    removeEventListener("pagehide", this.#hide);
    removeEventListener("pageshow", this.#retryNow);
    clearTimeout(this.#timer);
    clearTimeout(this.#renewal);
    clearInterval(this.#pinger);
    this.#socket?.close();
  }

  // Requests

  async get(path, query) {
    const reply = await this.ask({ do: "get", path, ...(query && { query }) }, true);
    return reply.value;
  }

  set(path, value) {
    return this.ask({ do: "set", path, value });
  }

  /** Several places at once, all of them or none; `null` removes. Of no places it is no request. */
  async update(places) {
    if (Object.keys(places).length === 0) return null;
    return this.ask({ do: "update", path: "/", value: places });
  }

  /**
   * An update that cannot be made twice, and that leaves `value` at `path`: when the connection is lost meanwhile it is
   * looked for there, and made again only if it has not arrived.
   */
  async updateOnce(places, path, value) {
    for (let wasCut = false; ; ) {
      try {
        return await this.update(places);
      } catch (refusal) {
        const isCut = refusal.code === "connection_lost";
        wasCut ||= isCut;
        // One that is refused the second time may be so because the first one came late.
        if (wasCut && (await this.get(path)) === value) return;
        if (!isCut) throw refusal;
      }
    }
  }

  /** What is to be written when this connection ends; false when there is none. */
  leave(path, value) {
    if (!this.#isOpen) return Promise.resolve(false);
    return this.ask({ do: "onDisconnect", path, value });
  }

  forgetLeft(path) {
    if (!this.#isOpen) return Promise.resolve(false);
    return this.ask({ do: "onDisconnect", path, cancel: true });
  }

  /** A new key, which sorts by the server's time at which it is made. */
  key() {
    const time = Math.max(Math.floor(this.now), this.#lastKeyTime);
    if (time === this.#lastKeyTime && this.#lastKeyDigits.length) {
      let place = 11;
      while (place > 0 && this.#lastKeyDigits[place] === 63) this.#lastKeyDigits[place--] = 0;
      this.#lastKeyDigits[place] += 1;
    } else {
      this.#lastKeyDigits = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte & 63);
      // Room to count up within one millisecond.
      this.#lastKeyDigits[0] &= 31;
    }
    this.#lastKeyTime = time;
    let head = "";
    for (let rest = time, place = 0; place < 8; place += 1) {
      head = alphabet[rest % 64] + head;
      rest = Math.floor(rest / 64);
    }
    return head + this.#lastKeyDigits.map((digit) => alphabet[digit]).join("");
  }

  // Observing

  /**
   * Follows a value; `tell(value)` is called with the present one and each later one.
   * Gives a function that stops it.
   */
  observeValue(path, tell, cancelled = () => {}) {
    return this.observe(
      { path, events: ["value"] },
      { value: (event) => tell(event.value), begin: () => {}, end: () => {}, cancelled },
    );
  }

  /**
   * Follows the children that a query selects. `tell(children, isWhole)` is called with a Map of all of them by key
   * whenever one changed; `isWhole` says that they were read anew, at first and on a new connection.
   */
  observeChildren(path, query, tell, cancelled = () => {}) {
    let children = new Map();
    let isBeginning = true;
    const touched = () => {
      if (!isBeginning) tell(children, false);
    };
    const put = (event) => {
      children.set(event.key, event.value);
      touched();
    };
    return this.observe(
      { path, query, events: ["childRemoved", "childAdded", "childMoved", "childChanged"] },
      {
        begin: () => {
          children = new Map();
          isBeginning = true;
        },
        end: () => {
          isBeginning = false;
          tell(children, true);
        },
        childAdded: put,
        childMoved: put,
        childChanged: put,
        childRemoved: (event) => {
          children.delete(event.key);
          touched();
        },
        cancelled,
      },
    );
  }

  /**
   * Follows what a request `observe` names, given without its `id`. `calls` has a function for each of its events, `begin`
   * and `end(reply)` around what is read anew, and `cancelled`. Gives a function that stops it.
   */
  observe(request, calls) {
    const observer = { request, calls, id: null };
    const token = Symbol();
    this.#observers.set(token, observer);
    if (this.#isOpen) this.#ask(token);
    return () => {
      if (!this.#observers.delete(token)) return;
      if (this.#isOpen && observer.id !== null) {
        this.#post({ do: "unobserve", observer: observer.id }).catch(() => {});
      }
    };
  }

  #ask(token) {
    const observer = this.#observers.get(token);
    observer.calls.begin();
    const asked = this.#post({ do: "observe", ...observer.request });
    observer.id = this.#lastId;
    asked.then(
      (reply) => {
        if (this.#observers.has(token)) observer.calls.end(reply);
      },
      (refusal) => {
        if (refusal.code === "connection_lost" || !this.#observers.has(token)) return;
        this.#observers.delete(token);
        observer.calls.cancelled(refusal);
      },
    );
  }

  // The connection

  #retryNow = () => {
    if (this.#socket || this.#isPreparing || this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#connect();
  };

  #hide = () => {
    const socket = this.#socket;
    if (!socket) return;
    this.#lost();
    clearTimeout(this.#timer);
    socket.close();
  };

  async #connect() {
    this.whenStateChanges("connecting");
    let more = "";
    if (this.#credentials.prepare) {
      this.#isPreparing = true;
      try {
        more = await this.#credentials.prepare();
      } catch {
        return this.#lost();
      } finally {
        this.#isPreparing = false;
      }
      if (this.#isClosed) return;
    }
    this.#open(more);
  }

  #open(more) {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(
      `${scheme}//${location.host}/.events?ns=${this.#database}${more}`,
      "hearth.events.v1",
    );
    this.#socket = socket;
    socket.onmessage = (frame) => {
      if (this.#socket === socket) this.#receive(JSON.parse(frame.data));
    };
    socket.onclose = () => {
      if (this.#socket === socket) this.#lost();
    };
  }

  #lost() {
    this.#socket = null;
    this.#isOpen = false;
    clearInterval(this.#pinger);
    clearTimeout(this.#renewal);
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const request of waiting) {
      if (request.isRepeatable && !this.#isClosed) this.#queued.push(request);
      else if (this.#isClosed) request.reject(new Refusal("closed", "this page has ended the connection"));
      else request.reject(new Refusal("connection_lost", "The connection was lost."));
    }
    if (this.#isClosed) return;
    this.whenStateChanges("offline");
    // Not all at once after a restart.
    this.#timer = setTimeout(() => this.#connect(), this.#pause * (0.5 + Math.random() / 2));
    this.#pause = Math.min(this.#pause * 2, longestPause);
  }

  async #began(hello) {
    const socket = this.#socket;
    this.#clockOffset = hello.serverTime - Date.now();
    try {
      await this.#authenticate(false);
    } catch (refusal) {
      if (this.#socket !== socket || refusal.code === "connection_lost") return;
      try {
        await this.#authenticate(true);
      } catch (error) {
        if (this.#socket !== socket) return;
        if (error.isFinal || error instanceof Refusal) return this.#signedOut();
        return socket.close();
      }
    }
    if (this.#socket !== socket) return;
    this.#isOpen = true;
    this.#pause = 500;
    this.#renewLater();
    this.#pinger = setInterval(() => this.#ping(socket), pingEvery);
    this.whenConnected();
    for (const token of [...this.#observers.keys()]) this.#ask(token);
    const queued = this.#queued;
    this.#queued = [];
    for (const { frame, isRepeatable, resolve, reject } of queued) {
      this.#post(frame, isRepeatable).then(resolve, reject);
    }
    this.whenStateChanges("online");
  }

  async #authenticate(isFresh) {
    const token = await this.#credentials.token(isFresh);
    if (token) await this.#post({ do: "auth", token });
  }

  /** Before the token runs out, so that no observer is cancelled for it. */
  #renewLater() {
    const left = this.#credentials.expiresAt - Date.now() - 5 * 60_000;
    if (!Number.isFinite(left)) return;
    const wait = Math.min(Math.max(left, 10_000), 2 ** 31 - 1);
    this.#renewal = setTimeout(() => {
      this.#authenticate(true).catch(() => {}).finally(() => {
        if (this.#isOpen) this.#renewLater();
      });
    }, wait);
  }

  #ping(socket) {
    const patience = setTimeout(() => socket.close(), pingPatience);
    this.#post({ do: "ping" }).catch(() => {}).finally(() => clearTimeout(patience));
  }

  #signedOut() {
    this.close();
    this.whenSignedOut();
  }

  /** Any other request, without its `id`; a repeatable one is made again when the connection is lost meanwhile. */
  ask(frame, isRepeatable = false) {
    if (this.#isOpen) return this.#post(frame, isRepeatable);
    return new Promise((resolve, reject) => {
      if (this.#isClosed) reject(new Refusal("closed", "this page has ended the connection"));
      else this.#queued.push({ frame, isRepeatable, resolve, reject });
    });
  }

  #post(frame, isRepeatable = false) {
    return new Promise((resolve, reject) => {
      this.#lastId += 1;
      this.#waiting.set(this.#lastId, { frame, isRepeatable, resolve, reject });
      this.#socket.send(JSON.stringify({ ...frame, id: this.#lastId }));
    });
  }

  #receive(message) {
    if (message.event === "hello") return void this.#began(message);
    if (message.event === "authRevoked") return void this.#revoked();
    if (message.observer !== undefined) return this.#tell(message);
    const request = this.#waiting.get(message.id);
    if (!request) return;
    this.#waiting.delete(message.id);
    if (message.ok) request.resolve(message);
    else request.reject(new Refusal(message.error, message.message, message));
  }

  #tell(message) {
    for (const [token, observer] of this.#observers) {
      if (observer.id !== message.observer) continue;
      if (message.event === "cancelled") {
        this.#observers.delete(token);
        observer.calls.cancelled(new Refusal(message.error, message.message));
      } else {
        observer.calls[message.event](message);
      }
      return;
    }
  }

  /** The token ran out, or was taken back: with a new one everything begins anew, without one it is over. */
  async #revoked() {
    const socket = this.#socket;
    this.#isOpen = false;
    try {
      await this.#credentials.token(true);
    } catch (error) {
      if (error.isFinal && this.#socket === socket) return this.#signedOut();
    }
    socket.close();
  }
}
