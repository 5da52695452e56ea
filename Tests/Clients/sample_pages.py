"""People at the sample pages: each a window of a browser of their own session, driven as a person would."""

import base64
import json
import time
from pathlib import Path

# Runs in every page before its own scripts: what goes wrong in it is kept to be looked at, and so are notices,
# which go again after a while.
WATCH = """
window.faults = [];
addEventListener("error", (event) => faults.push(`error: ${event.message}`));
addEventListener("unhandledrejection", (event) => faults.push(`rejection: ${event.reason}`));
addEventListener("securitypolicyviolation", (event) =>
  faults.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
for (const level of ["error", "warn"]) {
  const original = console[level];
  console[level] = (...words) => { faults.push(`${level}: ${words.join(" ")}`); original(...words); };
}
window.noticed = { notices: [], alerts: [] };
new MutationObserver((changes) => {
  for (const { target, addedNodes } of changes)
    for (const node of addedNodes)
      if (node.classList?.contains("toast") && node.checkVisibility()) noticed[target.id].push(node.innerText);
}).observe(document, { childList: true, subtree: true });
"""

KEYS = {
    "Enter": (13, "\r"),
    "Tab": (9, ""),
    "Escape": (27, ""),
    "Space": (32, " "),
    "ArrowDown": (40, ""),
    "ArrowUp": (38, ""),
    "ArrowLeft": (37, ""),
    "ArrowRight": (39, ""),
    "Home": (36, ""),
    "End": (35, ""),
    "Delete": (46, ""),
    "F2": (113, ""),
    "k": (75, ""),
    "o": (79, ""),
    "z": (90, ""),
}

# Chromium starts slowly on a machine with other work.
PATIENCE = 300


class Window:
    """A window at one page."""

    def __init__(self, browser, address, width=1100, height=760, media=None):
        self.browser = browser
        target = browser.call("Target.createTarget", timeout=PATIENCE, url="about:blank", newWindow=True)["targetId"]
        self.target = target
        attached = browser.call("Target.attachToTarget", timeout=PATIENCE, targetId=target, flatten=True)
        self.session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        self.look(width, height, media or {})
        self.address = address
        assert "errorText" not in self.call("Page.navigate", url=address)

    def look(self, width, height, media):
        """Gives the window a size in pixels, and what its person prefers by the names of media features."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        features = [{"name": name, "value": value} for name, value in media.items()]
        self.call("Emulation.setEmulatedMedia", features=features)

    def leave(self):
        """Goes to another page, which is empty."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")

    def come_back(self):
        assert "errorText" not in self.call("Page.navigate", url=self.address)

    def reload(self):
        """Loads the page anew; what is done next is done in the new one."""
        self.value("void (window.isOld = true)")
        self.call("Page.reload")
        self.wait("!window.isOld")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, timeout=PATIENCE, **parameters)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, expression):
        """The value of an expression once it is true; an error in it counts as false."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.value(self.looking_for(expression))
            except AssertionError as error:
                # The page was left while it was looked at.
                left = ("navigated", "Not attached", "Cannot find")
                if not any(word in str(error) for word in left) or time.monotonic() > deadline:
                    raise

    def looking_for(self, expression):
        return f"""new Promise((resolve, reject) => {{
            const end = Date.now() + {PATIENCE - 20} * 1000;
            const look = () => {{
                let value = null;
                try {{ value = ({expression}); }} catch {{}}
                if (value) resolve(value);
                else if (Date.now() > end) reject(new Error("never: " + document.body.innerText));
                else setTimeout(look, 15);
            }};
            look();
        }})"""

    def wait_text(self, selector, text):
        """Waits until what a selector finds has a text in it."""
        return self.wait(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".some((element) => element.checkVisibility() && element.innerText.includes({json.dumps(text)}))"
        )

    def wait_gone(self, selector, text=""):
        return self.wait(
            f"![...document.querySelectorAll({json.dumps(selector)})]"
            f".some((element) => element.checkVisibility() && element.innerText.includes({json.dumps(text)}))"
        )

    def wait_notice(self, text, box="notices"):
        """Waits until there was a notice with a text in it, which may have gone again."""
        return self.wait(f"noticed.{box}.some((original) => original.includes({json.dumps(text)}))")

    def texts(self, selector):
        return self.value(
            f"[...document.querySelectorAll({json.dumps(selector)})].map((element) => element.innerText)"
        )

    def press(self, selector, text=""):
        """Clicks the first of what a selector finds that has a text in it, or is labelled so, once it is there."""
        self.wait(
            f"""(() => {{
                const found = [...document.querySelectorAll({json.dumps(selector)})].find((element) =>
                    element.checkVisibility() && !element.disabled
                    && (element.ariaLabel ?? element.innerText).includes({json.dumps(text)}));
                if (!found) return false;
                found.click();
                return true;
            }})()"""
        )

    def write(self, selector, text):
        """Replaces what stands in a field."""
        self.wait(
            f"""(() => {{
                const field = document.querySelector({json.dumps(selector)});
                if (!field.checkVisibility()) return false;
                field.focus();
                field.select?.();
                return document.activeElement === field;
            }})()"""
        )
        self.call("Input.insertText", text=text)

    def key(self, name, modifiers=0):
        """Presses a key; 2 of `modifiers` stands for Ctrl."""
        code, text = KEYS[name]
        more = {"text": text} if text else {}
        key = " " if name == "Space" else name
        facts = dict(key=key, code=name, windowsVirtualKeyCode=code, modifiers=modifiers)
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **facts, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def picture(self, path):
        data = self.call("Page.captureScreenshot")["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def head_is_one_row(self):
        """Whether the parts of the page's head stand beside each other, each in one line and in sight."""
        return self.value(
            """(() => {
                const parts = [...document.querySelectorAll(".top > *")].filter((part) => part.checkVisibility());
                const boxes = parts.map((part) => part.getBoundingClientRect());
                const isRow = boxes.every((box) => box.top < boxes[0].bottom && box.bottom > boxes[0].top);
                return isRow && boxes.every((box) => box.right <= innerWidth && box.width > 0 && box.height < 45);
            })()"""
        )

    def check(self):
        """Nothing has gone wrong in the page so far."""
        assert self.value("faults") == []

    def close(self):
        self.browser.call("Target.closeTarget", timeout=PATIENCE, targetId=self.target)

    # What people do on every page

    def sign_up(self, name, email=None, password="secret"):
        self.press("#gate button.plain", "Create an account")
        self.write("#field-name", name)
        self.write("#field-email", email or f"{name.lower()}@example.com")
        self.write("#field-password", password)
        self.key("Enter")
        self.wait("!document.getElementById('app').hidden")
        return self

    def sign_in(self, name, password="secret"):
        self.write("#field-email", f"{name.lower()}@example.com")
        self.write("#field-password", password)
        self.key("Enter")
        return self

    # Files

    def give(self, how, name, content, kind, field, picker):
        """Gives a file to what two selectors find: by "picker", or by "drop" or "paste" at the field."""
        text = base64.b64encode(content).decode()
        self.wait(f"document.querySelector({json.dumps(picker if how == 'picker' else field)}) !== null")
        self.value(
            f"""(() => {{
                const bytes = Uint8Array.from(atob("{text}"), (sign) => sign.charCodeAt(0));
                const given = new DataTransfer();
                given.items.add(new File([bytes], {json.dumps(name)}, {{ type: {json.dumps(kind)} }}));
                const facts = {{ bubbles: true, cancelable: true }};
                const field = document.querySelector({json.dumps(field)});
                if ({json.dumps(how)} === "paste") {{
                    field.dispatchEvent(new ClipboardEvent("paste", {{ ...facts, clipboardData: given }}));
                }} else if ({json.dumps(how)} === "drop") {{
                    field.dispatchEvent(new DragEvent("dragover", {{ ...facts, dataTransfer: given }}));
                    field.dispatchEvent(new DragEvent("drop", {{ ...facts, dataTransfer: given }}));
                }} else {{
                    const picker = document.querySelector({json.dumps(picker)});
                    picker.files = given.files;
                    picker.dispatchEvent(new Event("change"));
                }}
            }})()"""
        )

    def cut_files(self, bucket):
        """From now on no upload to a bucket gets through, until `reach_files`."""
        self.call("Network.enable")
        self.call("Network.setBlockedURLs", urls=[f"*/v0/b/{bucket}/o?name=*"])

    def reach_files(self):
        self.call("Network.setBlockedURLs", urls=[])

    # Chat

    def follow(self, name):
        self.write("#find-people", name)
        self.press("#found-people button", f"Follow {name}")
        self.wait_text("#found-people button[aria-pressed=true]", "Following")

    def message(self, name):
        """Opens the chat with a user who is followed and found."""
        self.press("#found-people button", f"Message {name}")
        self.wait("document.activeElement.matches('.composer textarea')")

    def say(self, text):
        self.write(".composer textarea", text)
        self.key("Enter")

    def attach(self, how, name, content, kind):
        """Gives a file to what is written: by "picker", "drop" or "paste"."""
        self.give(how, name, content, kind, ".composer textarea", ".composer input[type=file]")


