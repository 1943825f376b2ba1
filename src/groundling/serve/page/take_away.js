// What the user takes from the page: text for the clipboard, lists as files.

import { announce, make } from "./dom.js";

/** True where it is in the clipboard now. Without HTTPS browsers know only the old way. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = make("textarea", { class: "unseen", readonly: true, "aria-hidden": "true" });
    field.value = text;
    const place = document.querySelector("dialog[open]") ?? document.body;
    const focused = document.activeElement;
    place.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    focused?.focus();
    return done;
  }
}

/** The button says for a moment that it is done. */
export async function copyBy(button, text) {
  const done = await copyText(text);
  const before = button.dataset.says ?? button.textContent;
  button.dataset.says = before;
  button.textContent = done ? "Copied" : "Could not be copied";
  announce(button.textContent);
  setTimeout(() => (button.textContent = before), 1600);
}

export function saveFile(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** Rows of cells as CSV; a cell that a spreadsheet would take for a formula gets an apostrophe. */
export function csv(rows) {
  const cell = (value) => {
    const text = String(value ?? "");
    const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return "\ufeff" + rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
}
