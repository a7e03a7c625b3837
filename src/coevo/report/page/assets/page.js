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

  const make = coevoProbabilities.make;

  // -- the view: scale and translation in user units

  const FONT = 12; // units, as in the style sheet
  const [LEAST, READABLE] = [8, 10]; // pixels: text that may be fitted, and text to start with otherwise
  const view = { x: 0, y: 0, k: 1 };
  const box = svg.viewBox.baseVal;
  let isFitted = true; // until the user moves the view
  let places = data.boxes; // the centre of each variable, in the drawing that is shown

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
    const most = Math.max(4, 3 / pixelsPerUnit()); // text of 36 pixels
    const k = Math.min(most, Math.max(0.5, view.k * factor));
    view.x = at.x - (at.x - view.x) * (k / view.k);
    view.y = at.y - (at.y - view.y) * (k / view.k);
    view.k = k;
    isFitted = false;
    applyView();
  }
  // Show the complete drawing. Its box has a least size; on a small screen the text is larger than that.
  function fit() {
    const drawn = places.filter((_, n) => !nodes[n].classList.contains("away"));
    const extent = (at, size) => Math.max(...drawn.map((p) => p[at])) - Math.min(...drawn.map((p) => p[at])) + size;
    const widest = Math.max(0, ...data.boxes.map(([, , width]) => width));
    const room = Math.min(svg.clientWidth / extent(0, widest + 16), svg.clientHeight / extent(1, 70));
    Object.assign(view, { x: 0, y: 0, k: 1 });
    if (!part) say("");
    if (drawn.length) zoom(Math.max(1, Math.min(READABLE / FONT, room) / pixelsPerUnit()));
    isFitted = true;
  }
  function refit() { if (isFitted) fit(); else applyView(); }
  function pan(dx, dy) { view.x += dx; view.y += dy; isFitted = false; applyView(); }
  function centre(n, pixels = FONT) {
    const readable = pixels / FONT / pixelsPerUnit();
    view.k = Math.max(view.k, readable);
    const [x, y] = places[n];
    view.x = box.x + box.width / 2 - x * view.k;
    view.y = box.y + box.height / 2 - y * view.k;
    isFitted = false;
    applyView();
  }

  // Fit the drawing if its text can be read then; otherwise start with a part of it.
  function start(n) {
    fit();
    const isPart = FONT * pixelsPerUnit() * view.k < LEAST && n >= 0;
    if (isPart) centre(n, READABLE);
    return isPart;
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
  window.addEventListener("resize", refit);

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
    const opens = (n === null) !== panel.hidden; // or closes
    panel.hidden = n === null;
    stage.classList.toggle("open", n !== null);
    if (n !== null) { nodes[n].classList.add("chosen"); fillPanel(n); }
    if (n === null) depth = 0;
    showPart();
    highlight(n);
    if (move && n !== null && !depth) centre(n); else if (opens) refit();
    if (n !== null) reveal();
  }
  // On a narrow screen the panel is below the graph: scroll to it.
  function reveal() {
    const isBelow = panel.getBoundingClientRect().top >= svg.getBoundingClientRect().bottom;
    (isBelow ? panel : svg).scrollIntoView({ block: "nearest" });
  }
  svg.addEventListener("click", (event) => {
    if (moved) { moved = false; return; }
    const arc = arcOf(event.target);
    pinned = arc !== null;
    if (pinned) { showTip(event, arcText(arc)); return; } // until the next click
    tip.hidden = true;
    const n = numberOf(event.target);
    if (n !== null || !depth) choose(n); // a click beside a neighbourhood does not leave it
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
  const wides = paths.map((path) => {
    const wide = path.cloneNode();
    wide.id = "w" + path.id.slice(1);
    wide.setAttribute("class", "wide-arc");
    return wide;
  });
  if (wides.length) paths[0].parentNode.prepend(...wides);
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
    const around = make("button", undefined, { type: "button", class: "around" });
    around.addEventListener("click", () => { setDepth(depth ? 0 : 1); });
    const line = make("div", undefined, { class: "line" });
    line.append(make("p", data.states ? `${data.states[n].length} states` : ""), around);
    const parts = [close, make("h2", data.names[n]), line];
    parts.push(...listArcs("Parents", into[n], PARENT), ...listArcs("Children", outOf[n], CHILD));
    const blanket = blanketOf(n), names = make("div", undefined, { class: "blanket-list" });
    names.append(...blanket.map(link));
    parts.push(make("h3", `Markov blanket: ${blanket.length}`), names);
    if (data.tables) parts.push(make("h3", "Probabilities"), ...coevoProbabilities.render(data, n));
    else parts.push(make("p", "This page has no probability tables."));
    panel.replaceChildren(...parts);
    panel.scrollTop = 0;
  }

  // -- the neighbourhood of the selected variable

  let depth = 0; // steps; 0 shows all variables
  let part = ""; // the variable and the depth that are shown; empty if all variables are
  const wholeBox = svg.getAttribute("viewBox"), wholePaths = paths.map((path) => path.getAttribute("d"));
  const depths = [...byId("depths").children], shown = byId("shown");
  const count = (n, noun) => `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;
  function membersAround(n, steps) {
    const members = new Set([n]);
    for (let i = 0; i < steps; i++) {
      for (const m of [...members]) {
        const ends = touching[m].flatMap((arc) => [data.arcs[arc][PARENT], data.arcs[arc][CHILD]]);
        for (const other of [...ends, ...blanketOf(m)]) members.add(other);
      }
    }
    return [...members].sort((a, b) => a - b);
  }
  function drawNode(n, isShown) {
    nodes[n].classList.toggle("away", !isShown);
    nodes[n].setAttribute("transform", `translate(${places[n][0]} ${places[n][1]})`);
  }
  function drawArc(i, d) {
    for (const line of [paths[i], wides[i]]) {
      line.classList.toggle("away", !d);
      if (d) line.setAttribute("d", d);
    }
  }
  function drawPart(members) {
    const index = new Map(members.map((m, i) => [m, i]));
    const falls = (arc) => data.boxes[arc[PARENT]][1] < data.boxes[arc[CHILD]][1]; // not so if only the other network has it
    const inside = data.arcs.map((_, i) => i).filter((i) => index.has(data.arcs[i][PARENT]) && index.has(data.arcs[i][CHILD]));
    const ends = inside.map((i) => {
      const both = [index.get(data.arcs[i][PARENT]), index.get(data.arcs[i][CHILD])];
      return falls(data.arcs[i]) ? both : both.reverse();
    });
    const boxes = members.map((m) => ({ x: data.boxes[m][0], y: data.boxes[m][1], width: data.boxes[m][2] }));
    const drawing = coevoNeighbourhood.layOut(boxes, ends, svg.clientWidth / svg.clientHeight);
    const curves = new Map(inside.map((i, at) => [i, falls(data.arcs[i]) ? drawing.curves[at] : [...drawing.curves[at]].reverse()]));
    places = data.boxes.map((each, m) => (index.has(m) ? drawing.places[index.get(m)] : each));
    nodes.forEach((_, m) => drawNode(m, index.has(m)));
    paths.forEach((_, i) => {
      const [first, ...rest] = curves.get(i) || [];
      drawArc(i, first && `M${first.join(" ")}C${rest.flat().join(" ")}`);
    });
    const width = Math.max(760, drawing.width + 56), height = Math.max(430, drawing.height + 56);
    svg.setAttribute("viewBox", [(drawing.width - width) / 2, (drawing.height - height) / 2, width, height].join(" "));
  }
  function drawAll() {
    places = data.boxes;
    nodes.forEach((_, n) => drawNode(n, true));
    paths.forEach((_, i) => drawArc(i, wholePaths[i]));
    svg.setAttribute("viewBox", wholeBox);
  }
  // Draw what the depth and the selected variable ask for.
  function showPart() {
    depths.forEach((button, i) => button.setAttribute("aria-pressed", String(i === depth)));
    const around = panel.querySelector(".around");
    if (around) around.textContent = depth ? "Show all variables" : "Show its neighbourhood";
    const wanted = depth && chosen !== null ? `${chosen} ${depth}` : "";
    if (!wanted) say(depth ? "Choose a variable: click on it, or search for it." : "");
    if (wanted === part) return;
    part = wanted;
    svg.classList.toggle("part", part !== "");
    if (part) {
      const members = membersAround(chosen, depth);
      drawPart(members);
      start(chosen);
      say(`${data.names[chosen]} and its neighbourhood, ${count(depth, "step")}: ` +
        `${members.length.toLocaleString("en-US")} of ${count(data.names.length, "variable")}.`);
    } else {
      drawAll();
      if (chosen === null) fit(); else start(chosen);
    }
  }
  function say(text) { shown.textContent = text; shown.hidden = !text; }
  function setDepth(steps) {
    depth = steps;
    showPart();
    if (depth && chosen === null) search.focus();
    else svg.scrollIntoView({ block: "nearest" });
  }
  depths.forEach((button, i) => button.addEventListener("click", () => setDepth(i)));

  document.addEventListener("click", (event) => {
    const name = event.target.closest(".name");
    if (!name) return;
    choose(Number(name.dataset.n), { move: true });
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
    const [x, y] = places[n];
    let best = null, least = Infinity;
    places.forEach(([ox, oy], other) => {
      const along = (ox - x) * dx + (oy - y) * dy, aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
      if (other === n || along <= 1 || nodes[other].classList.contains("away")) return;
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
    else if (/^[1-3]$/.test(event.key)) {
      if (n !== null) choose(n);
      setDepth(Number(event.key));
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      pinned = false;
      tip.hidden = true;
      if (depth) setDepth(0); else choose(null);
    }
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
  // The first view of a large graph: a variable with many arcs, but not so many that they hide all others.
  const degrees = touching.map((arcs) => (arcs.length > 10 ? 0 : arcs.length));
  if (start(degrees.indexOf(Math.max(...degrees)))) say("A part of the graph is shown. Drag it to move; Fit shows all of it.");
})();
