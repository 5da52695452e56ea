// A client of the realtime wire protocol over long polling, for browsers: script elements in a hidden frame,
// whose scripts call two functions of this page.
"use strict";

class LongPoll {
  static count = 0;

  constructor(server, ns) {
    this.server = server;
    this.ns = ns;
    this.callback = ++LongPoll.count;
    this.serial = 1;
    this.segment = 0;
    this.pieces = [];
    this.outstanding = 0;
    this.batches = new Map();
    this.nextBatch = 0;
    this.messages = [];
    this.waiting = [];
    this.isOpen = true;
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    this.document = this.frame.contentDocument;
    this.document.open();
    this.document.write("<html><body></body></html>");
    this.document.close();
    window["pLPCommand" + this.callback] = (...words) => this.command(...words);
    window["pRTLPCB" + this.callback] = (number, messages) => this.batch(number, messages);
  }

  // Resolves with the data of hello.
  async open() {
    this.load(`start=t&ser=${this.serial}&cb=${this.callback}&v=5&ns=${this.ns}`, () => {});
    const hello = await this.receive();
    this.session = hello.d.d.s;
    this.isPolling = true;
    this.poll();
    this.goodbye = document.createElement("iframe");
    this.goodbye.hidden = true;
    const loaded = new Promise((resolve) => { this.goodbye.onload = resolve; });
    this.goodbye.src = this.address(`dframe=t&id=${this.id}&pw=${this.password}&ns=${this.ns}`);
    document.body.append(this.goodbye);
    await loaded;
    return hello.d;
  }

  address(query) {
    return `http://${this.server}/.lp?${query}`;
  }

  load(query, whenDone) {
    const script = this.document.createElement("script");
    script.async = true;
    script.src = this.address(query);
    script.onload = () => {
      script.remove();
      whenDone();
    };
    script.onerror = () => this.end(new Error("a script did not load"));
    this.document.body.append(script);
  }

  // Keeps one request open, two while there is something to send.
  poll() {
    while (this.isPolling && this.outstanding < (this.pieces.length > 0 ? 2 : 1)) {
      let query = `id=${this.id}&pw=${this.password}&ser=${++this.serial}&ns=${this.ns}`;
      let room = 1870;
      for (let index = 0; this.pieces.length > 0; index++) {
        const { seg, ts, d } = this.pieces[0];
        room -= d.length + 30;
        if (room < 0) break;
        this.pieces.shift();
        query += `&seg${index}=${seg}&ts${index}=${ts}&d${index}=${d}`;
      }
      this.outstanding++;
      this.load(query, () => {
        this.outstanding--;
        this.poll();
      });
    }
  }

  send(message) {
    const bytes = new TextEncoder().encode(JSON.stringify(message));
    let text = btoa(String.fromCharCode(...bytes));
    text = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ".");
    const parts = text.match(/.{1,1840}/g);
    for (const d of parts) this.pieces.push({ seg: this.segment++, ts: parts.length, d });
    this.poll();
  }

  command(name, first, second) {
    if (name === "start") {
      this.id = first;
      this.password = second;
    } else if (name === "close") {
      this.isPolling = false;
      this.closeAfter = first || -1;
      this.deliver();
    }
  }

  batch(number, messages) {
    this.batches.set(number, messages);
    this.deliver();
  }

  deliver() {
    while (this.batches.has(this.nextBatch)) {
      this.messages.push(...this.batches.get(this.nextBatch));
      this.batches.delete(this.nextBatch++);
    }
    while (this.waiting.length > 0 && this.messages.length > 0) {
      this.waiting.shift().resolve(this.messages.shift());
    }
    if (this.closeAfter < this.nextBatch) this.end(new Error("the server closed the session"));
  }

  // Resolves with the next message.
  receive() {
    if (this.messages.length > 0) return Promise.resolve(this.messages.shift());
    if (!this.isOpen) return Promise.reject(this.reason);
    return new Promise((resolve, reject) => this.waiting.push({ resolve, reject }));
  }

  // Resolves with the body of the reply and the pushes before it.
  async request(number, action, body) {
    this.send({ t: "d", d: { r: number, a: action, b: body } });
    const pushes = [];
    for (;;) {
      const { d } = await this.receive();
      if (d.r === number) return { reply: d.b, pushes };
      pushes.push(d);
    }
  }

  end(reason) {
    this.isOpen = false;
    this.isPolling = false;
    this.reason = reason;
    for (const { reject } of this.waiting.splice(0)) reject(reason);
  }

  // Leaves: taking the frame away makes it say goodbye.
  close() {
    this.end(new Error("closed"));
    this.frame.remove();
    this.goodbye.remove();
  }
}
