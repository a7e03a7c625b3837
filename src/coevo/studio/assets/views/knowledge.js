// The Knowledge view: required and forbidden arcs, tiers and limits, drawn or by keyboard.

import { h } from "../dom.js";
import { whenIdle } from "../page/press.js";
import { count, fill, keepFocus, label, latest, makeAbsent, select } from "../parts/element.js";
import { KnowledgeBoard } from "../parts/knowledge_board.js";
import { mergeKnowledge } from "../parts/knowledge_merge.js";
import { download } from "../parts/save.js";

const MODES = [["required", "Require arcs"], ["forbidden", "Forbid arcs"], ["tiers", "Move into tiers"]];
const sameArc = (one, two) => one[0] === two[0] && one[1] === two[1];

class KnowledgeView {
  constructor(container, context) {
    Object.assign(this, { container, context, api: context.api });
    this.past = []; // changes, each with what was known before and after it
    this.future = [];
    this.conflicts = [];
    this.board = new KnowledgeBoard({
      addArc: (kind, from, to) => this.addArc(kind, from, to),
      setTier: (name, tier) => this.setTier(name, tier),
    });
    this.save = latest(() => this.store());
    this.refresh = () => {
      if (!this.known || document.visibilityState === "hidden") return;
      this.isOld = true;
      this.saved = Promise.all([this.saved, this.save()]);
    };
    context.onEvent("tables", this.refresh);
    this.start(context.params?.[0]);
  }

  close() {
    this.board.close();
  }

  get address() {
    return `/api/tables/${encodeURIComponent(this.name)}/knowledge`;
  }

  async start(name) {
    const found = await this.context.attempt(() => this.api.get("/api/tables"));
    this.tables = found?.tables.map(one => one.name) || [];
    this.name = name || this.tables[0];
    if (!this.name) {
      fill(this.container, h("p", { class: "empty" }, "There is no table yet. ",
        h("a", { href: "#/data" }, "Add one"), " first."));
      return;
    }
    const isThere = this.tables.includes(this.name);
    const record = isThere && await this.context.attempt(() => this.api.get(this.address));
    if (!record) {
      fill(this.container, h("header", { class: "view-head" }, h("h2", {}, "What you know already"), this.chooseTable()),
        !isThere && makeAbsent("table", this.name));
      return;
    }
    this.take(record);
    this.known = this.base;
    this.showRecord(record);
    this.drawFrame();
    this.draw();
  }

  // Remember what is stored: changes are made to this version of it, and to no other.
  take(record) {
    this.variables = record.variables ?? this.variables;
    this.base = complete(record.knowledge);
    this.version = record.version;
  }

  showRecord(record) {
    this.contradictions = record.contradictions;
    this.state = record.contradictions.length ? "draft" : "saved";
  }

  // Change what is known; the board shows it at once, and the server checks and stores it.
  change(known, isHistory = false) {
    if (!isHistory) {
      this.past.push({ before: this.known, after: known });
      this.future = [];
    }
    this.known = known;
    this.conflicts = this.conflicts.filter(one => one.isOpen(known));
    this.isDirty = true;
    this.state = "saving";
    this.draw();
    this.saved = Promise.all([this.saved, this.save()]);
  }

  // Bring the page and the server together: first what others stored, then what was changed here.
  async store() {
    try {
      if (this.isOld) {
        this.isOld = false;
        const record = await this.api.get(this.address);
        const isNews = record.version !== this.version || record.variables.join() !== this.variables.join();
        if (isNews) this.absorb(record);
        if (!isNews && !this.isDirty && !this.failure) return;
      }
      while (this.isDirty) {
        this.isDirty = false;
        await this.storeOnce(reduce(this.known));
      }
      this.failure = "";
    } catch (error) {
      this.isDirty = true; // the next change, or the next notice, tries again
      this.failure = error.message;
      this.state = "draft";
    }
    this.showState();
  }

