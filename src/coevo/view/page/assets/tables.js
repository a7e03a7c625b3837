// Tables that are sorted by a click, and texts that are copied by one.

// A cell may have the value to sort by in data-value, if its text is for people only.
function sortBy(table, header) {
  const column = header.cellIndex, body = table.tBodies[0];
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
  const number = (text) => (text === "" ? -Infinity : Number(text.replaceAll(",", "")));
  const rows = [...body.rows];
  const numeric = rows.every((row) => !Number.isNaN(number(value(row))));
  const falls = header.getAttribute("aria-sort") === "none" || !header.hasAttribute("aria-sort")
    ? numeric : header.getAttribute("aria-sort") === "ascending";
  const sign = falls ? -1 : 1;
  rows.sort((a, b) => sign * (numeric ? number(value(a)) - number(value(b))
    : value(a).localeCompare(value(b), "en", { numeric: true })));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", falls ? "descending" : "ascending");
  body.replaceChildren(...rows);
}

export function makeSortable(table) {
  table.tHead.addEventListener("click", (event) => {
    const header = event.target.closest("th");
    if (header && header.querySelector(".sort")) sortBy(table, header);
  });
}

export async function copyText(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
