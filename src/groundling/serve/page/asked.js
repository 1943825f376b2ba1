// The picture that the user brought, above those that are like it.

import { find } from "./dom.js";
import { describe, showCaptions, showCheck } from "./facts.js";

let shown;
let controller = new AbortController();

const panel = find("asked");
const picture = find("asked-picture");
picture.addEventListener("load", () => panel.classList.remove("lost"));
picture.addEventListener("error", () => panel.classList.add("lost")); // HEIC: the service can read what a browser cannot

/** `file`: nothing where words were asked for. */
export function showAsked(file, abilities) {
  panel.hidden = !file;
  if (file === shown) return;
  shown = file;
  controller.abort();
  controller = new AbortController();
  URL.revokeObjectURL(picture.src);
  if (!file) return picture.removeAttribute("src");
  find("asked-name").textContent = file.title;
  picture.alt = "Your picture";
  picture.src = URL.createObjectURL(file);
  showCheck(find("asked-check"), { file }, abilities, controller.signal);
  showCaptions(find("asked-captions"), { file }, abilities, controller.signal, describe(picture));
}
