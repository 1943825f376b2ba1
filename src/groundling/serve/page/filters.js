// Folder and dates: tucked away until somebody wants them.

import { find } from "./dom.js";

export const FILTERS = ["folder", "since", "until"];
export const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, ""]));

export const isFiltered = (place) => FILTERS.some((name) => place[name]);

export function showFilters(place) {
  const used = FILTERS.filter((name) => place[name]).length;
  for (const name of FILTERS) find(name).value = place[name];
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
  const take = () => change(Object.fromEntries(FILTERS.map((name) => [name, find(name).value.trim()])));
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
    change(NO_FILTERS);
  });
}
