import { make } from "./elements.js";

const MOST = 60; // names that are listed

// `search` is a text field and `found` a list; `choose` gets the number of the chosen name.
export function makeSearch(search, found, names, choose) {
  let hits = [], at = 0;
  const lower = names.map((name) => name.toLowerCase());
  function suggest() {
    const text = search.value.trim().toLowerCase();
    const rank = (n) => (lower[n] === text ? 0 : lower[n].startsWith(text) ? 1 : 2);
    hits = names.map((_, n) => n).filter((n) => lower[n].includes(text));
    hits.sort((a, b) => rank(a) - rank(b) || a - b);
    hits = hits.slice(0, MOST);
    at = 0;
    found.replaceChildren(...hits.map((n, i) => {
      const item = make("li", names[n], { role: "option", id: "hit" + i, "aria-selected": i === 0 });
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
    search.value = names[hits[i]];
    open(false);
    choose(hits[i]);
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
}
