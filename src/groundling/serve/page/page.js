// The page: words or a picture in, a grid of pictures out. What the user is doing is in `place` and in the address.

import { showAsked } from "./asked.js";
import { bringPictures, fitToSend } from "./brought.js";
import { Detail } from "./detail.js";
import { announce, find, isTyping } from "./dom.js";
import { addPictures, startEditor } from "./editor.js";
import { FILTERS, isFiltered, NO_FILTERS, openFilters, showFilters, watchFilters } from "./filters.js";
import { Grid } from "./grid.js";
import { offerHelp } from "./help.js";
import { directionOf } from "./languages.js";
import { Latest } from "./latest.js";
import { addressOf, readPlace, writePlace } from "./place.js";
import { Selection } from "./selection.js";
import * as service from "./service.js";
import { hideNotice, showBusy, showNotice, showRest, showSlow } from "./status.js";
import { askForToken } from "./token.js";
import { picturesToBeginWith, showExamples, showLanguages, showWelcome } from "./welcome.js";

const MANY = 48; // pictures at a time
const MOST = 9800; // the service leaves out no more of the best ones
const TYPING = 160; // milliseconds of rest before a search
const COMPOSING = 600; // the same while an input method still offers other words
const SETTLED = 2000; // after this rest the next word is a new step for the back button

const START = { q: "", language: "", ...NO_FILTERS, apart: "", view: "", brought: null, picture: "", depth: 0 };

let place = readPlace();
let abilities = null;
let language = null; // of the last answer
let more = false; // whether there may be more pictures than are shown
let shown = ""; // the question that the grid answers
let typing = 0; // the timer of a search to come
let settling = 0;
let settled = true;
let lastProblem = null;
let ofExample = null; // a language that an example brought
const latest = new Latest();
const broughtFiles = new Map(); // a picture has no address; it lasts as long as the page
const seen = new Map(); // id → result, for the name of a picture that the address names
const box = find("q");

const pathOf = (name) => (abilities?.root ? `${abilities.root}/${name}` : name);
const selection = new Selection(pathOf);
const grid = new Grid(find("grid"), { link: linkTo, open: openPicture, leave: () => box.focus(), selection });
const detail = new Detail({
  link: linkTo, open: openPicture, step: (result) => go({ picture: result.id }, true), closed: leavePicture, pathOf, onlyFolder,
  named: learnName,
});

function linkTo(id) {
  return addressOf({ ...place, picture: id });
}

/** Every change of place goes through here, or through the back button. */
function go(changes, replace = false) {
  place = { ...place, ...changes };
  writePlace(place, replace);
  follow();
}

/** Makes the page show the place. */
function follow() {
  if (!typing && box.value.trim() !== place.q) box.value = place.q; // what is being typed is not taken away
  showBox();
  showFilters(place);
  document.title = [place.q, "groundling"].filter(Boolean).join(" · ");
  if (!abilities) return;
  showLanguages(abilities, place.language, place.q && language);
  const { q, language: code, brought, view, apart } = place;
  const question = JSON.stringify([q, code, brought, view, apart, ...FILTERS.map((name) => place[name])]);
  if (question !== shown) {
    shown = question;
    ask();
  }
  if (place.picture) showDetail();
  else detail.close();
}

function showDetail() {
  const { picture } = place;
  detail.show(seen.get(picture) ?? { id: picture, name: "" }, grid.results, abilities);
}

/** Of a picture that a link brought here, which no answer has named yet. */
function learnName(id, name) {
  seen.set(id, { ...seen.get(id), id, name });
  if (place.picture === id) showDetail();
}

function showBox() {
  box.dir = directionOf(box.value);
  find("clear").hidden = !box.value;
  find("search").classList.toggle("filled", Boolean(box.value));
}

/** Asks for what the place says; a picture that the user brought goes before words. */
function ask() {
  const file = broughtFiles.get(place.brought);
  const isEditor = place.view === "check";
  const isStart = !place.q && !file && !isEditor;
  lastProblem = null;
  hideNotice();
  find("welcome").hidden = !isStart;
  find("editor").hidden = !isEditor;
  find("controls").hidden = isEditor;
  find("editor-link").setAttribute("aria-current", isEditor ? "page" : "false");
  find("language-label").classList.toggle("away", Boolean(file));
  find("filters-button").classList.toggle("away", Boolean(file));
  showAsked(file, abilities);
  if (isStart || isEditor) return rest(isStart);
  latest.ask((signal) => questionFrom(0)(signal), { busy, slow: showSlow, answered, failed, rested: showRest });
}

