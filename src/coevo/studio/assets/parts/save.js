// Saving files from the page: what the server makes, and a graph as it is shown.

import { h } from "../dom.js";
import { once } from "./once.js";

export function saveBlob(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(address);
}

// Fetch a file and save it; a failure is one sentence.
export async function download(address) {
  const response = await fetch(address, { credentials: "same-origin" });
  if (!response.ok) {
    const answer = await response.json().catch(() => null);
    throw new Error(answer?.error ?? `The studio answered with ${response.status}.`);
  }
  const name = /filename="([^"]*)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  saveBlob(await response.blob(), name ?? "file");
}

export function makeDownload(text, address, context, properties = {}) {
  return h("button", {
    type: "button", ...properties, onclick: once(() => context.attempt(() => download(address))),
  }, text);
}

const STYLES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "opacity",
  "font-size", "font-family", "font-weight", "text-anchor", "display", "visibility", "marker-end",
  "marker-start", "paint-order",
];

// Return a drawing of the page as SVG text that needs no style sheet: what is seen is what is saved.
export function copySvg(svg) {
  const copy = svg.cloneNode(true);
  const pairs = [[svg, copy], ...[...svg.querySelectorAll("*")].map((one, i) => [one, copy.querySelectorAll("*")[i]])];
  const gone = [];
  for (const [one, other] of pairs) {
    const style = getComputedStyle(one);
    if (style.display === "none") {
      gone.push(other);
      continue;
    }
    for (const name of STYLES) {
      const value = style.getPropertyValue(name);
      if (value) other.setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role", "style"]) other.removeAttribute(name);
  }
  gone.forEach(one => one.remove());
  const box = svg.getBoundingClientRect();
  if (!copy.hasAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
  copy.setAttribute("width", Math.round(box.width));
  copy.setAttribute("height", Math.round(box.height));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const back = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const view = (copy.getAttribute("viewBox") || "").split(/[\s,]+/).map(Number);
  for (const [key, value] of Object.entries({ x: view[0], y: view[1], width: view[2], height: view[3] })) {
    back.setAttribute(key, value);
  }
  back.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(back);
  return new XMLSerializer().serializeToString(copy);
}

export function saveSvg(svg, name) {
  saveBlob(new Blob([copySvg(svg)], { type: "image/svg+xml" }), `${name}.svg`);
}

// Draw the graph on a canvas of twice the size, and save it as PNG.
export async function savePng(svg, name, scale = 2) {
  const text = copySvg(svg), box = svg.getBoundingClientRect();
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = h("canvas", {});
    canvas.width = Math.round(box.width * scale);
    canvas.height = Math.round(box.height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise(resolve => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("The picture is too large for a PNG. Save it as SVG.");
    saveBlob(blob, `${name}.png`);
  } finally {
    URL.revokeObjectURL(address);
  }
}
