// Explore: a network, its probabilities, and what evidence does to them.
import { path } from "../api.js";
import { h, show } from "../dom.js";
import { mountExplorer } from "../page/explorer.js";
import { savePng, saveSvg } from "../parts/save.js";

const MOST_WITH_BARS = 100; // variables; a larger network is drawn without bars at first

export function chooseNetwork(context, networks, chosen, label, onChange) {
  const groups = [["run", "Runs"], ["file", "Files"], ["bundled", "Bundled networks"]];
  const select = h("select", { "aria-label": label, onchange: () => onChange(select.value) },
    h("option", { value: "" }, label),
    groups.map(([kind, title]) => {
      const here = networks.filter(network => network.kind === kind);
      return here.length ? h("optgroup", { label: title }, here.map(network => h("option", { value: network.id },
        network.n_variables ? `${network.name} (${network.n_variables})` : network.name))) : null;
    }));
  select.value = chosen ?? "";
  return select;
}

export default {
  id: "explore",
  title: "Explore",
  async mount(container, context) {
    const [id] = context.params;
    const { networks } = await context.api.get("/api/explore");
    const select = chooseNetwork(context, networks, id, "Choose a network", chosen => chosen && context.go("explore", chosen));
    const head = h("div", { class: "fields" }, h("h1", {}, "Explore"), select);
    if (!id) {
      show(container, head, h("p", { class: "soft" }, "Choose a network: one that you learned, or a bundled one."));
      return undefined;
    }
    const known = networks.find(network => network.id === id);
    const isLarge = (known?.n_variables ?? 0) > MOST_WITH_BARS;
    const fetchDrawing = hasBars => context.api.get(`${path`/api/explore/${id}`}?bars=${hasBars ? 1 : 0}`);
    let drawing = await fetchDrawing(!isLarge).catch(error => ({ error }));
    if (drawing.error) {
      show(container, head, h("p", { class: "error", role: "alert" }, drawing.error.message));
      return undefined;
    }
    if (drawing.bars && drawing.names.length > MOST_WITH_BARS) drawing = await fetchDrawing(false);
    if (!drawing.states) {
      show(container, head, h("p", { class: "error" }, "This run has a structure without probability tables."));
      return undefined;
    }
    const holder = h("div", { class: "explorer" });
    head.append(h("a", { href: context.makeAddress("compare", id) }, "Compare with another network"));
    const save = (text, write) => h("button", {
      type: "button", onclick: () => context.attempt(() => write(holder.querySelector("svg.graph"), known?.name ?? "graph")),
    }, text);
    head.append(save("Save as SVG", saveSvg), save("Save as PNG", savePng));
    show(container, head, holder);
    const key = `coevo evidence ${id}`;
    const explorer = mountExplorer(holder, {
      drawing, fetchDrawing, notify: context.notify,
      ask: (question, body) => context.api.post(path`/api/explore/${id}/${question}`, body),
      tiers: drawing.tiers, given: readKept(key),
      onGiven: given => sessionStorage.setItem(key, JSON.stringify(given)),
    });
    return () => explorer.end();
  },
};

// The evidence of this tab, which a reload keeps.
function readKept(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? {};
  } catch {
    return {};
  }
}
