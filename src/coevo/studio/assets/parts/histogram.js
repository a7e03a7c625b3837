// A histogram whose cut points can be dragged, added and removed, by pointer or by keyboard.

import { h, s } from "../dom.js";
import { count, formatValue } from "./element.js";

const WIDTH = 600, HEIGHT = 190, BASE = 158, TOP = 40;
const LABEL_ROOM = 52; // labels closer than this stand in two rows
const OUTSIDE = 16, SPACE = 8; // the bars of all numbers below, or above, the others

// Return a step of 1, 2 or 5 times a power of ten that is a small part of a bar.
export function chooseStep(edges) {
  const bar = (edges[edges.length - 1] - edges[0]) / (edges.length - 1);
  const power = 10 ** Math.floor(Math.log10(bar / 10));
  return [5, 2, 1].map(factor => factor * power).find(step => step <= bar / 10) || power;
}

// Round a number to a multiple of a step, without digits that only a computer sees.
export function roundTo(value, step) {
  return Number((Math.round(value / step) * step).toPrecision(12)) + 0;
}

// Return where a new cut point goes: the middle of the widest bin.
export function chooseNewCut(edges, cuts) {
  const ends = [edges[0], ...cuts, edges[edges.length - 1]];
  let best = 0;
  for (let i = 1; i < ends.length - 1; i++) {
    if (ends[i + 1] - ends[i] > ends[best + 1] - ends[best]) best = i;
  }
  return roundTo((ends[best] + ends[best + 1]) / 2, chooseStep(edges));
}

class CutEditor {
  constructor({ name, numbers, cuts, onInput, onCommit }) {
    Object.assign(this, { name, numbers, onInput, onCommit });
    this.cuts = [...cuts];
    const { edges, n_below, n_above } = numbers.histogram;
    this.edges = edges;
    this.step = chooseStep(edges);
    this.low = edges[0];
    this.high = edges[edges.length - 1];
    this.left = n_below ? OUTSIDE + SPACE : 0;
    this.right = WIDTH - (n_above ? OUTSIDE + SPACE : 0);
    this.bars = s("g");
    this.handles = s("g");
    this.svg = s("svg", {
      class: "cut-editor", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group",
      "aria-label": `Histogram of ${name} with its cut points`,
      ondblclick: event => this.add(this.valueAt(event)),
    }, this.bars, s("path", { class: "axis", d: `M0 ${BASE}H${WIDTH}` }), this.handles);
    this.drawBars();
    this.drawHandles();
  }

  x(value) {
    const inside = Math.min(Math.max(value, this.low), this.high);
    return this.left + (this.right - this.left) * (inside - this.low) / (this.high - this.low);
  }

  valueAt(event) {
    const box = this.svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * WIDTH / box.width;
    const value = this.low + (x - this.left) / (this.right - this.left) * (this.high - this.low);
    return roundTo(value, this.step);
  }

  drawBars() {
    const { edges, counts, n_below, n_above } = this.numbers.histogram;
    const tallest = Math.max(...counts, n_below, n_above, 1);
    const draw = (x, width, n, title, kind) => {
      const height = n ? Math.max(1.5, (BASE - TOP) * n / tallest) : 0;
      this.bars.append(s("rect", {
        x, y: BASE - height, width: Math.max(0.8, width), height, class: `bar ${kind}`,
      }, s("title", {}, `${title}: ${count(n, "row")}`)));
    };
    if (n_below) draw(0, OUTSIDE, n_below, `below ${formatValue(this.low)}`, "outside");
    counts.forEach((n, i) => {
      const x = this.x(edges[i]);
      const title = `${formatValue(edges[i])} to ${formatValue(edges[i + 1])}`;
      draw(x + 0.5, this.x(edges[i + 1]) - x - 1, n, title, "");
    });
    if (n_above) {
      const title = `${formatValue(this.high)} and above`;
      draw(WIDTH - OUTSIDE, OUTSIDE, n_above, title, "outside");
    }
    this.bars.append(
      s("text", { class: "end", x: this.left, y: HEIGHT - 4 }, formatValue(this.low)),
      s("text", { class: "end", x: this.right, y: HEIGHT - 4, "text-anchor": "end" },
        formatValue(this.high)));
  }

  drawHandles(focused = -1) {
    this.handles.replaceChildren(...this.cuts.map((cut, i) => this.makeHandle(cut, i)));
    if (focused >= 0) this.handles.children[Math.min(focused, this.cuts.length - 1)]?.focus();
  }

