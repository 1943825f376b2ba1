// Folder and dates: tucked away until somebody wants them.

import { find } from "./dom.js";

export const FILTERS = ["folder", "since", "until"];
const APART = "apart"; // pictures that look the same, one by one: leaves nothing out
export const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, ""]));

export const isFiltered = (place) => FILTERS.some((name) => place[name]);

export function showFilters(place) {
  const used = FILTERS.filter((name) => place[name]).length;
  for (const name of FILTERS) find(name).value = place[name];
  find(APART).checked = Boolean(place[APART]);
  find("filters-count").hidden = !used;
  find("filters-count").textContent = used;
  find("filters-count").setAttribute("aria-label", `${used} in use`);
}

export function openFilters(isOpen) {
  find("filters").hidden = !isOpen;
  find("filters-button").setAttribute("aria-expanded", String(isOpen));
}

/** `change(filters)` whenever they are other than before. */
export function watchFilters(change) {
  const form = find("filters");
  const take = () => {
    const filters = Object.fromEntries(FILTERS.map((name) => [name, find(name).value.trim()]));
    change({ ...filters, [APART]: find(APART).checked ? "1" : "" });
  };
  find("filters-button").addEventListener("click", () => {
    openFilters(form.hidden);
    if (!form.hidden) find("folder").focus();
  });
  form.addEventListener("change", take);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    take();
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    change({ ...NO_FILTERS, [APART]: "" });
  });
}
