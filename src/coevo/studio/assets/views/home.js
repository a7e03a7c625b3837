// Home: what the workspace holds, and where to begin.
import { h, show } from "../dom.js";
import { whenIdle } from "../page/press.js";
import { once } from "../parts/once.js";
import { STATES, removeRun } from "../parts/run_actions.js";

function listRuns(runs, context) {
  if (!runs.length) return h("p", { class: "soft" }, "No run yet. Open a table, then learn.");
  return h("ul", { class: "cards" }, runs.map(run => h("li", {},
    h("a", { href: context.makeAddress("learn", run.name) }, run.name),
    h("span", { class: `state ${run.state}` }, STATES[run.state] ?? run.state),
    run.table && h("span", { class: "soft" }, `table ${run.table}`),
    h("button", {
      "aria-label": `Remove the run ${run.name}`,
      onclick: once(async () => { await removeRun(context, run.name); }),
    }, "Remove"),
  )));
}

// What a newcomer can do first.
function welcome(context) {
  const step = (title, text, address) => h("li", {}, h("a", { href: address }, title), h("span", { class: "soft" }, text));
  return h("section", { class: "welcome" },
    h("p", {}, "Learn a Bayesian network from a table, and ask it questions. Everything stays on this machine."),
    h("ol", { class: "cards" },
      step("Add a table", "Drop a file, or take the example. Check types and cut points.", context.makeAddress("data")),
      step("Say what you know", "Arcs that must or cannot be there, and what comes first.", context.makeAddress("knowledge")),
      step("Learn a network", "Watch the search, and stop it when you like.", context.makeAddress("learn")),
      step("Explore it", "Click on what was observed, and see everything else move.", context.makeAddress("explore"))),
    h("p", {}, "No table at hand? ", h("a", { href: context.makeAddress("explore", "bundled:alarm") }, "Explore the published network alarm"), "."));
}

export default {
  id: "home",
  title: "Home",
  async mount(container, context) {
    const draw = async () => {
      const found = await context.api.get("/api/workspace");
      await new Promise(whenIdle);
      const isEmpty = !found.tables.length && !found.runs.length && !found.networks.length;
      show(container,
        h("h1", {}, "Workspace"),
        h("p", { class: "soft" }, found.folder),
        isEmpty && welcome(context),
        h("h2", {}, "Tables"),
        found.tables.length
          ? h("ul", { class: "cards" }, found.tables.map(table => h("li", {}, h("a", { href: context.makeAddress("data", table.name) }, table.name))))
          : h("p", { class: "soft" }, "No table yet. ", h("a", { href: context.makeAddress("data") }, "Add a table"), "."),
        h("h2", {}, "Runs"),
        listRuns(found.runs, context),
      );
    };
    await draw();
    for (const kind of ["runs", "tables", "networks"]) context.onEvent(kind, () => context.attempt(draw));
  },
};
