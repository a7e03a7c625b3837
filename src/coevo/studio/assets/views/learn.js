// Learn: choose a table and start a search; or show one (learn_run.js).
import { path } from "../api.js";
import { h, show } from "../dom.js";
import { makeAbsent } from "../parts/element.js";
import { once } from "../parts/once.js";
import { mountRun } from "./learn_run.js";

const TEXTS = {
  ccma: "coevolution with local search; the best choice for most tables",
  ccga: "coevolution as in the 2011 paper",
  islands: "several populations of ccma that exchange orders",
  hill_climb: "fast and greedy",
  tabu: "greedy, and leaves local optima",
  ges: "greedy over equivalence classes",
  k2: "greedy, for a random order",
  k2ga: "a genetic algorithm over orders",
  ga: "a genetic algorithm over graphs",
  wong: "tests, then one species for each variable",
  pc: "tests of independence, no score",
  mmhc: "tests, then hill climbing",
  chow_liu: "the best tree",
};
const SCORE_TEXTS = {
  "": "BDeu, with a cost for each parent", bdeu: "BDeu", bds: "BDs", k2: "K2", bic: "BIC",
  aic: "AIC", fnml: "fNML", qnml: "qNML", loglik: "log-likelihood (overfits)",
};
const BUDGETS = {
  "": "until nothing improves", max_time: "seconds", max_generations: "generations",
};

export function makeField(title, control, hint) {
  const id = `field-${title.replace(/\W+/g, "-").toLowerCase()}`;
  control.id = id;
  return h("div", { class: "field" }, h("label", { for: id }, title), control,
    typeof hint === "string" ? h("small", { class: "soft" }, hint) : hint);
}

function makeNumber(name, { min, step = "any", placeholder = "" } = {}) {
  return h("input", { type: "number", name, min, step, placeholder });
}

// The budget: what limits the search, and its amount. read() returns the options.
export function makeBudget() {
  const kind = h("select", {}, Object.entries(BUDGETS).map(([value, text]) => h("option", { value }, text)));
  const amount = h("input", { type: "number", min: "0", step: "any", "aria-label": "Amount of the budget", hidden: true });
  kind.addEventListener("change", () => {
    amount.hidden = !kind.value;
    amount.value = kind.value === "max_time" ? "60" : kind.value ? "200" : "";
  });
  const read = () => kind.value ? { [kind.value]: Number(amount.value) } : {};
  const field = makeField("Budget", kind, "Stop at any time: the best network so far is kept.");
  kind.after(amount);
  return { field, read };
}

function makeForm(table, choices, context) {
  const methods = choices.methods.filter(method => TEXTS[method.name]);
  const ranked = [...methods].sort((a, b) => Object.keys(TEXTS).indexOf(a.name) - Object.keys(TEXTS).indexOf(b.name));
  const method = h("select", {}, ranked.map(each => h("option", { value: each.name }, each.name)));
  const about = h("small", { class: "soft", role: "status" }, TEXTS[ranked[0].name]);
  method.addEventListener("change", () => { about.textContent = TEXTS[method.value]; });
  const score = h("select", {}, ["", ...choices.scores].filter(name => name in SCORE_TEXTS).map(name => h("option", { value: name }, SCORE_TEXTS[name])));
  const budget = makeBudget();
  const name = h("input", { type: "text", placeholder: "by table and method", maxlength: "90" });
  // The fields come from the options, so that a new option of a search appears here by itself.
  const numbers = choices.fields.map(field => ({
    ...field,
    control: makeNumber(field.name, { min: field.least, step: field.is_whole ? 1 : "any", placeholder: field.placeholder }),
  }));
  const start = async () => {
    const options = { method: method.value, ...budget.read() };
    if (score.value) options.score = score.value;
    for (const { name: key, control } of numbers) {
      if (control.value !== "") options[key] = Number(control.value);
    }
    const made = await context.attempt(() => context.api.post("/api/runs", { table, name: name.value || null, options }));
    if (made) context.go("learn", made.name);
    return Boolean(made);
  };
  return h("form", { class: "learn-form", onsubmit: once(start) },
    h("div", { class: "fields" },
      makeField("Method", method, about), makeField("Score", score, "The first one is recommended. Higher is better."), budget.field),
    h("details", {},
      h("summary", {}, "More settings"),
      h("div", { class: "fields" },
        makeField("Name of the run", name),
        numbers.map(({ title, control, hint }) => makeField(title, control, hint)))),
    h("p", {}, h("button", { class: "main", type: "submit" }, "Start the search")));
}

async function mountNew(container, context, wanted) {
  const [space, choices] = await Promise.all([
    context.api.get("/api/workspace"), context.api.get("/api/learn/choices"),
  ]);
  const tables = space.tables.map(table => table.name);
  const table = wanted ?? tables[0];
  if (!tables.length) {
    show(container, h("h1", {}, "Learn"), h("p", {}, "There is no table yet. ", h("a", { href: context.makeAddress("data") }, "Open one in Data.")));
    return;
  }
  const body = h("div", {});
  // The address follows the table, and the keyboard stays where it is.
  const draw = name => {
    history.replaceState(null, "", context.makeAddress("learn", "new", name));
    const runs = space.runs.filter(run => run.table === name || !run.table);
    show(body,
      makeForm(name, choices, context),
      runs.length > 0 && h("h2", {}, "Runs"),
      runs.length > 0 && h("ul", { class: "cards" }, runs.map(run => h("li", {},
        h("a", { href: context.makeAddress("learn", run.name) }, run.name),
        h("span", { class: `state ${run.state}` }, run.state)))));
  };
  const choose = h("select", { onchange: () => draw(choose.value) },
    tables.map(name => h("option", { value: name, selected: name === table }, name)));
  show(container, h("h1", {}, "Learn"), h("div", { class: "fields" }, makeField("Table", choose)), body);
  if (tables.includes(table)) {
    draw(table);
  } else {
    choose.value = "";
    show(body, makeAbsent("table", table));
  }
}

export default {
  id: "learn",
  title: "Learn",
  async mount(container, context) {
    const [name, table] = context.params;
    if (name && name !== "new") {
      const run = await context.api.get(path`/api/runs/${name}`);
      return mountRun(container, context, run);
    }
    await mountNew(container, context, table);
    return undefined;
  },
};
