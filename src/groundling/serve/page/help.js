// The keys that the page knows, in a dialog: the button, or a question mark.

import { find, isTyping } from "./dom.js";

export function offerHelp() {
  const dialog = find("help");
  find("help-button").addEventListener("click", () => dialog.showModal());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.addEventListener("keydown", (event) => {
    const free = !isTyping(event.target) && !document.querySelector("dialog[open]");
    if (event.key !== "?" || !free || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    dialog.showModal();
  });
}
