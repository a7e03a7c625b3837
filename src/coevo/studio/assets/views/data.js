// The Data view: add a table, look at it, correct what was detected.

import { h } from "../dom.js";
import { whenIdle } from "../page/press.js";
import { count, fill, formatShare, keepFocus, label, latest, makeAbsent, select } from "../parts/element.js";
import { ColumnCard } from "../parts/column_card.js";
import { once } from "../parts/once.js";

const SHOWN = 60; // columns before "Show more"
const MISSING = [
  ["", "evolve: a third species imputes them (default)"], ["em", "structural EM"],
  ["available", "use the rows that observe a family"], ["state", "missing is a state"],
  ["drop", "leave out incomplete rows"], ["refuse", "refuse the table"],
];
const METHODS = [["", "mdl: chooses the number of bins (default)"], ["quantile", "quantiles"],
  ["uniform", "bins of equal width"], ["kmeans", "k-means"], ["none", "do not cut numbers"]];
const address = name => `/api/tables/${encodeURIComponent(name)}`;

class DataView {
  constructor(container, context) {
    this.container = container;
    this.context = context;
    this.api = context.api;
    this.open = new Set();
    this.past = []; // earlier settings, for Undo
    this.turn = 0; // counts requests, so that a late answer does not replace a newer one
    this.limit = SHOWN;
    this.filter = "";
    this.cards = new Map();
    this.store = latest(settings => this.put(settings));
    this.sources = h("section", { class: "sources" });
    this.list = h("ul", { class: "list" });
    this.table = h("section", { class: "table", "aria-live": "off" });
    fill(container, h("div", { class: "data-view" }, this.sources, this.table));
    this.start(context.params?.[0]);
    context.onEvent("tables", () => this.follow());
  }

  async start(name) {
    await this.listTables();
    const chosen = name || (this.tables.length === 1 ? this.tables[0].name : null);
    if (name && !this.tables.some(one => one.name === name)) fill(this.table, makeAbsent("table", name));
    else if (chosen) await this.show(chosen);
    else fill(this.table, h("p", { class: "empty" },
      "Add a table to begin. It stays on this machine."));
  }

  async listTables() {
    const found = await this.context.attempt(() => this.api.get("/api/tables"));
    this.tables = found?.tables || [];
    this.examples = found?.examples || [];
    this.networks = found?.networks || [];
    whenIdle(() => this.drawSources());
  }

  // The list of tables changes; a form below it may be half filled in, so it stays.
  drawSources() {
    if (!this.sources.hasChildNodes()) this.makeSources();
    fill(this.list, this.tables.map(one => h("li", {}, h("a", {
      href: `#/data/${encodeURIComponent(one.name)}`, "data-key": `table-${one.name}`,
      "aria-current": one.name === this.name ? "true" : null,
    }, one.name))));
  }

