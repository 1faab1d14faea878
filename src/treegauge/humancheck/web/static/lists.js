// A list with filters: by what its rows say of themselves (data-NAME), by words; sorted; times as the reader's clock shows them.

import { showLocalTimes } from "./local_times.js";

const form = document.querySelector("#filters");
const body = document.querySelector("table.list tbody");
const rows = [...document.querySelectorAll("tr[data-verdict], tr[data-settled]")];

showLocalTimes(document, { dateStyle: "medium", timeStyle: "short" });

function filter() {
  const words = form.querySelector("[type=search]").value.trim().toLowerCase();
  const wanted = [...form.elements].filter((one) => one.name && one.value && (one.type !== "checkbox" || one.checked));
  let shown = 0;
  for (const row of rows) {
    const fits = wanted.every(({ name, value }) => row.dataset[name] === value) && row.textContent.toLowerCase().includes(words);
    row.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  form.querySelector("#found").textContent = `${shown} of ${rows.length}`;
}

function sortBy(head, column) {
  const falling = head.getAttribute("aria-sort") === "ascending";
  const text = (row) => row.cells[column].querySelector("time")?.dateTime ?? row.cells[column].textContent.trim();
  const sorted = [...rows].sort((a, b) => text(a).localeCompare(text(b)) * (falling ? -1 : 1));
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  body.append(...sorted);
}

[...document.querySelectorAll("table.list th")].forEach((head, column) => {
  const button = document.createElement("button");
  button.className = "link";
  button.textContent = head.textContent;
  button.addEventListener("click", () => sortBy(head, column));
  head.replaceChildren(button);
});
if (form) {
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", filter);
  filter();
}
