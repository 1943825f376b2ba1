// What can be said about one picture: the captions nearest to it, and whether a sentence is true of it.

import { announce, icon, make, words } from "./dom.js";
import { directionOf, ownName } from "./languages.js";
import { captions, check, isAbort } from "./service.js";

const PER_LANGUAGE = 3;

const LABELS = {
  entailment: { sign: "yes", says: "The picture shows it", bar: "Shows it" },
  neutral: { sign: "maybe", says: "The picture does not tell", bar: "Does not tell" },
  contradiction: { sign: "cross", says: "The picture says otherwise", bar: "Says otherwise" },
};

// Both fill a `place` for a picture (`source`: an `id` or a `file`); `abilities` is the service's /about.

export function showCheck(place, source, abilities, signal) {
  place.replaceChildren(...(abilities.check ? [checkForm(source, abilities, signal)] : []));
}

/** `described(caption)` is told what the picture shows. */
export function showCaptions(place, source, abilities, signal, described) {
  place.replaceChildren(...(abilities.captions ? [captionsOf(source, abilities, signal, described)] : []));
}

/** A caption says more of a picture than the name of its file does. */
export const describe = (picture) => (caption) => {
  picture.alt = caption.text;
  picture.lang = caption.language;
};

function nameOf(code, abilities) {
  return abilities.languages.find((language) => language.code === code)?.name ?? ownName(code);
}

const heading = (text) => make("h3", {}, text);

function captionsOf(source, abilities, signal, described) {
  const list = make("div", { class: "captions waiting", tabindex: 0, role: "region", "aria-label": "Captions" });
  list.append(...Array.from({ length: 6 }, () => make("span", { class: "line", "aria-hidden": "true" })));
  captions(source, 100, signal).then(
    (answer) => {
      list.classList.remove("waiting");
      list.replaceChildren(...byLanguage(answer.captions).map((group) => captionGroup(group, abilities)));
      const best = answer.captions.find(({ language }) => language === "en") ?? answer.captions[0];
      if (best) described(best);
      if (!answer.captions.length) list.append(make("p", { class: "soft" }, "No caption is near this picture."));
    },
    (problem) => {
      if (isAbort(problem)) return;
      list.classList.remove("waiting");
      list.replaceChildren(sorry(problem));
    },
  );
  return make("section", {}, heading("Captions that fit"), list);
}

/** Languages in the order of their best caption; those come the best first. */
function byLanguage(found) {
  const groups = new Map();
  for (const caption of found) {
    if (!groups.has(caption.language)) groups.set(caption.language, []);
    groups.get(caption.language).push(caption);
  }
  return [...groups.entries()];
}

function captionGroup([code, found], abilities) {
  const line = ({ text, direction, score }) =>
    make("li", {}, words("span", text, code, direction), make("span", { class: "score" }, score.toFixed(2)));
  const list = make("ul", {}, ...found.slice(0, PER_LANGUAGE).map(line));
  const rest = found.slice(PER_LANGUAGE);
  if (rest.length) {
    const more = make("button", { class: "link", type: "button" }, `${rest.length} more`);
    more.setAttribute("aria-label", `${rest.length} more in ${nameOf(code, abilities)}`);
    more.addEventListener("click", () => {
      const added = rest.map(line);
      item.remove();
      list.append(...added);
      added[0].tabIndex = -1;
      added[0].focus();
    });
    const item = make("li", {}, more);
    list.append(item);
  }
  return make("section", { class: "language" }, make("h4", {}, nameOf(code, abilities)), list);
}

function checkForm(source, abilities, signal) {
  const field = make("input", {
    type: "text", dir: "ltr", maxlength: 500, autocomplete: "off", placeholder: "A sentence, in any language", "aria-label": "A sentence to check",
  });
  const button = make("button", { class: "button", type: "submit" }, "Check");
  const answer = make("div", { class: "prediction", "aria-busy": "false" });
  const form = make("form", { class: "check" }, make("div", { class: "row" }, field, button), answer);
  let asked = 0;
  field.addEventListener("input", () => {
    field.dir = directionOf(field.value);
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return field.focus();
    const mine = ++asked;
    answer.setAttribute("aria-busy", "true");
    try {
      const found = await check(source, text, signal);
      if (mine === asked) answer.replaceChildren(...prediction(found, text, abilities));
    } catch (problem) {
      if (mine === asked && !isAbort(problem)) answer.replaceChildren(sorry(problem));
    } finally {
      if (mine === asked) answer.setAttribute("aria-busy", "false");
    }
  });
  return make("section", {}, heading("Is it true?"), form);
}

/** In words and signs as well as in bars: nothing is told by colour or length alone. */
function prediction(found, text, abilities) {
  const known = LABELS[found.verdict] ?? { sign: "maybe", says: found.verdict };
  const { code } = found.language;
  const order = (label) => (label in LABELS ? Object.keys(LABELS).indexOf(label) : Infinity);
  const shares = Object.entries(found.probabilities).sort(([one], [other]) => order(one) - order(other));
  const bars = shares.map(([label, probability]) => {
    const percent = `${Math.round(probability * 100)} %`;
    const fill = make("span", { class: "fill" });
    fill.style.inlineSize = `${probability * 100}%`;
    return make("li", { class: label === found.verdict ? "chosen" : null },
      make("span", {}, LABELS[label]?.bar ?? label),
      make("span", { class: "track", "aria-hidden": "true" }, fill),
      make("span", { class: "percent" }, percent));
  });
  announce(`${known.says}: ${text}`);
  return [
    make("p", { class: `says ${known.sign}` }, icon(known.sign), make("strong", {}, known.says)),
    make("p", { class: "soft" }, words("q", text, code, directionOf(text)), code ? ` · ${nameOf(code, abilities)}` : ""),
    make("ul", { class: "bars", "aria-label": "Probabilities" }, ...bars),
  ];
}

function sorry(problem) {
  const text = [problem.message, problem.detail].filter(Boolean).join(". ");
  return make("p", { class: "wrong", role: "alert" }, text);
}