  // Ask for contradictions first: the server stores nothing that has one.
  async storeOnce(content) {
    const { contradictions } = await this.api.post(`${this.address}/check`, content);
    this.contradictions = contradictions;
    this.state = "draft";
    if (contradictions.length || this.conflicts.length) return;
    try {
      this.take(await this.api.put(`${this.address}?version=${this.version}`, content));
      this.state = "saved";
      this.isMerged = false;
    } catch (error) {
      const current = error.answer?.current;
      if (!current) throw error;
      this.absorb(current);
      if (!this.isDirty) return;
      this.isMerged = true;
      this.context.notify("This knowledge was changed elsewhere, too. Both changes are shown here.", "info");
    }
  }

  // Apply what was changed here to what somebody else has stored.
  absorb(record) {
    const { known, conflicts } = mergeKnowledge(this.base, this.known, complete(record.knowledge));
    this.take(record);
    this.known = known;
    this.conflicts = [...this.conflicts.filter(one => one.isOpen(known)), ...conflicts];
    this.isDirty = JSON.stringify(reduce(known)) !== JSON.stringify(reduce(this.base));
    if (!this.isDirty) this.showRecord(record);
    this.draw();
  }

  addArc(kind, from, to) {
    const other = kind === "required" ? "forbidden" : "required";
    const known = { ...this.known };
    if (known[kind].some(arc => sameArc(arc, [from, to]))) {
      this.context.notify(`${from} → ${to} is ${kind} already.`, "info");
      return;
    }
    known[kind] = [...known[kind], [from, to]];
    known[other] = [...known[other]];
    this.change(known);
  }

  removeArc(kind, arc) {
    this.change({ ...this.known, [kind]: this.known[kind].filter(one => !sameArc(one, arc)) });
  }

  // Change what a part of the page shows. What others have stored may be newer: it is shown when the user
  // neither presses nor types, and a button that is pressed until then must not take it away.
  changeShown(shown, changed) {
    this.change(mergeKnowledge(shown, { ...shown, ...changed }, this.known).known);
  }

  setTier(name, tier) {
    const tiers = this.known.tiers.map(names => names.filter(one => one !== name));
    if (tier !== null) tiers[tier] = [...(tiers[tier] || []), name];
    this.change({ ...this.known, tiers });
  }

  toggle(key, name) {
    const has = this.known[key].includes(name);
    const names = has ? this.known[key].filter(one => one !== name) : [...this.known[key], name];
    this.change({ ...this.known, [key]: names });
  }

  // Undo takes back the own change only, not what others stored since.
  undo() {
    const last = this.past.pop();
    if (!last) return;
    this.future.push(last);
    this.change(mergeKnowledge(last.after, last.before, this.known).known, true);
  }

  redo() {
    const next = this.future.pop();
    if (!next) return;
    this.past.push(next);
    this.change(mergeKnowledge(next.before, next.after, this.known).known, true);
  }

  chooseTable() {
    const table = select(this.tables.map(one => [one, one]), this.name, {
      onchange: () => this.context.go("knowledge", [table.value]),
    });
    return label("Table", table);
  }

  drawFrame() {
    const modes = h("div", { class: "choice", role: "group", "aria-label": "What a drag does" },
      MODES.map(([mode, text]) => h("button", {
        type: "button", "data-mode": mode, "aria-pressed": String(mode === this.board.mode),
        onclick: () => {
          this.board.setMode(mode);
          for (const one of modes.children) {
            one.setAttribute("aria-pressed", String(one.dataset.mode === mode));
          }
        },
      }, text)));
    this.alert = h("div", { id: "contradictions", role: "alert" });
    this.status = h("span", { id: "saved", role: "status" });
    this.side = h("div", { class: "side" });
    this.undoButton = h("button", { type: "button", id: "undo", onclick: () => this.undo() }, "Undo");
    this.redoButton = h("button", { type: "button", id: "redo", onclick: () => this.redo() }, "Redo");
    fill(this.container, h("div", { class: "knowledge-view" },
      h("header", { class: "view-head" }, h("h2", {}, "What you know already"),
        h("div", { class: "actions" }, this.chooseTable(), modes, this.undoButton,
          this.redoButton, this.status)),
      this.alert, h("div", { class: "stage-two" }, this.board.node, this.side)));
  }

