"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const compareText = new Intl.Collator("en", { numeric: true }).compare;

  // Tables whose rows can be put in the order of a column. What is missing stays at the end either way.
  const keyOf = (row, column) => {
    const cell = row.cells[column];
    const text = cell.textContent.trim();
    const value = cell.dataset.value;
    if (value !== undefined) return { missing: value === "", value: Number(value) };
    return { missing: text === "" || text === "–", value: text };
  };
  // A browser takes seconds to lay out thousands of rows: so many are shown until more are asked for.
  const FEW = 200;
  let afterSorting = () => {};
  const sortBy = (table, header) => {
    const descending = header.getAttribute("aria-sort") === "ascending";
    for (const other of all("th[aria-sort]", table)) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const column = header.cellIndex;
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => ({ row, key: keyOf(row, column) }));
    const sign = descending ? -1 : 1;
    keyed.sort(({ key: a }, { key: b }) => {
      if (a.missing || b.missing) return a.missing - b.missing;
      if (typeof a.value === "number" && typeof b.value === "number") return sign * (a.value - b.value);
      return sign * compareText(String(a.value), String(b.value));
    });
    body.append(...keyed.map(({ row }) => row));
    afterSorting();
  };
  for (const table of all("table.sortable")) {
    for (const header of all("thead th", table)) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => sortBy(table, header));
    }
  }

  // One data set and representation at a time.
  const chooser = document.getElementById("chooser");
  const part = document.getElementById("part");
  const showPart = () => {
    for (const section of all("[data-part]")) section.hidden = part.value !== "" && section.dataset.part !== part.value;
  };

  // The table of models: rows that hold every word that was typed, scores aside, of the chosen method and part.
  const tools = document.getElementById("filter");
  const words = document.getElementById("words");
  const method = document.getElementById("method");
  const extra = document.getElementById("extra");
  const models = document.getElementById("models-table");
  const factsOf = (row) => [...row.cells].slice(0, Number(row.closest("table").dataset.facts));
  const rows = models ? all("tbody tr", models) : [];
  const textOf = new Map(
    rows.map((row) => [row, factsOf(row).map((cell) => cell.textContent).join(" ").toLowerCase()]),
  );
  const more = document.getElementById("more");
  let most = FEW;
  const filterRows = () => {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const row of rows.length ? [...rows[0].parentElement.rows] : []) {
      const fits =
        (method.value === "" || row.dataset.method === method.value) &&
        (!part || part.value === "" || row.dataset.of === part.value) &&
        wanted.every((word) => textOf.get(row).includes(word));
      found += fits ? 1 : 0;
      row.hidden = !fits || found > most;
    }
    document.getElementById("shown").textContent =
      found > most ? `first ${most} of ${found} rows shown` : `${found} of ${rows.length} rows shown`;
    more.hidden = found <= most;
  };
  if (chooser) {
    chooser.hidden = false;
    chooser.addEventListener("submit", (event) => event.preventDefault());
    part.addEventListener("change", () => { showPart(); filterRows(); });
    showPart();
  }
  if (tools) {
    tools.hidden = false;
    tools.addEventListener("submit", (event) => event.preventDefault());
    words.addEventListener("input", filterRows);
    method.addEventListener("change", filterRows);
    more.addEventListener("click", () => {
      most = Infinity;
      filterRows();
    });
    afterSorting = filterRows;
    const showExtra = () => models.classList.toggle("headlines-only", !extra.checked);
    if (extra) {
      extra.addEventListener("change", showExtra);
      showExtra();
    }
    filterRows();
  }

  // A link shows what it leads to: the model's details, or the part that another was chosen for.
  const openTarget = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch { /* not an address of this page */ }
    if (!target) return;
    if (target instanceof HTMLDetailsElement) target.open = true;
    const section = target.closest("[data-part][hidden]");
    if (section) {
      part.value = section.dataset.part;
      showPart();
      filterRows();
    }
    target.scrollIntoView();
  };
  addEventListener("hashchange", openTarget);
  // The same link twice changes nothing in the address.
  for (const link of all('a[href^="#"]')) {
    link.addEventListener("click", () => { if (link.hash === location.hash) openTarget(); });
  }
  openTarget();
})();
