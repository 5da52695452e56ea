// Knocks at every door that a browser has to a server, and shows what came of it: `done` resolves with that.
//
//     doors.html?server=127.0.0.1:9000&ns=demo[&stay=1]
"use strict";

const parameters = new URLSearchParams(location.search);
const server = parameters.get("server");
const ns = parameters.get("ns");
const base = `http://${server}`;

const address = (path) => `${base}/${path}.json?ns=${ns}`;

async function knockWithFetch() {
  const seen = {};
  // The header makes the browser ask first (a preflight), the answer's header must be shown to this page.
  const wanted = { headers: { "X-Firebase-ETag": "true" } };
  let answer = await fetch(address("fetch"), wanted);
  seen.first = { status: answer.status, value: await answer.json() };
  const etag = answer.headers.get("ETag");
  seen.hasETag = etag !== null;
  const put = (value, tag) => fetch(address("fetch"), {
    method: "PUT",
    headers: { "Content-Type": "application/json", "if-match": tag },
    body: JSON.stringify(value),
  });
  answer = await put("one", etag);
  seen.put = { status: answer.status, value: await answer.json() };
  answer = await put("two", etag);
  seen.stale = { status: answer.status, value: await answer.json() };
  seen.staleETag = answer.headers.get("ETag") !== etag && answer.headers.get("ETag") !== null;
  answer = await fetch(address("fetch"), { method: "DELETE" });
  seen.gone = { status: answer.status, value: await answer.json() };
  return seen;
}

function knockWithEventSource() {
  return new Promise((resolve, reject) => {
    const source = new EventSource(address("events"));
    const seen = [];
    const note = (event) => {
      seen.push({ event: event.type, data: JSON.parse(event.data) });
      if (seen.length === 1) {
        fetch(address("events/a"), { method: "PUT", body: '"tea"' }).catch(reject);
      } else if (seen.length === 2) {
        fetch(address("events"), { method: "PATCH", body: '{"b":1,"c":2}' }).catch(reject);
      } else {
        source.close();
        resolve(seen);
      }
    };
    source.addEventListener("put", note);
    source.addEventListener("patch", note);
    source.onerror = () => {
      source.close();
      reject(new Error("the event source failed"));
    };
  });
}

async function knockWithLongPoll() {
  const client = new LongPoll(server, ns);
  const seen = {};
  const hello = await client.open();
  seen.version = hello.d.v;
  seen.host = hello.d.h;
  seen.listen = await client.request(1, "q", { p: "/poll", h: "" });
  const text = "</script><!-- \u2028é😀 ".repeat(400);
  const { reply, pushes } = await client.request(2, "p", { p: "/poll/text", d: text });
  seen.put = reply;
  seen.isSame = pushes.length === 1 && pushes[0].b.d === text;
  await client.request(3, "o", { p: "/poll/gone", d: ns });
  if (parameters.has("stay")) {
    seen.stays = true;
    return seen;
  }
  // On to a WebSocket, and back out.
  seen.upgrade = await upgrade(client);
  return seen;
}

// Moves a session to a WebSocket as the protocol says; resolves with the order of what was said.
async function upgrade(client) {
  const socket = new WebSocket(`ws://${server}/.ws?v=5&s=${client.session}&ns=${ns}`);
  const messages = [];
  const waiting = [];
  socket.onmessage = ({ data }) => {
    messages.push(JSON.parse(data));
    waiting.splice(0).forEach((resolve) => resolve());
  };
  const next = async () => {
    while (messages.length === 0) await new Promise((resolve) => waiting.push(resolve));
    return messages.shift();
  };
  const say = (t) => JSON.stringify({ t: "c", d: { t, d: {} } });
  const order = [`socket ${(await next()).d.t}`];
  for (let round = 0; round < 2; round++) {
    socket.send(say("p"));
    order.push(`socket ${(await next()).d.t}`);
  }
  socket.send(say("a"));
  client.send({ t: "c", d: { t: "n", d: {} } });
  socket.send(JSON.stringify({ t: "d", d: { r: 4, a: "p", b: { p: "/poll/moved", d: true } } }));
  order.push(`poll ${(await client.receive()).d.t}`);
  const push = await next();
  order.push(`socket ${push.d.a} ${push.d.b.p}`);
  order.push(`socket ${(await next()).d.b.s}`);
  // The old way ends by itself, and its frame's goodbye is no goodbye of the session.
  order.push(await client.receive().catch((error) => error.message));
  client.close();
  socket.send(JSON.stringify({ t: "d", d: { r: 5, a: "echo", b: { d: "still here" } } }));
  order.push(`socket ${(await next()).d.b.d}`);
  const closed = new Promise((resolve) => { socket.onclose = resolve; });
  socket.close();
  await closed;
  return order;
}

function knockWithWebSocket() {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://${server}/.ws?v=5&ns=${ns}`);
    socket.onmessage = ({ data }) => {
      resolve(JSON.parse(data).d.t);
      socket.close();
    };
    socket.onerror = () => reject(new Error("the socket failed"));
  });
}

async function knock() {
  const doors = {
    fetch: knockWithFetch,
    events: knockWithEventSource,
    poll: knockWithLongPoll,
    socket: knockWithWebSocket,
  };
  const outcome = {};
  for (const [name, open] of Object.entries(doors)) {
    try {
      outcome[name] = await open();
    } catch (error) {
      outcome[name] = { error: error.message };
    }
    const row = document.querySelector("#doors").insertRow();
    row.insertCell().textContent = name;
    const text = document.createElement("pre");
    text.textContent = JSON.stringify(outcome[name], null, 1);
    row.insertCell().append(text);
  }
  return outcome;
}

const done = knock();
