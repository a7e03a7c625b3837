/* The board of the Knowledge view: variables in tiers, and arcs that are drawn between them.

The variables are buttons, so that they wrap on a narrow screen and a screen reader names them.
The arcs are drawn over them. A drag from one variable to another draws an arc; in the mode
"tiers" it moves the variable into the tier below the pointer. */

import { h, s } from "../dom.js";
import { fill } from "./element.js";

const FAR = 6; // pixels that make a drag of a click

function arcKey(arc) {
  return JSON.stringify(arc);
}

export class KnowledgeBoard {
  // `actions` = {addArc(kind, from, to), removeArc(kind, from, to), setTier(name, tier)}.
  constructor(actions) {
    this.actions = actions;
    this.mode = "required";
    this.from = null;
    this.nodes = new Map();
    this.bands = h("div", { class: "bands" });
    this.layer = s("svg", { class: "arc-layer", "aria-hidden": "true" });
    this.hint = h("p", { class: "hint", role: "status" });
    this.board = h("div", { class: "board" }, this.bands, this.layer);
    this.node = h("div", {}, this.hint, this.board);
    this.observer = new ResizeObserver(() => this.drawArcs());
    this.observer.observe(this.board);
  }

  close() {
    this.observer.disconnect();
  }

  setMode(mode) {
    this.mode = mode;
    this.choose(null);
  }

  // Show knowledge: variables, tiers (with empty ones), arcs.
  update({ variables, tiers, required, forbidden, roots, leaves }) {
    this.required = required;
    this.forbidden = forbidden;
    this.variables = new Set(variables);
    this.nodes.clear();
    const placed = new Set(tiers.flat());
    const free = variables.filter(name => !placed.has(name));
    const marks = name => [roots.includes(name) && "no parents", leaves.includes(name) && "no children"]
      .filter(Boolean).join(", ");
    const band = (names, tier, title) => h("div", {
      class: "band", "data-tier": tier ?? "", role: "group", "aria-label": title,
    }, h("span", { class: "band-title" }, title),
    names.map(name => this.makeNode(name, marks(name))));
    fill(this.bands,
      tiers.map((names, i) => band(names, i, `Tier ${i + 1}`)),
      band(free, null, tiers.length ? "In no tier" : "Variables"));
    this.showHint();
  }

  // Show where the contradictions are. A drag that has begun continues.
  mark(contradictions) {
    const badNames = new Set(contradictions.flatMap(one => one.variables));
    this.bad = new Set(contradictions.flatMap(one => one.arcs.map(arcKey)));
    for (const [name, node] of this.nodes) {
      node.classList.toggle("bad", badNames.has(name) || !this.variables.has(name));
    }
    this.drawArcs();
  }

  makeNode(name, marks) {
    const node = h("button", {
      type: "button", class: "variable",
      "data-name": name, "data-key": `variable-${name}`,
      "aria-pressed": this.from === name ? "true" : "false",
      onpointerdown: event => this.startDrag(event, name),
      onclick: event => this.click(event, name),
      onkeydown: event => { if (event.key === "Escape") this.choose(null); },
    }, name, marks && h("small", {}, marks));
    this.nodes.set(name, node);
    return node;
  }

  showHint() {
    const words = this.mode === "required" ? "Require" : "Forbid";
    this.hint.textContent = this.mode === "tiers"
      ? "Drag a variable into a tier. No arc leads from a later tier to an earlier one."
      : this.from === null
        ? `${words} an arc: drag from the first variable to the second, or choose one after the other.`
        : `${words} an arc from ${this.from}: choose the second variable. Escape cancels.`;
  }

  choose(name) {
    this.from = name;
    for (const [other, node] of this.nodes) {
      node.setAttribute("aria-pressed", other === name ? "true" : "false");
    }
    this.showHint();
  }

  click(event, name) {
    if (this.dragged) {
      this.dragged = false;
      return;
    }
    if (this.mode === "tiers") return;
    if (this.from === null) this.choose(name);
    else if (this.from === name) this.choose(null);
    else {
      const from = this.from;
      this.choose(null);
      this.actions.addArc(this.mode, from, name);
    }
  }