/** The question of the place, for the pictures after the first `offset`. */
function questionFrom(offset) {
  const file = broughtFiles.get(place.brought);
  const { q, language: code, folder, since, until, apart } = place;
  const part = { k: MANY, offset: offset || "", group: apart ? "" : "true" };
  return file
    ? (signal) => service.similar({ file }, part, signal)
    : (signal) => service.search({ q, language: code, folder, since, until, ...part }, signal);
}

/** Nothing is asked: some pictures of the collection to begin with, or the editor's captions. */
async function rest(isStart) {
  latest.cancel();
  showRest();
  setMore(false);
  find("status").textContent = "";
  announce("");
  const before = shown;
  if (!isStart) return showPictures([]);
  showPictures(await picturesToBeginWith(), () => shown === before);
}

function showPictures(results, isWanted = () => true) {
  if (!isWanted()) return;
  for (const result of results) if (!seen.has(result.id)) seen.set(result.id, result);
  grid.show(results);
  find("select").hidden = !results.length;
  if (place.picture) showDetail();
}

function setMore(isMore) {
  more = isMore;
  find("more").hidden = !isMore;
}

function answered(answer) {
  const { results } = answer;
  language = answer.language ?? null;
  for (const result of results) seen.set(result.id, result);
  showPictures(results);
  hideNotice();
  setMore(results.length >= MANY);
  showLanguages(abilities, place.language, place.q && language);
  const number = `${results.length}${more ? " or more" : ""} ${results.length === 1 ? "picture" : "pictures"}`;
  find("status").textContent = results.length ? service.sentence(answer.notice) || "The best first" : "";
  announce(`${number} found${language?.name ? `, language: ${language.name}` : ""}. ${answer.notice ?? ""}`);
  if (results.length) return;
  if (isFiltered(place)) {
    showNotice("No picture passes these filters", "Try without them, or with fewer.", "Clear filters", () => go(NO_FILTERS));
  } else {
    showNotice("No pictures yet", "The index that is served here is empty.", "Try again", ask);
  }
}

/** The next pictures, below those that are there; asked for when the end comes near. */
function askMore() {
  if (!more || latest.isWaiting) return;
  const before = grid.results;
  const added = ({ results }) => {
    const known = new Set(before.map(({ id }) => id));
    const fresh = results.filter(({ id }) => !known.has(id));
    for (const result of fresh) seen.set(result.id, result);
    showPictures([...before, ...fresh]);
    setMore(results.length >= MANY && before.length + MANY < MOST);
    announce(`${fresh.length} more pictures`);
    watchEnd();
  };
  const stopped = () => setMore(true); // the button stays, to try again
  latest.ask(questionFrom(before.length), { busy: () => {}, slow: () => {}, answered: added, failed: stopped, rested: showRest });
}

const end = new IntersectionObserver(([entry]) => entry.isIntersecting && askMore(), { rootMargin: "400px" });

/** Observed anew, for it only tells of changes: on a tall screen the end may be in sight still. */
function watchEnd() {
  end.unobserve(find("more"));
  end.observe(find("more"));
}

function failed(problem) {
  lastProblem = problem;
  showPictures([]);
  setMore(false);
  const again = problem.status === 0 || problem.status === 401 || problem.status === 429 || problem.status >= 500;
  showNotice(problem.message, problem.detail, again ? "Try again" : "Start again", again ? retry : startAgain);
}

function startAgain() {
  shown = "";
  stopTyping();
  go(START);
}

function retry() {
  if (abilities) ask();
  else offerHelp();
watchEnd();
start();
}

function busy() {
  showBusy();
  if (!grid.results.length) grid.wait(24);
}

/* ---- words ---- */

function stopTyping() {
  clearTimeout(typing);
  typing = 0;
}

