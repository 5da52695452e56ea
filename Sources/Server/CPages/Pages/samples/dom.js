// Making and changing elements. Text of people only ever becomes text: nothing here takes markup.

const isSVG = new Set(["svg", "path", "circle", "text"]);

/**
 * An element. `attributes` whose names begin with "on" are listeners; `class`, `hidden` and others go by their own
 * names; null, undefined and false leave one out. Children are nodes or texts; null leaves one out.
 */
export function el(name, attributes = {}, ...children) {
  const element = isSVG.has(name)
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  fill(element, children);
  return element;
}

/** Replaces what is in an element. */
export function fill(element, children) {
  element.replaceChildren(
    ...children.flat().filter((child) => child !== null && child !== undefined && child !== false),
  );
}

/**
 * A button for what cannot be taken back: it asks once, and does it when it is pressed again before anything else.
 * `label` says what it is about to those who hear the page.
 */
export function deleteButton(label, work) {
  const button = el("button", { class: "small", type: "button", "aria-label": label }, "Delete");
  const ask = (isAsking) => {
    button.classList.toggle("danger", isAsking);
    button.ariaLabel = isAsking ? `${label}: press again to do it` : label;
    say(button, isAsking ? "Really?" : "Delete");
  };
  button.addEventListener("blur", () => ask(false));
  button.addEventListener("click", () => {
    if (button.classList.contains("danger")) {
      ask(false);
      work();
      return;
    }
    // Not every browser gives the focus to a button that is pressed.
    button.focus();
    ask(true);
  });
  return button;
}

export const byId = (id) => document.getElementById(id);

/**
 * Makes the children of `parent` those of `items`, in their order. Elements of items that stay are kept, so focus and
 * scrolling stay too. `draw(item, element)` makes an element, or changes and gives back the one that is there.
 */
export function arrange(parent, items, keyOf, draw) {
  const there = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const wanted = new Set();
  let next = parent.firstElementChild;
  for (const item of items) {
    const key = String(keyOf(item));
    wanted.add(key);
    const old = there.get(key);
    const element = draw(item, old ?? null);
    element.dataset.key = key;
    if (old && old !== element) {
      if (next === old) next = element;
      old.replaceWith(element);
    }
    if (next === element) next = element.nextElementSibling;
    else parent.insertBefore(element, next);
  }
  for (const [key, child] of there) if (!wanted.has(key)) child.remove();
}

/** Sets a text without touching the page when it is that already. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The round picture of a person or a room; without an address, the first character of the name in a hue of its own. */
export function face(name, uid, address = null) {
  if (/^https?:\/\//.test(address ?? "")) {
    const picture = el("img", {
      class: "face",
      src: address,
      alt: "",
      referrerpolicy: "no-referrer",
      onerror: () => picture.replaceWith(face(name, uid)),
    });
    return picture;
  }
  let sum = 0;
  for (const unit of uid) sum = (sum * 31 + unit.codePointAt(0)) % 8;
  const initial = [...name][0] ?? "?";
  return el("span", { class: `face hue-${sum}`, "aria-hidden": "true" }, initial.toUpperCase());
}

/** A short notice at the bottom, which screen readers speak; `isBad` for what was refused. */
export function notice(text, isBad = false) {
  const box = byId(isBad ? "alerts" : "notices");
  const line = el("p", { class: isBad ? "toast bad" : "toast" }, text);
  box.append(line);
  setTimeout(() => line.remove(), isBad ? 10_000 : 5_000);
}

/** In words for people why something was refused. */
export function reason(error) {
  switch (error.code) {
    case "permission_denied":
      return "the server's rules do not allow it";
    case "connection_lost":
      return "the connection was lost";
    default:
      return error.message;
  }
}

/**
 * Does something that a person asked for; a refusal is shown once.
 * `what` completes "Could not ...".
 */
export async function attempt(what, work) {
  try {
    await work();
    return true;
  } catch (error) {
    notice(`Could not ${what}: ${reason(error)}.`, true);
    return false;
  }
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });

export const timeText = (time) => clock.format(time);
export const dayText = (time) => longDay.format(time);
export const wholeText = (time) => whole.format(time);
export const isSameDay = (one, other) => new Date(one).toDateString() === new Date(other).toDateString();

/** The time for today, else the day. */
export function shortTime(time, now) {
  return isSameDay(time, now) ? clock.format(time) : day.format(time);
}

/** How long ago, in words. */
export function ago(time, now) {
  const minutes = Math.floor((now - time) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `on ${day.format(time)}`;
}

/** Numbers and a word: "1 like", "2 likes". */
export const count = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;

/** One call at a time for a form; its button shows that it works. */
export function whenSubmitted(form, work) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    try {
      await work(new FormData(form));
    } finally {
      form.ariaBusy = null;
    }
  });
}

/** Draws anew what is in an element, and puts the focus back on what has the same `data-focus`. */
export function keepFocus(element, draw) {
  const place = element.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  draw();
  if (place) [...element.querySelectorAll("[data-focus]")].find((child) => child.dataset.focus === place)?.focus();
}