  makeSources() {
    const file = h("input", {
      type: "file", id: "table-file", class: "file",
      onchange: () => this.upload(file.files[0]),
    });
    const drop = h("div", {
      class: "drop", id: "drop",
      ondragover: event => { event.preventDefault(); drop.classList.add("over"); },
      ondragleave: () => drop.classList.remove("over"),
      ondrop: event => {
        event.preventDefault();
        drop.classList.remove("over");
        this.upload(event.dataTransfer.files[0]);
      },
    },
    h("p", {}, "Drop a table here: CSV, Excel, Parquet, JSON, Stata, SPSS, SAS, SQLite."),
    h("label", { class: "button", for: "table-file" }, "Choose a file"), file);
    this.progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "Upload" });
    fill(this.sources, h("h2", {}, "Tables"), this.list, drop, this.progress,
      this.makeOthers());
  }

  makeOthers() {
    const network = select(this.networks.map(one => [one, one]), "alarm", { id: "network" });
    const rows = h("input", { type: "number", min: 1, max: 1000000, value: 1000, id: "rows" });
    const path = h("input", { type: "text", id: "path", placeholder: "folder/table.csv" });
    const add = body => this.add(() => this.api.post("/api/tables/open", body));
    return h("details", { class: "others" }, h("summary", {}, "Other tables"),
      this.examples.map(one => h("p", {}, h("button", {
        type: "button", onclick: once(() => add({ example: one })),
      }, `Use the example ${one}`))),
      h("form", { onsubmit: once(() => add({ network: network.value, rows: Number(rows.value) })) }, label("Sample a published network", network), label("Rows", rows),
      h("button", {}, "Sample")),
      h("form", { onsubmit: once(() => add({ path: path.value })) }, label("A file in the workspace folder", path), h("button", {}, "Add")));
  }

  async upload(file) {
    if (!file) return;
    this.progress.hidden = false;
    await this.add(() => this.api.upload(
      `/api/upload/tables?file=${encodeURIComponent(file.name)}`, file,
      share => { this.progress.value = share; }));
    this.progress.hidden = true;
  }

  async add(work) {
    const added = await this.context.attempt(work);
    if (!added) return;
    await this.listTables();
    this.context.go("data", [added.name]);
    await this.show(added.name);
  }

  async show(name) {
    const isShown = this.name === name;
    if (!isShown) {
      this.past = [];
      this.open.clear();
      this.cards.clear();
      fill(this.table, h("p", { role: "status" }, `Reading ${name} …`));
    }
    this.name = name;
    const turn = ++this.turn;
    const record = await this.context.attempt(() => this.api.get(address(name)));
    if (isShown) await new Promise(whenIdle); // somebody else changed it, and the user may be typing
    if (turn !== this.turn) return; // something newer is shown
    if (record) this.draw(record);
    else fill(this.table);
    whenIdle(() => this.drawSources());
  }

  // A table that cannot be read: why, and the settings that may help.
  drawFailure(record) {
    this.record = record;
    this.readingOpen = true;
    fill(this.table, h("header", { class: "view-head" }, h("h2", { id: "table-name" }, this.name)),
      h("p", { class: "error", role: "alert", id: "unreadable" }, record.unreadable),
      this.makeChanges(), this.makeReading(), h("p", {}, this.makeDelete()));
  }

  // Another tab, or the command line, changed a table.
  async follow() {
    const turn = this.turn;
    await this.listTables();
    if (!this.tables.some(one => one.name === this.name)) return;
    const settings = await this.context.attempt(() => this.api.get(`${address(this.name)}/settings`));
    await new Promise(whenIdle);
    if (turn !== this.turn || this.isStoring || !settings) return;
    if (JSON.stringify(settings) !== JSON.stringify(this.record?.settings)) await this.show(this.name);
  }

  // Change the settings. Changes in quick succession are stored one after the other, the last one wins.
  change(settings, isUndo = false) {
    if (JSON.stringify(settings) === JSON.stringify(this.settings)) return undefined; // a double click
    if (!isUndo) this.past.push(this.settings);
    this.settings = settings;
    this.turn++;
    return this.store(settings);
  }

  // The answer is the table as it is read with the settings.
  async put(settings) {
    const turn = this.turn;
    this.isStoring = true;
    this.table.setAttribute("aria-busy", "true");
    const record = await this.context.attempt(() => this.api.put(`${address(this.name)}/settings`, settings));
    await new Promise(whenIdle);
    this.isStoring = false;
    this.table.removeAttribute("aria-busy");
    if (turn !== this.turn) return;
    if (!record) this.past.pop(); // nothing was changed
    this.draw(record ?? this.record);
  }

  undo() {
    const before = this.past.pop();
    if (before) this.change(before, true);
  }

  setType(name, type) {
    const types = { ...this.settings.types }, options = { ...this.settings.options };
    const source = this.findColumn(name)?.info.source;
    if (type === null) delete types[name];
    else if (source) Object.assign(types, this.makePartTypes(name, type, source));
    else types[name] = type;
    if (options.drop) options.drop = options.drop.filter(one => one !== name);
    if (options.drop && !options.drop.length) delete options.drop;
    return this.change({ types, options });
  }

  findColumn(name) {
    return this.record.columns?.find(one => one.name === name);
  }

  // The type of a part of a date. Its column of dates keeps all its parts only if they are named.
  makePartTypes(name, type, source) {
    const { type: parts, format } = this.findColumn(source).info;
    return { [name]: { ...type, source }, [source]: [parts, format].filter(Boolean).join("+") };
  }

  setOption(name, value) {
    const options = { ...this.settings.options };
    if (value === null || value === "") delete options[name];
    else options[name] = value;
    return this.change({ types: this.settings.types, options });
  }

  draw(record) {
    this.settings = record.settings;
    keepFocus(this.table, () => (record.unreadable ? this.drawFailure(record) : this.drawTable(record)));
  }

  drawTable(record) {
    this.record = record;
    const missing = record.n_missing
      ? `, ${count(record.n_missing, "missing value")} (${formatShare(record.missing_share)})` : "";
    fill(this.table,
      h("header", { class: "view-head" },
        h("h2", { id: "table-name" }, this.name),
        h("p", { id: "table-size" },
          `${count(record.n_rows, "row")}, ${count(record.n_columns, "column")}, ` +
          `${count(record.variables.length, "variable")}${missing}`),
        h("div", { class: "actions" },
          h("a", { class: "button main", href: this.context.makeAddress("learn", "new", this.name) },
            "Learn a network"),
          h("a", { class: "button", href: `#/knowledge/${encodeURIComponent(this.name)}` },
            "Add knowledge"),
          h("button", {
            type: "button", id: "undo", "data-key": "undo", disabled: !this.past.length,
            onclick: () => this.undo(),
          }, "Undo"),
          this.makeDelete())),
      this.makeDecisions(), this.makeFindings(), this.makeChanges(), this.makeColumns(),
      this.makePreview(), this.makeReading());
  }

  makeDelete() {
    return h("button", { type: "button", class: "danger", onclick: once(() => this.remove()) }, "Delete the table");
  }

  makeDecisions() {
    const { decisions } = this.record;
    if (!decisions.length) return null;
    return h("section", { id: "decisions" }, h("h3", {}, "What coevo decided"),
      h("ul", { class: "notes" }, decisions.map((one, i) => h("li", {},
        h("span", {}, one.sentence),
        one.can_undo && h("button", {
          type: "button", "data-key": `undo-${i}`, onclick: once(() => this.undoDecision(one)),
        }, "Undo this"),
        h("code", {}, one.undo)))));
  }

  async undoDecision(decision) {
    const names = {};
    for (const old of decision.needs_names) {
      const given = await this.askName(old);
      if (!given) return;
      names[old] = given;
    }
    const before = this.settings, turn = ++this.turn;
    this.isStoring = true;
    const record = await this.context.attempt(() => this.api.post(`${address(this.name)}/undo`, {
      kind: decision.kind, columns: decision.columns, names,
    }));
    await new Promise(whenIdle);
    this.isStoring = false;
    if (!record) return;
    this.past.push(before);
    if (turn === this.turn) this.draw(record);
  }

  // Ask for a new name of a column in a dialog.
  askName(old) {
    return new Promise(resolve => {
      const field = h("input", { type: "text", required: true, value: old });
      const dialog = h("dialog", { "aria-label": `New name of ${old}` },
        h("form", { method: "dialog", onsubmit: () => { dialog.given = field.value; } },
          label(`New name of the column ${old}`, field),
          h("div", { class: "actions" }, h("button", { class: "main" }, "Rename"),
            h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"))));
      dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.given || null); });
      this.container.append(dialog);
      dialog.showModal();
      field.select();
    });
  }

  makeFindings() {
    const { findings } = this.record;
    if (!findings.length) return null;
    return h("section", { id: "findings" }, h("h3", {}, "What to look at"),
      h("ul", { class: "notes" }, findings.map((one, i) => h("li", { class: one.kind },
        h("span", {}, one.sentence),
        this.makeRemedy(one, i)))));
  }

  // The button that follows a recommendation: to leave out a column, or parts of a column of dates.
  makeRemedy({ drop, types, options }, i) {
    if (options) {
      const [[name, columns]] = Object.entries(options);
      const texts = { missing_labels: "Make them missing", merge: "Merge them", types: "Cut into bins" };
      return h("button", {
        type: "button", "data-key": `follow-${i}`, onclick: () => this.takeAdvice(name, columns),
      }, texts[name] ?? "Follow");
    }
    if (!drop && !types) return null;
    const [[name, type]] = Object.entries(types ?? { [drop]: "ignore" });
    return h("button", {
      type: "button", "data-key": `drop-${i}`, onclick: () => this.setType(name, type),
    }, type === "ignore" ? `Leave out ${name}` : `Set the type of ${name} to ${type}`);
  }

  // Take the advice of a finding: add its labels or states to those that were given before.
  takeAdvice(name, columns) {
    if (name === "types") {
      const [[column, type]] = Object.entries(columns);
      return this.setType(column, type);
    }
    const given = this.settings.options[name]; // with changes that the server has not answered yet
    const known = Array.isArray(given) ? { "": given } : given ?? {};
    const changed = { ...known };
    for (const [column, value] of Object.entries(columns)) {
      changed[column] = Array.isArray(value)
        ? [...new Set([known[column] ?? [], value].flat())] : { ...known[column], ...value };
    }
    return this.setOption(name, changed);
  }

  makeChanges() {
    const { types, options } = this.record.settings;
    const items = [
      ...Object.entries(types).map(([name, type]) =>
        [`${name}: ${describeType(type)}`, () => this.setType(name, null), name]),
      ...Object.entries(options).map(([name, value]) =>
        [`${name}: ${JSON.stringify(value)}`, () => this.setOption(name, null), name]),
    ];
    if (!items.length) return null;
    return h("section", { id: "changes" }, h("h3", {}, "What you changed"),
      h("ul", { class: "notes" }, items.map(([text, restore, key]) => h("li", {},
        h("span", {}, text),
        h("button", { type: "button", "data-key": `back-${key}`, onclick: restore }, "Restore")))));
  }

  makeColumns() {
    const all = this.record.columns;
    const wanted = this.filter.toLowerCase();
    const fitting = all.filter(one => one.name.toLowerCase().includes(wanted));
    const shown = fitting.slice(0, this.limit);
    const actions = {
      setType: (name, type) => this.setType(name, type),
      open: name => this.openColumn(name),
      countBins: (name, cuts) => this.context.attempt(() =>
        this.api.post(`${address(this.name)}/bins`, { column: name, cuts })),
    };
    const cards = shown.map(column => {
      const known = this.cards.get(column.name);
      if (known) {
        known.update(column);
        return known.node;
      }
      const card = new ColumnCard(column, actions, this.open.has(column.name), (name, isOpen) => {
        if (isOpen) this.open.add(name);
        else this.open.delete(name);
      });
      this.cards.set(column.name, card);
      return card.node;
    });
    const search = h("input", {
      type: "search", value: this.filter, "data-key": "filter", "aria-label": "Search the columns",
      placeholder: "Search the columns",
      oninput: () => { this.filter = search.value; this.draw(this.record); },
    });
    return h("section", { id: "columns" }, h("h3", {}, "Columns"),
      all.length > 12 && search, cards,
      fitting.length > shown.length && h("button", {
        type: "button", onclick: () => { this.limit += 200; this.draw(this.record); },
      }, `Show more of ${count(fitting.length, "column")}`));
  }

  // Open the card of a column; it may be among those that are not shown.
  openColumn(name) {
    if (!this.cards.get(name)?.node.isConnected) {
      this.filter = name;
      this.draw(this.record);
    }
    const card = this.cards.get(name);
    card.node.open = true;
    card.title.focus();
  }

  makePreview() {
    const { names, rows } = this.record.preview;
    return h("section", { id: "preview" }, h("h3", {}, "First rows"),
      h("div", { class: "table-box", tabindex: 0, role: "region", "aria-label": "First rows" },
        h("table", {}, h("thead", {}, h("tr", {}, names.map(one => h("th", { scope: "col" }, one)))),
          h("tbody", {}, rows.map(row => h("tr", {}, row.map(cell =>
            cell === null ? h("td", { class: "missing", "aria-label": "missing" }, "·")
              : h("td", {}, cell))))))));
  }

  makeReading() {
    const { options } = this.record.settings;
    const choose = (name, text, pairs) => {
      const field = select(pairs, options[name] ?? "", {
        "data-key": `option-${name}`, onchange: () => this.setOption(name, field.value),
      });
      return label(text, field);
    };
    const write = (name, text, note, parse = value => value, format = value => [value].flat().join(", ")) => {
      const enter = () => {
        const value = field.value === "" ? null : parse(field.value);
        field.setAttribute("aria-invalid", String(value === undefined));
        if (value !== undefined) this.setOption(name, value);
        else this.context.notify(`${text}: give a whole number; got '${field.value}'.`, "error");
      };
      const field = h("input", {
        type: "text", value: options[name] === undefined ? "" : format(options[name]),
        "data-key": `option-${name}`, onchange: enter,
      });
      return label(text, field, note);
    };
    return h("details", { class: "reading", id: "reading", open: this.readingOpen,
      ontoggle: event => { this.readingOpen = event.target.open; } },
    h("summary", {}, "How the file is read"),
    h("div", { class: "grid" },
      choose("missing", "Missing values", MISSING),
      choose("discretise", "How numbers are cut", METHODS),
      write("bins", "Number of bins", "for mdl the maximum", readWhole),
      write("missing_labels", "Labels of missing values", "with commas; age=-99 for one column",
        readLabels, formatLabels),
      write("keep_labels", "Labels that are values", "with commas; never missing",
        readLabels, formatLabels),
      write("merge", "Merged states", "column:old=new, with semicolons",
        text => text.split(";").map(one => one.trim()).filter(Boolean), formatMerges),
      choose("decimal", "Decimal mark", [["", "as detected"], [".", "point"], [",", "comma"]]),
      write("delimiter", "Character between fields", "empty: as detected; \\t is a tab",
        text => text.replaceAll("\\t", "\t"), mark => mark.replaceAll("\t", "\\t")),
      write("encoding", "Encoding", "empty: as detected"),
      write("sheet", "Sheet, or table of a database", "empty: as detected",
        text => (/^\d+$/.test(text) ? Number(text) : text)),
      write("skiprows", "Lines above the table", "empty: as detected", readWhole)));
  }

  async remove() {
    const name = this.name;
    const gone = await this.context.attempt(() => this.api.remove(address(name)));
    if (!gone) return;
    this.name = null;
    fill(this.table, h("p", { role: "status" }, `The table ${name} is in the trash. `,
      h("button", { type: "button", id: "restore", onclick: once(async () => {
        const back = await this.context.attempt(() => this.api.post(`/api/trash/${gone.token}`, {}));
        if (back) {
          await this.listTables();
          this.context.go("data", [back.name]);
          await this.show(back.name);
        }
      }) }, "Put it back")));
    await this.listTables();
  }
}

