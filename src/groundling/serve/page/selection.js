// Pictures that the user has selected: kept over several searches, copied or saved as a list.

import { announce, find } from "./dom.js";
import { copyBy, csv, saveFile } from "./take_away.js";

export class Selection {
  #chosen = new Map();
  #watchers = [];
  #isOn = false;

  /** `pathOf(name)`: what a program needs to find the picture. */
  constructor(pathOf) {
    find("select").addEventListener("click", () => this.#switch(!this.#isOn));
    find("chosen-none").addEventListener("click", () => {
      this.#chosen.clear();
      this.#switch(false);
      find("select").focus();
    });
    const paths = () => [...this.#chosen.values()].map(({ name }) => pathOf(name));
    find("chosen-copy").addEventListener("click", (event) => copyBy(event.target, paths().join("\n")));
    find("chosen-save").addEventListener("click", () => {
      const rows = [...this.#chosen.values()].map(({ name, score }) => [pathOf(name), score]);
      saveFile("pictures.csv", csv([["picture", "score"], ...rows]), "text/csv");
    });
  }

  get isOn() {
    return this.#isOn;
  }

  has(id) {
    return this.#chosen.has(id);
  }

  /** `change()` whenever what is selected is other than before. */
  watch(change) {
    this.#watchers.push(change);
  }

  toggle(result) {
    if (!this.#chosen.delete(result.id)) this.#chosen.set(result.id, result);
    this.#show();
    announce(`${this.#chosen.size} selected`);
  }

  #switch(isOn) {
    this.#isOn = isOn;
    find("select").setAttribute("aria-pressed", String(isOn));
    this.#show();
  }

  #show() {
    const count = this.#chosen.size;
    find("chosen").hidden = !count;
    find("chosen-count").textContent = `${count} selected`;
    document.body.classList.toggle("selecting", this.#isOn);
    for (const change of this.#watchers) change();
  }
}