  draw() {
    whenIdle(() => {
      this.undoButton.disabled = !this.past.length;
      this.redoButton.disabled = !this.future.length;
      this.board.update({ variables: this.variables, ...this.known });
      keepFocus(this.side, () => fill(this.side, this.makeArcForm(), this.makeTierForm(), this.makeLimits(),
        this.makeList(), this.makeFiles()));
      this.showState();
    });
  }

  // Show what the server said. All elements that can be pressed stay where they are.
  showState() {
    const isDraft = this.state === "draft";
    const words = { saved: "Saved.", saving: "Saving …", draft: "Not saved." };
    this.status.textContent = words[this.state];
    this.board.mark(this.state === "saved" ? [] : this.contradictions);
    fill(this.alert, isDraft && h("div", { class: "contradiction" },
      this.failure ? h("p", {}, `This is not saved: ${this.failure}`) : [
        h("strong", {}, "This cannot hold together, so it is not saved:"),
        h("ul", {}, this.contradictions.map(one => h("li", {}, one.sentence)),
          this.conflicts.map(one => h("li", {}, one.sentence, " ", one.choices.map(([text, choose]) =>
            h("button", { type: "button", onclick: () => this.settle(one, choose) }, `Take ${text}`))))),
        this.isMerged && h("p", {}, "A part of it was saved elsewhere, in another tab or by another program. Remove what is wrong."),
        this.past.length > 0 && h("button", { type: "button", onclick: () => this.undo() },
          "Undo the last change")]));
  }

  // Decide between two values of the same number.
  settle(conflict, choose) {
    this.conflicts = this.conflicts.filter(one => one !== conflict);
    this.change(choose(this.known));
  }

  makeArcForm() {
    const pairs = this.variables.map(one => [one, one]);
    const kind = select([["required", "Require"], ["forbidden", "Forbid"]], this.lastKind || "forbidden",
      { id: "arc-kind", "data-key": "arc-kind", onchange: () => { this.lastKind = kind.value; } });
    const from = select(pairs, this.lastFrom || this.variables[0],
      { id: "arc-from", "data-key": "arc-from", onchange: () => { this.lastFrom = from.value; } });
    const to = select(pairs, this.lastTo || this.variables[1],
      { id: "arc-to", "data-key": "arc-to", onchange: () => { this.lastTo = to.value; } });
    return h("form", { class: "arc-form", onsubmit: event => {
      event.preventDefault();
      [this.lastKind, this.lastFrom, this.lastTo] = [kind.value, from.value, to.value];
      this.addArc(kind.value, from.value, to.value);
    } }, h("h3", {}, "An arc"), h("div", { class: "row" }, label("What", kind), label("From", from),
      label("To", to), h("button", { id: "add-arc", "data-key": "add-arc" }, "Add")));
  }

  makeTierForm() {
    const { known } = this, { tiers } = known;
    const variable = select(this.variables.map(one => [one, one]), this.lastMoved || this.variables[0],
      { id: "tier-variable", "data-key": "tier-variable", onchange: () => { this.lastMoved = variable.value; } });
    const tier = select([...tiers.map((_, i) => [String(i), `tier ${i + 1}`]), ["new", "a new tier"],
      ["", "no tier"]], this.lastTier ?? "new",
    { id: "tier-number", "data-key": "tier-number", onchange: () => { this.lastTier = tier.value; } });
    return h("form", { onsubmit: event => {
      event.preventDefault();
      this.lastMoved = variable.value;
      const place = tier.value === "" ? null : tier.value === "new" ? tiers.length : Number(tier.value);
      this.lastTier = place === null ? "" : String(place);
      this.setTier(variable.value, place);
    } }, h("h3", {}, "Tiers"),
    h("div", { class: "row" }, label("Variable", variable), label("Into", tier),
      h("button", { id: "move-tier", "data-key": "move-tier" }, "Move"),
      h("button", { type: "button", id: "add-tier", "data-key": "add-tier",
        onclick: () => this.changeShown(known, { tiers: [...tiers, []] }) }, "Add an empty tier"),
      tiers.length > 0 && h("button", { type: "button", "data-key": "remove-tiers",
        onclick: () => this.change({ ...this.known, tiers: [] }) }, "Remove all tiers")));
  }

