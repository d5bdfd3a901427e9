"use strict";
const table = document.getElementById("table");
const body = table.tBodies[0];
const heads = [...table.tHead.rows[0].cells];
const rows = [...body.rows];
const filter = document.getElementById("filter");
const shown = document.getElementById("shown");
// On a narrow screen each cell says what it is.
for (const row of rows) [...row.cells].forEach((cell, column) => { cell.dataset.title = heads[column].textContent; });

function sort(column) {
  const head = heads[column];
  const isNumber = head.classList.contains("number");
  // Numbers begin with the largest.
  const first = isNumber ? "descending" : "ascending";
  const second = isNumber ? "ascending" : "descending";
  const order = head.getAttribute("aria-sort") === first ? second : first;
  for (const other of heads) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", order);
  const text = (row) => row.cells[column].textContent;
  const compare = isNumber
    ? (a, b) => (parseFloat(text(a)) || 0) - (parseFloat(text(b)) || 0)
    : (a, b) => text(a).localeCompare(text(b), undefined, { numeric: true });
  rows.sort((a, b) => (order === "ascending" ? compare(a, b) : compare(b, a)));
  body.append(...rows);
}

function show() {
  const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  let count = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    if (!row.hidden) count += 1;
  }
  shown.textContent = `${count} of ${rows.length}`;
}

heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => sort(column)));
filter.addEventListener("input", show);
show();
