import { copyText, makeSortable } from "./page/tables.js";

const table = document.getElementById("columns");
const filter = document.getElementById("filter"), shown = document.getElementById("shown");
const count = (n) => n.toLocaleString("en-US");

function apply() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...table.tBodies[0].rows];
  let n = 0;
  for (const row of rows) {
    const text = row.dataset.search.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    n += row.hidden ? 0 : 1;
  }
  shown.textContent = n === rows.length ? `${count(n)} columns` : `${count(n)} of ${count(rows.length)} columns`;
}
filter.addEventListener("input", apply);
makeSortable(table);
document.addEventListener("click", (event) => {
  const button = event.target.closest("button.copy");
  if (button) copyText(button.previousElementSibling, button);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target === filter) { filter.value = ""; apply(); }
  if (event.key === "/" && event.target !== filter) {
    event.preventDefault();
    filter.focus();
    filter.select();
  }
});
