// Files of a bucket over HTTP, as the person who is signed in.

export class Bucket {
  #hearth;
  #objects;
  /** Files whose upload was cut: whether they are there is unknown. */
  #cut = new Set();

  constructor(hearth, name) {
    this.#hearth = hearth;
    this.#objects = `/v0/b/${name}/o`;
  }

  /**
   * Stores a file; its address, which opens without signing in. `report` gets how many bytes are there. One that was cut
   * may be stored again: what has arrived stays.
   */
  async put(path, content, type, report = () => {}) {
    const known = this.#cut.has(path) ? await this.#facts(path) : null;
    if (known) return this.#address(path, known);
    const request = new XMLHttpRequest();
    request.open("POST", `${this.#objects}?name=${encodeURIComponent(path)}`);
    for (const [name, value] of Object.entries(await this.#credential())) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", type);
    request.upload.onprogress = ({ loaded }) => report(Math.min(loaded, content.size));
    await new Promise((resolve, reject) => {
      request.onload = resolve;
      request.onerror = () => {
        this.#cut.add(path);
        reject(new Error("the server cannot be reached"));
      };
      request.send(content);
    });
    refuse(request.status);
    return this.#address(path, JSON.parse(request.responseText));
  }

  /** What a file has, as the address of a picture. */
  async picture(path) {
    const answer = await fetch(`${this.#place(path)}?alt=media`, { headers: await this.#credential() });
    refuse(answer.status);
    return dataAddress(await answer.blob());
  }

  /** Whether a file is there. */
  async has(path) {
    return (await this.#facts(path)) !== null;
  }

  /** Deletes a file; whether it was there. */
  async delete(path) {
    const answer = await fetch(this.#place(path), { method: "DELETE", headers: await this.#credential() });
    if (answer.status !== 404) refuse(answer.status);
    return answer.ok;
  }

  /** What the server knows of a file; null where there is none. */
  async #facts(path) {
    const answer = await fetch(this.#place(path), { headers: await this.#credential() });
    if (answer.status === 404) return null;
    refuse(answer.status);
    return answer.json();
  }

  #address(path, { downloadTokens }) {
    return `${location.origin}${this.#place(path)}?alt=media&token=${downloadTokens.split(",")[0]}`;
  }

  #place(path) {
    return `${this.#objects}/${encodeURIComponent(path)}`;
  }

  async #credential() {
    return { Authorization: `Firebase ${await this.#hearth.token()}` };
  }
}

/** Content as an address, which the policy of the pages lets them show. */
export function dataAddress(content) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(content);
  });
}

function refuse(status) {
  if (status === 403) throw new Error("the server's rules for files do not allow it");
  if (status !== 200 && status !== 204) throw new Error(`the server answered ${status} to the file`);
}
