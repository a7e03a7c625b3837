// The Export view: a network in every format, as a report and as a picture, and the same as text.

import { path } from "../api.js";
import { h } from "../dom.js";
import { ARROWS, ARROWS_TITLE } from "../page/graph_view.js";
import { makeCopyBox } from "../parts/copy_text.js";
import { count, fill, label, makeAbsent, select } from "../parts/element.js";
import { makeDownload } from "../parts/save.js";

const CONTENT = {
  bif: "networks, read by nearly every tool", xmlbif: "networks as XML", net: "networks for Hugin",
  json: "networks of coevo", dot: "graphs for Graphviz", graphml: "graphs as XML",
  adjacency: "the graph as a matrix", edges: "the graph as a list", modelstring: "the graph for R's bnlearn",
};
const PICTURES = { svg: "sharp at any size", png: "for slides", pdf: "for papers" };

async function draw(container, context, found, id) {
  const network = await context.api.get(path`/api/export/${id}`);
  const address = kind => path`/api/export/${id}/${kind}`;
  const title = id.slice(id.indexOf(":") + 1);
  const picture = h("div", {});
  const arrows = h("input", { type: "checkbox", id: "arrows", onchange: () => drawPicture() });
  const drawPicture = () => {
    const place = (kind, query) => `${address(kind)}?${new URLSearchParams({ ...query, ...(arrows.checked ? { arrows: "all" } : {}) })}`;
    fill(picture, h("ul", { class: "formats" }, found.pictures.map(one => h("li", {},
      makeDownload(one.toUpperCase(), place(one, {}), context, { "data-format": one, title: PICTURES[one] })))),
    network.n_variables <= 200 && h("img", {
      class: "picture", src: place("svg", { shown: 1 }), alt: `The graph of ${title}`, loading: "lazy",
    }));
  };
  drawPicture();
  fill(container,
    h("p", { class: "soft", id: "size" },
      `${count(network.n_variables, "variable")}, ${count(network.n_arcs, "arc")}`),
    h("h2", {}, "Report"),
    h("p", {}, "One HTML file with the graph, the tables and the facts. It opens in any browser, without the internet."),
    makeDownload("Download report.html", address("report"), context, { id: "report", class: "main" }),
    h("h2", {}, "Network"),
    h("ul", { class: "formats" }, found.formats.map(one => h("li", {},
      makeDownload(one.name, address(one.name), context, {
        "data-format": one.name, title: CONTENT[one.name] ?? one.label,
        "aria-label": `Download as ${one.name}: ${CONTENT[one.name] ?? one.label}`,
      })))),
    h("h2", {}, "Picture"),
    h("p", { class: "soft" }, "The whole graph in its own layout. In ",
      h("a", { href: context.makeAddress("explore", id) }, "Explore"),
      " you can save the graph as you see it there."),
    network.is_learned && h("label", { class: "check", title: ARROWS_TITLE }, arrows, ARROWS),
    picture,
    h("h2", {}, "The same as text"),
    network.texts.map(one => makeCopyBox(one.title, one.text, context.notify)));
}

export default {
  id: "export",
  title: "Export",
  async mount(container, context) {
    const found = await context.api.get("/api/export");
    const ids = found.networks.map(one => one.id);
    const chosen = context.params[0] ?? ids[0];
    const body = h("div", { id: "export-body" });
    const network = select(found.networks.map(one => [one.id, one.title]), chosen, {
      id: "network", onchange: () => context.go("export", network.value),
    });
    fill(container, h("h1", {}, "Export"), h("div", { class: "fields" }, label("Network", network)), body);
    if (ids.includes(chosen)) await draw(body, context, found, chosen);
    else fill(body, makeAbsent("network", chosen));
  },
};