  makeHandle(cut, i) {
    const handle = s("g", {
      class: "cut", tabindex: 0, role: "slider", "data-key": `cut-${this.name}-${i}`,
      "aria-label": `Cut point ${i + 1} of ${this.name}`,
      "aria-orientation": "horizontal",
      onpointerdown: event => this.startDrag(event, i),
      onkeydown: event => this.pressKey(event, i),
    },
    s("path", { class: "touch", d: `M0 0V${BASE + 6}` }),
    s("path", { class: "line", d: `M0 ${TOP - 4}V${BASE + 6}` }),
    s("circle", { cx: 0, cy: BASE + 8, r: 6 }),
    s("text", { "text-anchor": "middle" }));
    this.placeHandle(handle, cut, i);
    return handle;
  }

  placeHandle(handle, cut, i) {
    const x = this.x(cut), text = handle.querySelector("text");
    handle.setAttribute("transform", `translate(${x} 0)`);
    handle.setAttribute("aria-valuemin", Math.min(this.low, cut));
    handle.setAttribute("aria-valuemax", Math.max(this.high, cut));
    handle.setAttribute("aria-valuenow", cut);
    handle.setAttribute("aria-valuetext", formatValue(cut));
    text.textContent = formatValue(cut);
    const isClose = i > 0 && x - this.x(this.cuts[i - 1]) < LABEL_ROOM;
    text.setAttribute("y", isClose && i % 2 ? TOP - 26 : TOP - 9);
    text.setAttribute("x", Math.min(Math.max(0, 16 - x), 16) - Math.max(0, x - WIDTH + 16));
  }

  // Move a cut point between its neighbours.
  move(i, value) {
    const least = i > 0 ? this.cuts[i - 1] + this.step : -Infinity;
    const most = i < this.cuts.length - 1 ? this.cuts[i + 1] - this.step : Infinity;
    this.cuts[i] = Number(Math.min(Math.max(value, least), most).toPrecision(12));
    this.cuts.forEach((cut, j) => this.placeHandle(this.handles.children[j], cut, j));
    this.onInput([...this.cuts]);
  }

  startDrag(event, i) {
    event.preventDefault();
    const handle = this.handles.children[i], start = this.cuts[i];
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    handle.classList.add("moving");
    const drag = moved => {
      const value = this.valueAt(moved);
      this.move(i, Math.min(Math.max(value, this.low), this.high));
    };
    const end = () => {
      handle.removeEventListener("pointermove", drag);
      handle.classList.remove("moving");
      if (this.cuts[i] !== start) this.onCommit([...this.cuts]);
    };
    handle.addEventListener("pointermove", drag);
    handle.addEventListener("pointerup", end, { once: true });
    handle.addEventListener("pointercancel", end, { once: true });
  }

  pressKey(event, i) {
    const big = event.shiftKey ? 10 : 1;
    const moves = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
    if (event.key in moves) {
      this.move(i, roundTo(this.cuts[i] + moves[event.key] * big * this.step, this.step));
      this.onCommit([...this.cuts]);
    } else if (event.key === "Delete" || event.key === "Backspace") {
      this.remove(i);
    } else {
      return;
    }
    event.preventDefault();
  }

  remove(i) {
    this.cuts.splice(i, 1);
    this.drawHandles(i);
    this.onInput([...this.cuts]);
    this.onCommit([...this.cuts]);
  }

  // Add a cut point; without a value it divides the widest bin.
  add(value = chooseNewCut(this.edges, this.cuts)) {
    if (this.cuts.includes(value)) return;
    this.cuts = [...this.cuts, value].sort((a, b) => a - b);
    this.drawHandles(this.cuts.indexOf(value));
    this.onInput([...this.cuts]);
    this.onCommit([...this.cuts]);
  }

  setCuts(cuts) {
    if (cuts.length === this.cuts.length) {
      this.cuts = [...cuts];
      cuts.forEach((cut, i) => this.placeHandle(this.handles.children[i], cut, i));
    } else {
      this.cuts = [...cuts];
      this.drawHandles();
    }
  }
}

/* Return an editor of the cut points of a column: {node, setCuts(cuts), add()}.
   onInput(cuts) is called while something moves, onCommit(cuts) when it is done. */
export function makeCutEditor(options) {
  const editor = new CutEditor(options);
  return {
    node: h("div", { class: "histogram-frame" }, editor.svg),
    setCuts: cuts => editor.setCuts(cuts),
    add: () => editor.add(),
  };
}
