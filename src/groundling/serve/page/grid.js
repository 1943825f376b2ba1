// Pictures as a grid of links: lazy, reused while one types, walked with the arrow keys.

import { icon, make } from "./dom.js";
import { pictureAddress } from "./service.js";

/** The file's name without folders, and without its extension where it stands for the picture in words. */
export const baseName = (name) => name.split("/").pop();
export const folderName = (name) => name.split("/").slice(0, -1).join("/");
export const spokenName = (name) => baseName(name).replace(/\.[a-z0-9]{2,5}$/i, "").replace(/[_]+/g, " ") || name;

export class Grid {
  /** `open(result)` when one is chosen; `leave()` when the arrow key goes up from the first row; a `selection` or none. */
  constructor(list, { link, open, leave = () => {}, selection = null }) {
    this.list = list;
    this.selection = selection;
    selection?.watch(() => this.#showSelected());
    this.link = link;
    this.leave = leave;
    this.results = [];
    this.tiles = new Map();
    list.addEventListener("keydown", (event) => this.#walk(event));
    list.addEventListener("focusin", (event) => this.#makeCurrent(event.target.closest("a")));
    list.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return; // a new tab is the browser's
      event.preventDefault();
      const result = this.#result(link);
      if (this.selection?.isOn) this.selection.toggle(result);
      else open(result);
    });
    if (selection) {
      list.addEventListener("keydown", (event) => {
        const link = event.target.closest("a");
        if (event.key !== "x" || !link || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        selection.toggle(this.#result(link));
      });
    }
  }

  get links() {
    return [...this.list.querySelectorAll("a")];
  }

  #result(link) {
    return this.results.find((result) => result.id === link.dataset.id);
  }

  #showSelected() {
    for (const [id, tile] of this.tiles) {
      const link = tile.querySelector("a");
      if (this.selection.isOn || this.selection.has(id)) {
        link.setAttribute("role", "checkbox"); // while pictures are selected, that is what a tile does
        link.setAttribute("aria-checked", String(this.selection.has(id)));
      } else {
        link.removeAttribute("role");
        link.removeAttribute("aria-checked");
      }
    }
  }

  /** Tiles of pictures that stay are kept, so that nothing flickers while the words change. */
  show(results) {
    const before = this.tiles;
    this.results = results;
    this.tiles = new Map();
    for (const result of results) {
      const tile = before.get(result.id) ?? this.#tile(result);
      this.tiles.set(result.id, tile);
      const same = result.duplicates?.length ?? 0;
      tile.querySelector(".badge").textContent = same ? `+${same}` : "";
      tile.querySelector(".caption bdi").textContent = baseName(result.name);
      tile.querySelector(".score").textContent = result.score?.toFixed(2) ?? "";
    }
    for (const [id, tile] of this.tiles) tile.querySelector("a").href = this.link(id);
    const tiles = [...this.tiles.values()];
    const there = this.list.children.length;
    if (there && tiles.length >= there && tiles[there - 1] === this.list.lastChild) {
      this.list.append(...tiles.slice(there)); // those that are there are not touched: one of them may have the focus
    } else this.list.replaceChildren(...tiles);
    if (this.selection) this.#showSelected();
    if (!this.links.some((link) => link.tabIndex === 0)) this.#makeCurrent(this.links[0]);
  }

  /** Grey places where pictures will be: the page has its shape before the answer is there. */
  wait(count) {
    this.show([]);
    this.list.replaceChildren(
      ...Array.from({ length: count }, () =>
        make("li", { class: "waiting", "aria-hidden": "true" }, make("span", { class: "frame" })),
      ),
    );
  }

  focus(id) {
    const link = this.links.find((one) => one.dataset.id === id) ?? this.links[0];
    link?.focus();
    return Boolean(link);
  }

  #tile({ id, name }) {
    const picture = make("img", {
      alt: spokenName(name), width: 256, height: 256, loading: "lazy", decoding: "async", draggable: "false",
    });
    const frame = make("span", { class: "frame" }, picture);
    const caption = make("span", { class: "caption", "aria-hidden": "true" },
      make("bdi"), make("span", { class: "score" }));
    const badge = make("span", { class: "badge", title: "pictures that look the same", "aria-hidden": "true" });
    const tick = make("span", { class: "chosen-mark", "aria-hidden": "true" }, icon("yes"));
    picture.addEventListener("load", () => frame.classList.add("here", isDrawing(picture) ? "drawing" : "photo"));
    picture.addEventListener("error", () => {
      frame.classList.add("lost");
      picture.alt = `${baseName(name)}: no longer here`;
    });
    picture.srcset = `${pictureAddress(id, 256)} 1x, ${pictureAddress(id, 512)} 2x`;
    picture.src = pictureAddress(id, 256);
    return make("li", {}, make("a", { "data-id": id, tabindex: -1 }, frame, caption, badge, tick));
  }

  #makeCurrent(current) {
    if (!current) return;
    for (const link of this.links) link.tabIndex = link === current ? 0 : -1;
  }

  #walk(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const links = this.links;
    const here = links.indexOf(event.target.closest("a"));
    const columns = links.filter((link) => link.offsetTop === links[0].offsetTop).length;
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -here, End: links.length - 1 - here };
    if (here < 0 || !(event.key in steps)) return;
    event.preventDefault();
    event.stopPropagation();
    const there = here + steps[event.key];
    if (links[there]) links[there].focus();
    else if (event.key === "ArrowUp") this.leave();
    else if (event.key === "ArrowDown" && here < links.length - 1 - ((links.length - 1) % columns)) links.at(-1).focus();
  }
}

/** Drawings on a white or see-through ground (all corners are) are shown whole and with air; photographs fill their square. */
function isDrawing(picture) {
  const pen = make("canvas", { width: 2, height: 2 }).getContext("2d", { willReadFrequently: true });
  const { naturalWidth: width, naturalHeight: height } = picture;
  pen.fillStyle = "white";
  pen.fillRect(0, 0, 2, 2);
  for (const [x, y] of [[0, 0], [1, 0], [0, 1], [1, 1]]) {
    pen.drawImage(picture, x * (width - 1), y * (height - 1), 1, 1, x, y, 1, 1);
  }
  return pen.getImageData(0, 0, 2, 2).data.every((value) => value > 240);
}
