// What stands there before the first word is typed.

import { find, make, words } from "./dom.js";
import { exampleIn, ownName } from "./languages.js";

export function showWelcome(abilities, { link, choose }) {
  const { name, pictures, languages } = abilities;
  const count = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  const facts = [name, count(pictures, "picture", "pictures")];
  if (languages.length) facts.push(count(languages.length, "language", "languages"));
  find("welcome-facts").textContent = facts.join(" · ");
  const known = languages.filter(({ code }) => exampleIn(code));
  find("examples").replaceChildren(
    ...known.map(({ code, direction }) => {
      const query = exampleIn(code);
      const chip = make("a", { class: "chip", href: link(query, code) },
        words("span", query, code, direction), make("small", { lang: code }, ownName(code)));
      chip.addEventListener("click", (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        choose(query, code);
      });
      return make("li", {}, chip);
    }),
  );
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
