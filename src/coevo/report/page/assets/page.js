(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const svg = byId("graph"), world = byId("world"), stage = byId("stage"), panel = byId("panel");
  const tip = byId("tip"), search = byId("search"), found = byId("found");
  const nodes = data.names.map((_, i) => byId("n" + i));
  const paths = data.arcs.map((_, i) => byId("a" + i));
  const [PARENT, CHILD, DIRECTED, KIND, FACTS] = [0, 1, 2, 3, 5];
  const FACT_NAMES = [["gain", 2], ["strength", 3], ["direction", 3]]; // name and number of digits
  const [WORD, SAYS] = [FACTS + FACT_NAMES.length, FACTS + FACT_NAMES.length + 1];
  const ownArcs = data.arcs.map((arc, i) => i).filter((i) => data.arcs[i][KIND] !== "missing");
  const into = data.names.map(() => []), outOf = data.names.map(() => []);
  for (const i of ownArcs) {
    into[data.arcs[i][CHILD]].push(i);
    outOf[data.arcs[i][PARENT]].push(i);
  }
  const touching = data.names.map(() => []);
  data.arcs.forEach((arc, i) => { touching[arc[PARENT]].push(i); touching[arc[CHILD]].push(i); });
  const parentsOf = (n) => into[n].map((i) => data.arcs[i][PARENT]);
  const childrenOf = (n) => outOf[n].map((i) => data.arcs[i][CHILD]);

  function blanketOf(n) {
    const all = new Set([...parentsOf(n), ...childrenOf(n)]);
    for (const child of childrenOf(n)) parentsOf(child).forEach((p) => all.add(p));
    all.delete(n);
    return [...all].sort((a, b) => a - b);
  }

  function make(tag, text, attributes = {}) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  // -- the view: scale and translation in user units

  const view = { x: 0, y: 0, k: 1 };
  const box = svg.viewBox.baseVal;

  function applyView() {
    world.style.transform = `translate(${view.x}px, ${view.y}px) scale(${view.k})`;
    const pixels = pixelsPerUnit() * view.k;
    svg.classList.toggle("far", pixels < 0.25);
    svg.style.setProperty("--scale", String(pixels)); // edges stay visible when zoomed out
  }
  const pixelsPerUnit = () => Math.min(svg.clientWidth / box.width, svg.clientHeight / box.height);

  function toUser(event) {
    const matrix = svg.getScreenCTM().inverse();
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix);
  }
  function zoom(factor, at = { x: box.x + box.width / 2, y: box.y + box.height / 2 }) {
    const most = Math.max(4, 3 / pixelsPerUnit());
    const k = Math.min(most, Math.max(0.5, view.k * factor));
    view.x = at.x - (at.x - view.x) * (k / view.k);
    view.y = at.y - (at.y - view.y) * (k / view.k);
    view.k = k;
    applyView();
  }
  function fit() { Object.assign(view, { x: 0, y: 0, k: 1 }); applyView(); }
  function pan(dx, dy) { view.x += dx; view.y += dy; applyView(); }
  function centre(n) {
    const readable = 1 / pixelsPerUnit();
    view.k = Math.max(view.k, Math.min(readable, 40));
    const [x, y] = data.boxes[n];
    view.x = box.x + box.width / 2 - x * view.k;
    view.y = box.y + box.height / 2 - y * view.k;
    applyView();
  }

  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    zoom(Math.exp(-event.deltaY * unit * (event.ctrlKey ? 0.01 : 0.0018)), toUser(event));
  }, { passive: false });

  const pointers = new Map();
  let moved = false;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, toUser(event));
    moved = false;
  });
  svg.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return;
    const before = pointers.get(event.pointerId), now = toUser(event);
    const far = Math.hypot(now.x - before.x, now.y - before.y) * pixelsPerUnit();
    if (!moved && far < 4) return;
    if (!moved) { moved = true; svg.setPointerCapture(event.pointerId); svg.classList.add("moving"); }
    if (pointers.size === 2) {
      const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
      const ratio = Math.hypot(now.x - other.x, now.y - other.y) /
        Math.max(1e-6, Math.hypot(before.x - other.x, before.y - other.y));
      zoom(ratio, other);
    } else {
      pan(now.x - before.x, now.y - before.y);
    }
    pointers.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    svg.addEventListener(end, (event) => {
      pointers.delete(event.pointerId);
      if (!pointers.size) svg.classList.remove("moving");
    });
  }
  byId("zoom-in").addEventListener("click", () => zoom(1.4));
  byId("zoom-out").addEventListener("click", () => zoom(1 / 1.4));
  byId("zoom-fit").addEventListener("click", fit);
  window.addEventListener("resize", applyView);

  // -- the selected variable

  let chosen = null;
  const numberOf = (target) => {
    const node = target.closest && target.closest(".node");
    return node ? Number(node.id.slice(1)) : null;
  };

  function highlight(n) {
    for (const element of svg.querySelectorAll(".hot, .blanket")) element.classList.remove("hot", "blanket");
    svg.classList.toggle("focus", n !== null);
    if (n === null) return;
    nodes[n].classList.add("hot");
    for (const i of touching[n]) {
      paths[i].classList.add("hot");
      nodes[data.arcs[i][PARENT]].classList.add("hot");
      nodes[data.arcs[i][CHILD]].classList.add("hot");
    }
    for (const other of blanketOf(n)) {
      if (!nodes[other].classList.contains("hot")) nodes[other].classList.add("hot", "blanket");
    }
  }
  function choose(n, { move = false } = {}) {
    if (chosen !== null) nodes[chosen].classList.remove("chosen");
    for (const node of nodes) if (node.tabIndex === 0) node.tabIndex = -1;
    chosen = n;
    nodes[n === null ? 0 : n].tabIndex = 0;
    const opens = n !== null && panel.hidden;
    panel.hidden = n === null;
    stage.classList.toggle("open", n !== null);
    if (n !== null) { nodes[n].classList.add("chosen"); fillPanel(n); }
    highlight(n);
    if (move && n !== null) centre(n); else if (opens) applyView();
  }
  svg.addEventListener("click", (event) => {
    if (moved) { moved = false; return; }
    const arc = arcOf(event.target);
    pinned = arc !== null;
    if (pinned) showTip(event, arcText(arc)); // until the next click
    else { tip.hidden = true; choose(numberOf(event.target)); }
  });
  svg.addEventListener("pointerover", (event) => {
    if (pinned) return;
    const n = numberOf(event.target), arc = arcOf(event.target);
    if (n !== null) {
      if (chosen === null) highlight(n);
      showTip(event, data.names[n]);
    } else if (arc !== null) {
      paths[arc].classList.add("over");
      showTip(event, arcText(arc));
    }
  });
  svg.addEventListener("pointerout", (event) => {
    const arc = arcOf(event.target);
    if (arc !== null) paths[arc].classList.remove("over");
    if (chosen === null) highlight(null);
    if (!pinned) tip.hidden = true;
  });

  // Thin lines are hard to hit, so each has a wide, invisible one below it.
  let pinned = false; // the tip of an arc stays
  for (const path of [...paths].reverse()) {
    const wide = path.cloneNode();
    wide.id = "w" + path.id.slice(1);
    wide.setAttribute("class", "wide-arc");
    path.parentNode.prepend(wide);
  }
  function arcOf(target) {
    const arc = target.closest && target.closest(".arc, .wide-arc");
    return arc ? Number(arc.id.slice(1)) : null;
  }

  function showTip(event, text) {
    tip.textContent = text;
    tip.hidden = false;
    tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8) + "px";
  }
  function arcText(i) {
    const arc = data.arcs[i], parts = [`${data.names[arc[PARENT]]} \u2192 ${data.names[arc[CHILD]]}`];
    const facts = factsOf(i);
    if (facts) parts.push(facts);
    if (!arc[DIRECTED]) parts.push("undirected in the CPDAG");
    return parts.join(", ") + (arc[SAYS] ? "\n" + arc[SAYS] : "");
  }
  const figure = (value, digits) => (Number(value.toFixed(digits)) || 0).toLocaleString("en-US",
    { minimumFractionDigits: digits, maximumFractionDigits: digits }); // "|| 0": no sign of a zero
  function factsOf(i) {
    const values = data.arcs[i].slice(FACTS);
    const parts = FACT_NAMES.map(([name, digits], at) => values[at] === null ? "" : `${name} ${figure(values[at], digits)}`);
    if (parts[0]) parts[0] += ` (${data.arcs[i][WORD]})`;
    return parts.filter(Boolean).join(", ");
  }

  // -- the panel

  const link = (n) => make("button", data.names[n], { type: "button", class: "name", "data-n": n });
  function listArcs(title, arcs, end) {
    const list = make("ul");
    for (const i of arcs) {
      const item = make("li");
      const undirected = data.arcs[i][DIRECTED] ? "" : (factsOf(i) ? ", " : "") + "undirected in the CPDAG";
      item.append(link(data.arcs[i][end]), make("small", factsOf(i) + undirected));
      if (data.arcs[i][SAYS]) item.append(make("small", data.arcs[i][SAYS], { class: "says" }));
      list.append(item);
    }
    return [make("h3", `${title}: ${arcs.length}`), list];
  }
  function fillPanel(n) {
    const close = make("button", "Close", { type: "button", class: "close" });
    close.addEventListener("click", () => { choose(null); svg.focus(); });
    const parts = [close, make("h2", data.names[n])];
    if (data.states) parts.push(make("p", `${data.states[n].length} states`));
    parts.push(...listArcs("Parents", into[n], PARENT), ...listArcs("Children", outOf[n], CHILD));
    const blanket = blanketOf(n), names = make("div", undefined, { class: "blanket-list" });
    names.append(...blanket.map(link));
    parts.push(make("h3", `Markov blanket: ${blanket.length}`), names);
    if (data.tables) parts.push(make("h3", "Probabilities"), ...tableOf(n));
    else parts.push(make("p", "This page has no probability tables."));
    panel.replaceChildren(...parts);
    panel.scrollTop = 0;
  }
  function tableOf(n) {
    const { parents, n: total, rows } = data.tables[n];
    const table = make("table", undefined, { class: "cpt" }), head = make("tr");
    for (const p of parents) head.append(make("th", data.names[p], { scope: "col", class: "given" }));
    for (const state of data.states[n]) head.append(make("th", state, { scope: "col" }));
    const thead = make("thead"), body = make("tbody");
    thead.append(head);
    rows.forEach((row, at) => {
      const line = make("tr");
      let rest = at;
      const given = parents.map(() => "");
      for (let i = parents.length - 1; i >= 0; i--) {
        const states = data.states[parents[i]];
        given[i] = states[rest % states.length];
        rest = Math.floor(rest / states.length);
      }
      for (const state of given) line.append(make("td", state, { class: "given" }));
      for (const p of row) {
        const cell = make("td", p === 0 || p === 1 ? String(p) : p < 0.0005 ? p.toExponential(1) : p.toFixed(3), { class: "p", title: String(p) });
        cell.style.background = `linear-gradient(to right, var(--bar) ${100 * p}%, transparent ${100 * p}%)`;
        line.append(cell);
      }
      body.append(line);
    });
    table.append(thead, body);
    const wide = make("div", undefined, { class: "wide", tabindex: "0" });
    wide.append(table);
    const note = `The first ${rows.length.toLocaleString("en-US")} of ${total.toLocaleString("en-US")} rows.`;
    return rows.length < total ? [make("p", note), wide] : [wide];
  }

  document.addEventListener("click", (event) => {
    const name = event.target.closest(".name");
    if (!name) return;
    choose(Number(name.dataset.n), { move: true });
    svg.scrollIntoView({ block: "nearest" });
  });

  // -- search

  let hits = [], at = 0;
  const lower = data.names.map((name) => name.toLowerCase());
  function suggest() {
    const text = search.value.trim().toLowerCase();
    const rank = (n) => (lower[n] === text ? 0 : lower[n].startsWith(text) ? 1 : 2);
    hits = data.names.map((_, n) => n).filter((n) => lower[n].includes(text));
    hits.sort((a, b) => rank(a) - rank(b) || a - b);
    hits = hits.slice(0, 60);
    at = 0;
    found.replaceChildren(...hits.map((n, i) => {
      const item = make("li", data.names[n], { role: "option", id: "hit" + i, "aria-selected": i === 0 });
      item.addEventListener("pointerdown", (event) => { event.preventDefault(); selectHit(i); });
      return item;
    }));
    if (!hits.length) found.replaceChildren(make("li", "No variable name contains this text.", { role: "option" }));
    open(true);
  }
  function open(is) {
    found.hidden = !is;
    search.setAttribute("aria-expanded", String(is));
    if (is && hits.length) search.setAttribute("aria-activedescendant", "hit" + at);
    else search.removeAttribute("aria-activedescendant");
  }
  function step(by) {
    if (found.hidden) { suggest(); return; }
    if (!hits.length) return;
    found.children[at].setAttribute("aria-selected", "false");
    at = (at + by + hits.length) % hits.length;
    found.children[at].setAttribute("aria-selected", "true");
    found.children[at].scrollIntoView({ block: "nearest" });
    open(true);
  }
  function selectHit(i) {
    if (i >= hits.length) return;
    const n = hits[i];
    search.value = data.names[n];
    open(false);
    choose(n, { move: true });
  }
  search.addEventListener("input", suggest);
  search.addEventListener("focus", suggest);
  search.addEventListener("blur", () => open(false));
  search.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { step(1); event.preventDefault(); }
    else if (event.key === "ArrowUp") { step(-1); event.preventDefault(); }
    else if (event.key === "Enter") selectHit(at);
    else if (event.key === "Escape" && !found.hidden) { open(false); event.stopPropagation(); }
  });

  // -- keys: arrows move from variable to variable, or pan the view

  const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  function nearest(n, [dx, dy]) {
    const [x, y] = data.boxes[n];
    let best = null, least = Infinity;
    data.boxes.forEach(([ox, oy], other) => {
      const along = (ox - x) * dx + (oy - y) * dy, aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
      if (other === n || along <= 1) return;
      const cost = along + 2 * aside;
      if (cost < least) { least = cost; best = other; }
    });
    return best;
  }
  svg.addEventListener("keydown", (event) => {
    const direction = DIRECTIONS[event.key], n = numberOf(event.target);
    if (direction && n !== null) {
      const next = nearest(n, direction);
      if (next !== null) {
        nodes[n].tabIndex = -1;
        nodes[next].tabIndex = 0;
        nodes[next].focus({ preventScroll: true });
      }
    } else if (direction) {
      const by = 60 / pixelsPerUnit();
      pan(-direction[0] * by, -direction[1] * by);
    } else if (event.key === "Enter" || event.key === " ") {
      if (n === null) return;
      choose(n);
    } else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { pinned = false; tip.hidden = true; choose(null); }
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      search.focus();
      search.select();
    }
  });

  // -- views

  const views = { dag: byId("view-dag"), cpdag: byId("view-cpdag") };
  function setView(which) {
    svg.classList.toggle("cpdag", which === "cpdag");
    for (const [name, button] of Object.entries(views)) button.setAttribute("aria-pressed", String(name === which));
  }
  views.dag.addEventListener("click", () => setView("dag"));
  views.cpdag.addEventListener("click", () => setView("cpdag"));
  const differences = byId("differences");
  if (differences) {
    svg.classList.add("compared");
    differences.addEventListener("change", () => svg.classList.toggle("differ", differences.checked));
  }

  // -- tables and the command

  const table = byId("arcs");
  if (table) coevoTables.makeSortable(table);
  const copy = byId("copy");
  if (copy) copy.addEventListener("click", () => coevoTables.copyText(byId("command"), copy));
  applyView();
})();
