// The page of the nodes that share a log: who owns the group, how far each is, and a hand-over.

import { el, fill, keepFocus, notice } from "./dom.js";
import { Repeated } from "./figures.js";
import { confirmed, lines } from "./parts.js";
import { getJSON, send } from "./server.js";
import { bytes, number } from "./values.js";

const heads = ["Node", "Role", "Epoch", "Commits", "Entry", "Behind", "Rules"];

export class ClusterPage {
  #rows = el("tbody");
  #facts = el("p", { class: "count", role: "status" });
  #handOver = el("button", { type: "button", "data-changes": true, hidden: true, onclick: () => this.#end() }, "Hand over");
  #problem = el("p", { class: "problem", role: "alert" });
  #alone = el("div", { class: "empty teach", hidden: true });
  #table;
  #looks = new Repeated(() => this.#look(), 2000);

  constructor() {
    const cells = heads.map((head, index) => el("th", { scope: "col", class: index > 1 && index < 6 ? "number" : null }, head));
    this.#table = el("div", { class: "wide", hidden: true }, el("table", { class: "list" }, el("thead", {}, el("tr", {}, cells)), this.#rows));
    this.element = el(
      "section",
      { class: "page", "aria-label": "Cluster" },
      el("h1", {}, "Cluster"),
      el("div", { class: "bar" }, this.#facts, this.#handOver),
      this.#problem,
      this.#alone,
      this.#table,
    );
  }

  show() {
    this.#looks.start();
  }

  close() {
    this.#looks.stop();
  }

  async #look() {
    try {
      const group = await getJSON("/.inspect/cluster.json");
      const all = [group, ...group.nodes ?? []];
      const last = Math.max(...all.map(({ sequence }) => sequence ?? 0));
      this.#facts.textContent = `${number(all.length)} nodes heard, this one is ${group.node}; ${bytes(group.waitingBytes ?? 0)} on their way into the log`;
      keepFocus(this.#rows, () => fill(this.#rows, all.map((node) => this.#row(node, last))));
      this.#table.hidden = false;
      this.#handOver.hidden = group.role !== "owner";
      this.#handOver.disabled = all.length < 2;
      this.#problem.textContent = [
        group.fault && `This node serves nothing: ${group.fault}`,
        group.stalled && "The log takes no commits now: most brokers are away or choose a leader.",
        group.rulesDiffer && "The nodes have different files of rules: give each the same.",
      ].filter(Boolean).join(" ");
    } catch (refusal) {
      if (refusal.status === 404) this.#teach();
      else this.#problem.textContent = `No answer of this node, which may have handed over: ${refusal.message}`;
    }
  }

  #row({ address, role, epoch, commit, sequence, rules }, last) {
    const count = (value) => el("td", { class: "number" }, value === undefined ? "–" : number(value));
    return el(
      "tr",
      {},
      el("th", { scope: "row", class: "mono" }, el("a", { href: `${address}/.console/` }, address)),
      el("td", {}, role),
      count(epoch),
      count(commit),
      count(sequence),
      count(sequence === undefined ? undefined : last - sequence),
      el("td", { class: "mono" }, (rules ?? "").slice(0, 8)),
    );
  }

  #teach() {
    this.#looks.stop();
    if (!this.#alone.hidden) return;
    this.#alone.hidden = false;
    fill(this.#alone, [el("h2", {}, "This server is alone"), el("p", {}, "Several machines can share a log: one serves, and the others take over when it dies, without a write lost."), lines([
      ["make this data the beginning of a group, with the server stopped", "hearth cluster found --data-dir hearth-data"],
      ["start it as a node", "hearth serve --cluster-node n1 --cluster-brokers 10.0.0.1:4222,10.0.0.2:4222,10.0.0.3:4222 --cluster-advertise db1.example.com:9000 --cluster-secret-file cluster-secret"],
      ["a copy for the next node", `hearth cluster join --url ${location.origin} --data-dir hearth-data`],
    ])]);
  }

  async #end() {
    if (!(await confirmed("Hand the group over?", "This node writes what waits, lets another one take over, and ends; its service manager starts it again as a follower. Apps connect again by themselves within a second.", "Hand over"))) return;
    try {
      await send("POST", "/.settings/cluster/handover.json");
      notice("The group is handed over. Open the console of the next owner.");
    } catch (refusal) {
      notice(`Not handed over: ${refusal.message}`, true);
    }
  }
}