# Every text in sight against what is behind it, by WCAG 2's formula; large text may have less, and does not need to.
CONTRAST = """(() => {
    const parts = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = ([red, green, blue]) => [red, green, blue]
        .map((part) => part / 255)
        .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const over = (front, back) => {
        const alpha = front[3] ?? 1;
        return front.slice(0, 3).map((part, index) => part * alpha + back[index] * (1 - alpha));
    };
    const behind = (element) => {
        if (!element) return [255, 255, 255];
        const color = parts(getComputedStyle(element).backgroundColor);
        return (color[3] ?? 1) === 1 ? color : over(color, behind(element.parentElement));
    };
    const faults = [];
    for (const element of document.querySelectorAll("body *")) {
        const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        const isField = element.matches("input, textarea") && element.placeholder;
        if (!hasText && !isField || element.closest(".unseen, .skip, svg, noscript") || !element.checkVisibility()) continue;
        if (element.disabled) continue;
        const back = behind(element);
        const style = getComputedStyle(element, isField && !element.value ? "::placeholder" : null);
        const front = over(parts(style.color), back);
        const [one, other] = [light(front), light(back)].sort((a, b) => b - a);
        const ratio = (one + 0.05) / (other + 0.05);
        if (ratio < 4.5) faults.push(`${element.tagName}.${element.className}: ${ratio.toFixed(2)}`);
    }
    return faults;
})()"""


def contrast_faults(window):
    """The elements whose text is not read easily."""
    return window.value(CONTRAST)


def links(window, place):
    """Where the links of a place lead, and how."""
    return window.value(
        f"[...document.querySelectorAll({place!r})].map((a) => [a.getAttribute('href'), a.rel, a.target])"
    )
