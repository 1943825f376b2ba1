// Small helpers to find and make elements. Text is always set as text, never as markup.

export const find = (id) => document.getElementById(id);

/** make("a", {href: "…", class: "…", hidden: true}, "text", element, …) */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `page/icons.svg#${name}`);
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  svg.append(use);
  return svg;
}

/** A text with its language and direction, so that fonts, hyphens and punctuation come out right. */
export const words = (tag, text, language, direction) =>
  make(tag, { class: "words", lang: language || null, dir: direction || "auto" }, text);

export const isTyping = (element) => element.matches?.("input, textarea, select, [contenteditable]") ?? false;

let saying;
/** Tells a screen reader, once things have come to rest: typing must not make it stutter. */
export function announce(text) {
  clearTimeout(saying);
  saying = setTimeout(() => {
    find("live").textContent = text;
  }, 400);
}