function readLabels(text) {
  return text.split(",").map(one => one.trim());
}

// Labels are a list, or an object with the labels of each column ("" is all columns).
function formatLabels(given) {
  if (given === null || typeof given !== "object" || Array.isArray(given)) return [given ?? []].flat().join(", ");
  return Object.entries(given).flatMap(([column, labels]) =>
    [labels].flat().map(label => (column ? `${column}=${label}` : label))).join(", ");
}

function formatMerges(given) {
  if (given === null || typeof given !== "object" || Array.isArray(given)) return [given ?? []].flat().join("; ");
  return Object.entries(given).flatMap(([column, states]) =>
    Object.entries(states).map(([old, now]) => `${column}:${old}=${now}`)).join("; ");
}

// Return a whole number; undefined for any other text.
function readWhole(text) {
  return /^\s*\d+\s*$/.test(text) ? Number(text) : undefined;
}

function describeType(type) {
  if (typeof type === "string") return type === "ignore" ? "left out" : type;
  if (Array.isArray(type)) return `cut points ${type.join(", ")}`;
  if (type.cuts) return type.cuts.length ? `cut points ${type.cuts.join(", ")}` : "one bin";
  return type.type || JSON.stringify(type);
}

export default {
  id: "data",
  title: "Data",
  mount(container, context) {
    const view = new DataView(container, context);
    return () => view.container.replaceChildren();
  },
};
