// The list of judgements: filter, search, sort, and times as the reader's clock shows them.

import { showLocalTimes } from "./local_times.js";

const find = (selector) => document.querySelector(selector);
const body = find("#judgements tbody");
const rows = [...body.querySelectorAll("tr[data-verdict]")];

showLocalTimes(document, { dateStyle: "medium", timeStyle: "short" });

function filter() {
  const words = find("#search").value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    const fits = (!find("#verdict").value || row.dataset.verdict === find("#verdict").value)
      && (!find("#only-wrong").checked || row.dataset.wrong)
      && row.textContent.toLowerCase().includes(words);
    row.hidden = !fits;
    shown += fits ? 1 : 0;
  }
  find("#found").textContent = `${shown} of ${rows.length}`;
}

function sortBy(head, column) {
  const falling = head.getAttribute("aria-sort") === "ascending";
  const text = (row) => row.cells[column].querySelector("time")?.dateTime ?? row.cells[column].textContent.trim();
  const sorted = [...rows].sort((a, b) => text(a).localeCompare(text(b)) * (falling ? -1 : 1));
  for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  body.append(...sorted);
}

[...document.querySelectorAll("#judgements th")].forEach((head, column) => {
  const button = document.createElement("button");
  button.className = "link";
  button.textContent = head.textContent;
  button.addEventListener("click", () => sortBy(head, column));
  head.replaceChildren(button);
});
find("#filters").hidden = false;
find("#filters").addEventListener("submit", (event) => event.preventDefault());
find("#filters").addEventListener("input", filter);
filter();