function searchNow(isStep) {
  stopTyping();
  const q = box.value.trim();
  if (q !== place.q || place.brought || (q && place.view)) {
    const guessAgain = place.language && place.language === ofExample ? { language: "" } : {};
    ofExample = null;
    go({ q, brought: null, view: "", picture: "", depth: 0, ...guessAgain }, !settled);
    settled = false;
  } else if (isStep && lastProblem) {
    retry();
  }
  clearTimeout(settling);
  if (isStep) settled = true;
  else settling = setTimeout(() => (settled = true), SETTLED);
}

function setWords(q) {
  settled = true;
  box.value = q;
  searchNow(true);
}

/** Its language is known, so nothing is guessed; what is typed after it is guessed again. */
function tryExample(q, code) {
  stopTyping();
  settled = true;
  ofExample = code;
  go({ ...START, q, language: code });
}

box.addEventListener("input", (event) => {
  showBox();
  clearTimeout(typing);
  typing = setTimeout(searchNow, event.isComposing ? COMPOSING : TYPING, false);
});

box.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "ArrowDown" && grid.focus()) event.preventDefault();
  if (event.key === "Escape" && box.value) {
    event.preventDefault();
    setWords("");
  }
});

find("search").addEventListener("submit", (event) => {
  event.preventDefault();
  searchNow(true);
  if (matchMedia("(pointer: coarse)").matches) box.blur(); // makes room: the keyboard goes away
});

find("clear").addEventListener("click", () => {
  setWords("");
  box.focus();
});

document.addEventListener("keydown", (event) => {
  const free = !isTyping(event.target) && !document.querySelector("dialog[open]");
  if (event.key !== "/" || !free || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  box.focus();
  box.select();
});

document.querySelector(".brand").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  stopTyping();
  go(START);
  box.focus();
});

/* ---- language, filters, more ---- */

find("language").addEventListener("change", (event) => {
  ofExample = null;
  go({ language: event.target.value });
});

watchFilters(go);

find("more").addEventListener("click", askMore);

/* ---- pictures ---- */

function openPicture(result) {
  stopTyping();
  seen.set(result.id, result);
  settled = true;
  go({ picture: result.id, depth: place.depth + 1 });
}

function leavePicture() {
  const { picture, depth } = place;
  if (!picture) return; // the back button has closed it
  const focus = () => grid.focus(picture);
  if (depth) {
    addEventListener("popstate", focus, { once: true });
    history.go(-depth);
  } else {
    go({ picture: "" }, true);
    focus();
  }
}

/** One is searched with; for an editor each gets a caption. */
async function takePictures(files) {
  const fit = async (file) => Object.assign(await fitToSend(file), { title: file.name });
  if (place.view === "check") return addPictures(await Promise.all(files.map(fit)));
  const key = crypto.randomUUID?.() ?? String(Math.random());
  stopTyping();
  broughtFiles.set(key, await fit(files[0]));
  settled = true;
  go({ q: "", picture: "", depth: 0, brought: key });
}

function onlyFolder(folder) {
  openFilters(true);
  go({ folder, picture: "", depth: 0 });
}

find("editor-link").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  stopTyping();
  go({ ...START, view: "check" });
  find("editor-lines").focus();
});

find("asked-close").addEventListener("click", () => {
  go({ brought: null });
  box.focus();
});

bringPictures(takePictures, (name) => {
  showNotice("That is not a picture", `${name} is something else. JPEG, PNG, WebP, GIF and HEIC work.`, "All right", ask);
});

/* ---- start ---- */

addEventListener("popstate", () => {
  stopTyping();
  settled = true;
  place = readPlace();
  follow();
});

addEventListener("online", () => lastProblem?.status === 0 && retry());

async function start() {
  service.whenLocked(askForToken);
  hideNotice();
  try {
    abilities = await service.about();
  } catch (problem) {
    return failed(problem);
  }
  showWelcome(abilities);
  showExamples({ link: (q, code) => addressOf({ ...START, q, language: code }), choose: tryExample });
  startEditor(abilities, (id) => addressOf({ ...START, view: "check", picture: id }));
  find("language-label").hidden = !abilities.languages.length;
  openFilters(isFiltered(place));
  follow();
  if (!place.q && !place.picture && matchMedia("(pointer: fine)").matches) box.focus();
}

offerHelp();
watchEnd();
start();
