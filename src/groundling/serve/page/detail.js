// One picture, large: its name, its captions, a sentence to check, and others like it.

import { find, isTyping, make } from "./dom.js";
import { describe, showCaptions, showCheck } from "./facts.js";
import { baseName, folderName, Grid, spokenName } from "./grid.js";
import { isAbort, picture as about, pictureAddress, similar } from "./service.js";
import { copyBy } from "./take_away.js";

const SIMILAR = 12;
const LARGE = 1024; // pixels
const UNNAMED = "The picture"; // until its name is known

export class Detail {
  #dialog = find("detail");
  #controller = null;
  #shown = null;
  #named = "";
  #neighbours = { previous: null, next: null };

  /**
   * `link(id)`: an address; `open(result)`: another picture; `step(result)`: the one beside; `closed()`;
   * `pathOf(name)`: what is copied; `onlyFolder(folder)`: search there; `named(id, name)`: of one that a link brought.
   */
  constructor({ link, open, step, closed, pathOf, onlyFolder, named }) {
    this.closed = closed;
    this.named = named;
    this.similar = new Grid(find("similar"), { link, open });
    this.same = new Grid(find("same-grid"), { link, open });
    find("copy").addEventListener("click", (event) => this.#named && copyBy(event.target, pathOf(this.#named)));
    find("detail-folder").addEventListener("click", () => onlyFolder(folderName(this.#named)));
    find("close").addEventListener("click", () => this.#dialog.close());
    for (const side of ["previous", "next"]) {
      find(side).addEventListener("click", () => this.#neighbours[side] && step(this.#neighbours[side]));
    }
    this.#dialog.addEventListener("close", () => this.#leave());
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.#dialog.addEventListener("keydown", (event) => {
      const side = { ArrowLeft: "previous", ArrowRight: "next" }[event.key];
      if (!side || isTyping(event.target) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      find(side).click();
    });
  }

  get isOpen() {
    return this.#dialog.open;
  }

  close() {
    if (this.isOpen) this.#dialog.close();
  }

  /** `results`: the grid that the picture stands in, for the buttons to the left and the right. */
  show(result, results, abilities) {
    this.#stand(result, results);
    this.#name(result);
    if (this.#shown === result.id) return; // only the results around it have come
    this.#shown = result.id;
    this.#controller?.abort();
    this.#controller = new AbortController();
    this.#picture(result);
    this.#tellMore(result);
    this.#showSame(result);
    const { signal } = this.#controller;
    showCheck(find("detail-check"), result, abilities, signal);
    showCaptions(find("detail-captions"), result, abilities, signal, describe(find("detail-picture")));
    this.#findSimilar(result);
    if (!this.isOpen) {
      this.#dialog.showModal();
      find("close").focus();
    }
    this.#dialog.scrollTop = 0;
    find("detail-name").closest(".panel").scrollTop = 0;
  }

  /** When it was taken, and how large its file is; and its name, where no answer has told it. */
  async #tellMore({ id, name: known }) {
    const { signal } = this.#controller;
    for (const part of ["detail-taken", "detail-size"]) find(part).textContent = "";
    try {
      const { name, taken, size } = await about(id, signal);
      find("detail-taken").textContent = dateOf(taken);
      find("detail-size").textContent = sizeOf(size);
      if (!known) this.named(id, name);
    } catch {
      // nothing more is known of it
    }
  }

  async #showSame({ duplicates = [] }) {
    const { signal } = this.#controller;
    find("same").hidden = !duplicates.length;
    this.same.show([]);
    const found = await Promise.allSettled(duplicates.slice(0, SIMILAR).map((id) => about(id, signal)));
    if (!signal.aborted) this.same.show(found.filter(({ value }) => value).map(({ value }) => value));
  }

  #name({ name, score }) {
    this.#named = name;
    find("download").setAttribute("download", name ? baseName(name) : "");
    find("detail-name").textContent = name ? baseName(name) : "Picture";
    find("detail-folder").textContent = name ? folderName(name) : "";
    find("detail-score").textContent = score === undefined ? "" : `score ${score.toFixed(3)}`;
    const picture = find("detail-picture");
    if (name && picture.alt === UNNAMED) picture.alt = spokenName(name);
  }

  #picture({ id, name }) {
    const picture = make("img", { id: "detail-picture", alt: name ? spokenName(name) : UNNAMED, draggable: "false" });
    const stage = find("stage");
    stage.classList.remove("lost");
    picture.addEventListener("error", () => stage.classList.add("lost"));
    picture.src = pictureAddress(id, LARGE);
    find("detail-picture").replaceWith(picture); // a new element: the one before does not stand there while this loads
    find("original").href = find("download").href = pictureAddress(id);
  }

  #stand(result, results) {
    const place = results.findIndex((one) => one.id === result.id);
    this.#neighbours = { previous: results[place - 1], next: place < 0 ? undefined : results[place + 1] };
    find("previous").disabled = !this.#neighbours.previous;
    find("next").disabled = !this.#neighbours.next;
    find("place").textContent = place < 0 ? "" : `${place + 1} of ${results.length}`;
    if (document.activeElement?.disabled) find("close").focus();
  }

  async #findSimilar({ id }) {
    const { signal } = this.#controller;
    this.similar.wait(SIMILAR);
    try {
      const { results } = await similar({ id }, { k: SIMILAR + 1 }, signal);
      this.similar.show(results.filter((one) => one.id !== id).slice(0, SIMILAR));
    } catch (problem) {
      if (!isAbort(problem)) find("similar").replaceChildren(make("li", { class: "wrong" }, problem.message));
    }
  }

  #leave() {
    this.#controller?.abort();
    this.#shown = null;
    this.closed();
  }
}

function dateOf(taken) {
  const date = new Date(taken);
  return taken && !Number.isNaN(date.valueOf()) ? date.toLocaleString("en", { dateStyle: "long", timeStyle: "short" }) : "";
}

function sizeOf(bytes) {
  if (!bytes) return "";
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