  makeLimits() {
    this.limit ??= h("input", { // it stays: a new field would lose the caret, and what is selected in it
      type: "number", min: 1, max: 99, id: "max-parents", "data-key": "max-parents", placeholder: "none",
      onchange: () => this.change({ ...this.known, max_parents: this.limit.value ? Number(this.limit.value) : null }),
    });
    const shown = String(this.known.max_parents ?? "");
    if (this.limit.value !== shown) this.limit.value = shown;
    const variable = select(this.variables.map(one => [one, one]), this.lastNode || this.variables[0],
      { "data-key": "limit-variable", onchange: () => { this.lastNode = variable.value; this.draw(); } });
    const name = this.lastNode || this.variables[0];
    const box = (key, text) => h("label", { class: "check" }, h("input", {
      type: "checkbox", "data-key": `limit-${key}`, checked: this.known[key].includes(name),
      onchange: () => this.toggle(key, name),
    }), text);
    return h("div", {}, h("h3", {}, "Limits"),
      h("div", { class: "row" }, label("Parents of a variable, at most", this.limit)),
      h("div", { class: "row" }, label("Variable", variable), box("roots", "has no parents"),
        box("leaves", "has no children")));
  }

  makeList() {
    const { known } = this;
    const items = [
      ...["required", "forbidden"].flatMap(kind => known[kind].map(arc =>
        [`${arc[0]} → ${arc[1]} is ${kind}`, () => this.removeArc(kind, arc)])),
      ...known.tiers.map((names, i) => [`tier ${i + 1}: ${names.join(", ") || "empty"}`,
        () => this.changeShown(known, { tiers: known.tiers.filter(other => other !== names) })]),
      ...known.roots.map(name => [`${name} has no parents`, () => this.toggle("roots", name)]),
      ...known.leaves.map(name => [`${name} has no children`, () => this.toggle("leaves", name)]),
      ...known.weights.map(one => [`${one[0]} → ${one[1]} has the weight ${one[2]}`,
        () => this.changeShown(known, { weights: known.weights.filter(other => other !== one) })]),
      ...(known.max_parents ? [[`a variable has at most ${count(known.max_parents, "parent")}`,
        () => this.changeShown(known, { max_parents: null })]] : []),
    ];
    return h("div", {}, h("h3", {}, "All statements"),
      items.length ? h("ul", { class: "notes", id: "statements" }, items.map(([text, remove], i) =>
        h("li", {}, h("span", {}, text), h("button", {
          type: "button", "aria-label": `Remove: ${text}`, "data-key": `remove-${i}`, onclick: remove,
        }, "Remove"))))
        : h("p", { class: "note" }, "None yet. The data alone decide."));
  }

  makeFiles() {
    const file = h("input", { type: "file", id: "knowledge-file", class: "file", accept: ".json,.csv",
      onchange: () => this.importFile(file.files[0]) });
    return h("div", {}, h("h3", {}, "Constraint file"),
      h("div", { class: "row" },
        h("label", { class: "button", for: "knowledge-file" }, "Import"), file,
        h("button", { type: "button", id: "export", "data-key": "export",
          onclick: () => this.context.attempt(() => this.exportFile()) }, "Export")));
  }

  // The file holds what is stored, so the last change is stored first.
  async exportFile() {
    await this.saved;
    if (this.state === "draft") {
      this.context.notify("What is shown cannot hold together: the file has what was saved last.", "info");
    }
    await download(`${this.address}/file`);
  }

  async importFile(file) {
    if (!file) return;
    const record = await this.context.attempt(() => this.api.upload(
      `${this.address}/import?file=${encodeURIComponent(file.name)}`, file));
    if (record) this.change(complete(record.knowledge));
  }
}

// Return the knowledge with all keys.
function complete(known) {
  return {
    required: [], forbidden: [], tiers: [], roots: [], leaves: [], weights: [], max_parents: null, ...known,
  };
}

// Return the object of a constraint file: empty entries are left out.
function reduce(known) {
  const found = {};
  for (const [key, value] of Object.entries(known)) {
    if (Array.isArray(value) ? value.length : value !== null) found[key] = value;
  }
  return found;
}

export default {
  id: "knowledge",
  title: "Knowledge",
  mount(container, context) {
    const view = new KnowledgeView(container, context);
    return () => view.close();
  },
};