  startDrag(event, name) {
    if (event.button) return;
    const start = { x: event.clientX, y: event.clientY };
    let isMoving = false;
    this.dragged = false;
    const move = moved => {
      if (!isMoving && Math.hypot(moved.clientX - start.x, moved.clientY - start.y) < FAR) return;
      if (!isMoving) {
        isMoving = true;
        this.board.classList.add("dragging");
      }
      moved.preventDefault();
      if (this.mode === "tiers") this.showTarget(this.findBand(moved));
      else this.drawRubber(name, moved);
    };
    const finish = () => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", end);
      document.removeEventListener("pointercancel", finish);
      this.board.classList.remove("dragging");
      this.showTarget(null);
      this.layer.querySelector(".rubber")?.remove();
    };
    const end = ended => {
      finish();
      if (!isMoving) return;
      // A click follows on the same element only; it must not choose the variable.
      this.dragged = this.nodes.get(name)?.contains(ended.target) || false;
      if (this.mode === "tiers") {
        const band = this.findBand(ended);
        if (band) this.actions.setTier(name, band.dataset.tier === "" ? null : Number(band.dataset.tier));
        return;
      }
      const other = document.elementFromPoint(ended.clientX, ended.clientY)?.closest(".variable");
      if (other && other.dataset.name !== name) this.actions.addArc(this.mode, name, other.dataset.name);
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", end);
    document.addEventListener("pointercancel", finish);
  }

  findBand(event) {
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest(".band");
    return under && this.board.contains(under) ? under : null;
  }

  showTarget(band) {
    for (const one of this.bands.children) one.classList.toggle("over", one === band);
  }

  drawRubber(name, event) {
    const box = this.board.getBoundingClientRect();
    const start = this.centre(name);
    let line = this.layer.querySelector(".rubber");
    if (!line) this.layer.append(line = s("path", { class: `rubber ${this.mode}` }));
    line.setAttribute("d", `M${start.x} ${start.y}L${event.clientX - box.left} ${event.clientY - box.top}`);
  }

  centre(name) {
    const node = this.nodes.get(name), outer = this.board.getBoundingClientRect();
    if (!node) return null;
    const box = node.getBoundingClientRect();
    return {
      x: box.left - outer.left + box.width / 2, y: box.top - outer.top + box.height / 2,
      w: box.width / 2, h: box.height / 2,
    };
  }

  drawArcs() {
    if (!this.bad) return;
    const box = this.board.getBoundingClientRect();
    this.layer.setAttribute("viewBox", `0 0 ${box.width || 1} ${box.height || 1}`);
    this.layer.replaceChildren(...[
      ...this.required.map(arc => this.makeArc("required", arc)),
      ...this.forbidden.map(arc => this.makeArc("forbidden", arc)),
      this.layer.querySelector(".rubber"),
    ].filter(Boolean));
  }

  // Draw a curve from border to border, with its head, and a cross if the arc is forbidden.
  makeArc(kind, [from, to]) {
    const a = this.centre(from), b = this.centre(to);
    if (!a || !b) return null;
    const dx = b.x - a.x, dy = b.y - a.y, far = Math.hypot(dx, dy) || 1;
    const bend = Math.min(40, far / 5);
    const middle = { x: (a.x + b.x) / 2 - dy / far * bend, y: (a.y + b.y) / 2 + dx / far * bend };
    const start = leave(a, middle, 0), end = leave(b, middle, 9);
    const angle = Math.atan2(end.y - middle.y, end.x - middle.x) * 180 / Math.PI;
    const top = {
      x: (start.x + 2 * middle.x + end.x) / 4, y: (start.y + 2 * middle.y + end.y) / 4,
    };
    const isBad = this.bad.has(arcKey([from, to]));
    return s("g", { class: `known-arc ${kind} ${isBad ? "bad" : ""}`, "data-arc": arcKey([from, to]) },
      s("title", {}, `${from} → ${to} is ${kind}${isBad ? ": a contradiction" : ""}`),
      s("path", { class: "line", d: `M${start.x} ${start.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}` }),
      s("path", { class: "head", d: "M0 -5L9 0L0 5z",
        transform: `translate(${end.x} ${end.y}) rotate(${angle})` }),
      kind === "forbidden" && s("path", { class: "cross", d: "M-5 -5L5 5M5 -5L-5 5",
        transform: `translate(${top.x} ${top.y})` }));
  }
}

// Return the point where a line from the centre of a box to a point leaves the box.
function leave(box, point, room) {
  const dx = point.x - box.x, dy = point.y - box.y;
  const scale = Math.min((box.w + room) / (Math.abs(dx) || 1e-9), (box.h + room) / (Math.abs(dy) || 1e-9));
  return { x: box.x + dx * scale, y: box.y + dy * scale };
}
