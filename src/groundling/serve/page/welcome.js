// What stands there before the first word is typed: words to try, above pictures of the collection.

import { find, make, words } from "./dom.js";
import { ownName } from "./languages.js";
import { examples, isAbort, pictureAddress, sample } from "./service.js";

const SHOWN = 60; // pictures to begin with

export function showWelcome(abilities) {
  const { name, pictures, languages } = abilities;
  const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  const facts = [name, count(pictures, "picture", "pictures")];
  if (languages.length) facts.push(count(languages.length, "language", "languages"));
  find("welcome-facts").textContent = facts.join(" · ");
}

/** Words that this collection has pictures for; without them the page is as good. */
export async function showExamples({ link, choose }) {
  try {
    const found = await examples();
    find("examples").replaceChildren(...found.map((one) => chip(one, link, choose)));
  } catch (problem) {
    if (isAbort(problem)) throw problem;
  }
}

function chip({ text, language: { code, direction }, picture }, link, choose) {
  const small = make("img", { src: pictureAddress(picture.id, 64), alt: "", width: 32, height: 32, loading: "lazy" });
  small.addEventListener("error", () => small.remove());
  const element = make("a", { class: "chip", href: link(text, code) },
    small, words("span", text, code, direction), make("small", { lang: code }, ownName(code)));
  element.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    choose(text, code);
  });
  return make("li", {}, element);
}

let begun = null;
/** Other pictures each day, the same ones all day long: a browser has them already. */
export function picturesToBeginWith() {
  begun ??= sample(SHOWN, Math.floor(Date.now() / 86_400_000)).catch(() => {
    begun = null;
    return [];
  });
  return begun;
}

/** The languages to choose from; `answer` is the language of the last answer. */
export function showLanguages(abilities, chosen, answer) {
  const select = find("language");
  const detected = answer?.detected && answer.code ? `${answer.name || answer.code} (detected)` : "Detect language";
  const wanted = [["", detected], ...abilities.languages.map(({ code, name }) => [code, nameBoth(code, name)])];
  if (chosen && !abilities.languages.some(({ code }) => code === chosen)) wanted.push([chosen, nameBoth(chosen, chosen)]);
  const options = [...select.options];
  if (options.length === wanted.length) wanted.forEach(([, text], place) => (options[place].text = text));
  else select.replaceChildren(...wanted.map(([code, text]) => make("option", { value: code }, text)));
  select.value = chosen;
}

function nameBoth(code, name) {
  const own = ownName(code);
  return own === name || own === code ? name : `${name} · ${own}`;
}
