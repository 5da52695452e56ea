// Files of a bucket over HTTP, as the person who is signed in.

export class Bucket {
  #hearth;
  #objects;

  constructor(hearth, name) {
    this.#hearth = hearth;
    this.#objects = `/v0/b/${name}/o`;
  }

  /** Stores a file; its address, which opens without signing in. `report` gets how many bytes are there. */
  async put(path, content, type, report = () => {}) {
    const request = new XMLHttpRequest();
    request.open("POST", `${this.#objects}?name=${encodeURIComponent(path)}`);
    for (const [name, value] of Object.entries(await this.#credential())) request.setRequestHeader(name, value);
    request.setRequestHeader("Content-Type", type);
    request.upload.onprogress = ({ loaded }) => report(Math.min(loaded, content.size));
    await new Promise((resolve, reject) => {
      request.onload = resolve;
      request.onerror = () => reject(new Error("the server cannot be reached"));
      request.send(content);
    });
    refuse(request.status);
    const [download] = JSON.parse(request.responseText).downloadTokens.split(",");
    return `${location.origin}${this.#place(path)}?alt=media&token=${download}`;
  }

  /** What a file has, as the address of a picture. */
  async picture(path) {
    const answer = await fetch(`${this.#place(path)}?alt=media`, { headers: await this.#credential() });
    refuse(answer.status);
    const content = await answer.blob();
    return new Promise((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(reader.result);
      reader.readAsDataURL(content);
    });
  }

  /** Whether a file is there. */
  async has(path) {
    const answer = await fetch(this.#place(path), { headers: await this.#credential() });
    if (answer.status !== 404) refuse(answer.status);
    return answer.ok;
  }

  /** Deletes a file; whether it was there. */
  async delete(path) {
    const answer = await fetch(this.#place(path), { method: "DELETE", headers: await this.#credential() });
    if (answer.status !== 404) refuse(answer.status);
    return answer.ok;
  }

  #place(path) {
    return `${this.#objects}/${encodeURIComponent(path)}`;
  }

  async #credential() {
    return { Authorization: `Firebase ${await this.#hearth.token()}` };
  }
}

function refuse(status) {
  if (status === 403) throw new Error("the server's rules for files do not allow it");
  if (status !== 200 && status !== 204) throw new Error(`the server answered ${status} to the file`);
}
