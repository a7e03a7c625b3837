// The page: which view is shown, the tabs, notes, and what all views share.
//
// A view is a module of views/ that exports {id, title, mount(container, context)}. mount returns a
// function that ends the view. The address after # names the view and what it shows: #/learn/RUN.

import { ApiError, api } from "./api.js";
import { h, show } from "./dom.js";
import { Live } from "./live.js";

// In the order of the work. Views are loaded when they are opened.
const VIEWS = [
  { id: "home", title: "Home", isHidden: true },
  { id: "data", title: "Data" },
  { id: "knowledge", title: "Knowledge" },
  { id: "learn", title: "Learn", needs: "run" },
  { id: "explore", title: "Explore" },
  { id: "compare", title: "Compare" },
  { id: "confidence", title: "Confidence" },
  { id: "predict", title: "Predict" },
  { id: "export", title: "Export" },
];

const live = new Live();
const holder = document.getElementById("view");
const notes = document.getElementById("notes");
let unmount = null;
let shown = 0; // counts views, so that a slow one does not replace a later one

function notify(text, kind = "info", action = null) {
  const note = h("p", { class: `note ${kind}` }, text);
  if (action) note.append(" ", h("button", { onclick: () => { note.remove(); action.run(); } }, action.title));
  note.append(h("button", { class: "close", "aria-label": "Close", onclick: () => note.remove() }, "×"));
  notes.append(note);
  while (notes.childElementCount > 4) notes.firstChild.remove();
  if (kind !== "error") setTimeout(() => note.remove(), action ? 12000 : 6000);
}

export function makeAddress(view, ...params) {
  return `#/${[view, ...params].filter(part => part !== undefined && part !== null).map(encodeURIComponent).join("/")}`;
}

function go(view, ...params) {
  const address = makeAddress(view, ...params.flat());
  if (location.hash === address) open();
  else location.hash = address;
}

// Return a part of an address; null if it is damaged, as the part 100% is.
function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function readAddress() {
  const [id, ...params] = location.hash.replace(/^#\/?/, "").split("/").map(decode);
  const isView = VIEWS.some(view => view.id === id) && !params.includes(null);
  return isView ? { id, params: params.filter(Boolean) } : { id: "home", params: [], isWrong: id !== "" };
}

function drawTabs(id) {
  const tabs = VIEWS.filter(view => !view.isHidden).map(view => h("a", {
    href: makeAddress(view.id), "aria-current": view.id === id ? "page" : null,
  }, view.title));
  show(document.getElementById("tabs"), tabs);
  tabs.find(tab => tab.hasAttribute("aria-current"))?.scrollIntoView({ block: "nearest", inline: "center" });
}

async function open() {
  const number = ++shown;
  const { id, params, isWrong } = readAddress();
  if (isWrong) notify(`The studio has no view ${location.hash}.`, "error");
  drawTabs(id);
  unmount?.();
  unmount = null;
  const stops = []; // what the view listens to ends with it
  const container = h("div", { class: `view-${id}` });
  const context = {
    api, go, notify, params, makeAddress,
    onEvent: (kind, listener) => { const stop = live.on(kind, listener); stops.push(stop); return stop; },
    follow: run => live.follow(run),
    // Run something that asks the server; a failure becomes a note.
    attempt: async work => {
      try {
        return await work();
      } catch (error) {
        if (number === shown) notify(error.message, "error");
        if (!(error instanceof ApiError)) console.error(error);
        return undefined;
      }
    },
  };
  try {
    const { default: view } = await import(`./views/${id}.js`);
    if (number !== shown) return;
    document.title = id === "home" ? "coevo studio" : `${view.title} - coevo studio`;
    show(holder, container);
    const end = await view.mount(container, context);
    const finish = () => { stops.forEach(stop => stop()); end?.(); };
    if (number > 1 && !holder.contains(document.activeElement)) holder.focus({ preventScroll: true }); // a screen reader reads the new view
    if (number === shown) unmount = finish;
    else finish();
  } catch (error) {
    if (number !== shown) return;
    show(holder, h("p", { class: "error", role: "alert" }, error.message));
    if (!(error instanceof ApiError)) console.error(error);
  }
}

const state = document.getElementById("state");
for (const [kind, text] of [["connecting", null], ["offline", "not connected"], ["online", ""]]) {
  live.on(kind, () => {
    state.dataset.stream = kind;
    state.textContent = text ?? state.textContent; // a new stream is opened at once: that is no news
  });
}
window.addEventListener("hashchange", open);
document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault(); // its address is no view
  holder.focus();
  holder.scrollIntoView();
});

if (location.hash.length < 3) {
  const { opened } = await api.get("/api/workspace").catch(() => ({ opened: "" }));
  if (opened) history.replaceState(null, "", `#/${opened}`);
}
open();
