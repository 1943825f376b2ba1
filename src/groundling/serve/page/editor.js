// For editors: many captions, each beside its picture, and whether another picture of the collection fits better.

import { announce, find, icon, make } from "./dom.js";
import { directionOf } from "./languages.js";
import { check, fit, isAbort, pictureAddress, sentence } from "./service.js";
import { csv, saveFile } from "./take_away.js";

const MOST = 1000; // captions at a time
const TOGETHER = 4; // questions at a time: others want answers, too
const PLAUSIBLE = 4; // so many pictures may fit better, or a hundredth of the collection
const LABELS = { entailment: "shows it", neutral: "does not tell", contradiction: "says otherwise" };

let abilities;
let link;
let rows = [];
let controller = new AbortController();

/** `open(id)` is an address that shows a picture. */
export function startEditor(known, open) {
  abilities = known;
  link = open;
  find("editor-form").addEventListener("submit", (event) => {
    event.preventDefault();
    checkLines();
  });
  find("editor-save").addEventListener("click", save);
}

/** Pictures of the user's own, each with a caption to be written. */
export function addPictures(files) {
  const added = files.map((file) => ({ name: file.title ?? file.name, file, text: "" }));
  rows = [...added, ...rows];
  show();
  find("editor-rows").querySelector("input")?.focus();
}

function checkLines() {
  const lines = find("editor-lines").value.split("\n").map((line) => line.trim()).filter(Boolean);
  if (!lines.length) return rows.some(({ text }) => text) ? ask(rows) : find("editor-lines").focus();
  rows = [...rows.filter(({ file }) => file), ...lines.slice(0, MOST).map(readLine)];
  ask(rows, lines.length > MOST ? `Only the first ${MOST} lines are checked. ` : "");
}

/** "name<tab>caption", as a spreadsheet copies it, or with a comma or semicolon; quotes around either are taken off. */
function readLine(line) {
  const place = line.search(/\t/) >= 0 ? line.search(/\t/) : line.search(/[,;]/);
  const plain = (text) => text.trim().replace(/^"(.*)"$/s, "$1").replaceAll('""', '"');
  if (place < 0) return { name: plain(line), text: "", problem: "There is no caption in this line." };
  return { name: plain(line.slice(0, place)), text: plain(line.slice(place + 1)) };
}

async function ask(asked, note = "") {
  controller.abort();
  const mine = (controller = new AbortController());
  const waiting = asked.filter((row) => row.text && !row.answer && !(row.problem && !row.name));
  let done = 0;
  show();
  const work = async () => {
    while (waiting.length && !mine.signal.aborted) {
      await askOne(waiting.shift(), mine.signal);
      done += 1;
      find("editor-status").textContent = `${note}${done} checked, ${waiting.length} to go`;
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  if (mine.signal.aborted) return;
  rows.sort((one, other) => weight(other) - weight(one));
  show();
  const doubtful = rows.filter((row) => signOf(row) === "cross").length;
  find("editor-status").textContent = `${note}${asked.length} captions, those to look at first: ${doubtful} to look at again`;
  announce(find("editor-status").textContent);
}

async function askOne(row, signal) {
  const source = row.file ? { file: row.file } : { name: row.name };
  row.problem = undefined;
  try {
    row.answer = await fit(source, row.text, signal);
    const id = row.answer.picture?.id;
    if (abilities.check) row.judged = await check(row.file ? source : { id }, row.text, signal);
  } catch (problem) {
    if (!isAbort(problem) && !row.answer) row.problem = problem.detail || problem.message;
  }
}

const weight = (row) => (row.problem ? Infinity : row.answer ? row.answer.better : -1);

function signOf({ answer }) {
  if (!answer) return "";
  if (!answer.better) return "yes";
  return answer.better <= Math.max(PLAUSIBLE, abilities.pictures / 100) ? "maybe" : "cross";
}

function sentenceOf({ answer }) {
  if (!answer.better) return "It fits: no picture here fits it better";
  const count = answer.better >= 200 ? "200 pictures or more fit" : answer.better === 1 ? "1 picture fits" : `${answer.better} pictures fit`;
  return `${signOf({ answer }) === "maybe" ? "It may fit" : "Look again"}: ${count} it better`;
}

function show() {
  find("editor-rows").replaceChildren(...rows.map(rowOf));
  find("editor-save").hidden = !rows.some(({ answer }) => answer);
}

function rowOf(row) {
  const id = row.answer?.picture?.id;
  const picture = make("img", { alt: row.name, width: 96, height: 96, loading: "lazy" });
  if (row.file) {
    picture.src = URL.createObjectURL(row.file);
    picture.addEventListener("load", () => URL.revokeObjectURL(picture.src));
  } else if (id !== undefined) picture.src = pictureAddress(id, 256);
  const field = make("input", { type: "text", maxlength: 500, "aria-label": `Caption of ${row.name}`, dir: directionOf(row.text) });
  field.value = row.text;
  field.addEventListener("change", () => {
    Object.assign(row, { text: field.value.trim(), answer: undefined, judged: undefined, problem: undefined });
    ask(rows);
  });
  const said = make("div", { class: "editor-said" }, ...answerOf(row));
  const words = make("div", {}, make("p", { class: "soft", dir: "auto" }, row.name), field, said);
  const frame = make(id === undefined ? "span" : "a", { class: "frame here", ...(id === undefined ? {} : { href: link(id) }) });
  if (picture.src) frame.append(picture);
  return make("li", {}, frame, words, betterOf(row));
}

function answerOf(row) {
  if (row.problem) return [make("p", { class: "wrong" }, row.problem)];
  if (!row.answer) return [];
  const sign = signOf(row);
  const judged = row.judged ? ` · the judge: the picture ${LABELS[row.judged.verdict] ?? row.judged.verdict}` : "";
  return [
    make("p", { class: `says ${sign}` }, icon(sign), make("strong", {}, sentenceOf(row))),
    ...(row.answer.notice ? [make("p", { class: "wrong" }, sentence(row.answer.notice))] : []),
    make("p", { class: "soft" }, `score ${row.answer.score.toFixed(3)}${row.answer.language.name ? ` · ${row.answer.language.name}` : ""}${judged}`),
  ];
}

function betterOf({ answer }) {
  if (!answer?.best) return "";
  const { id, name } = answer.best;
  const picture = make("img", { src: pictureAddress(id, 256), alt: name, width: 96, height: 96, loading: "lazy" });
  return make("figure", {}, make("a", { class: "frame here", href: link(id) }, picture), make("figcaption", { class: "soft" }, "fits better"));
}

function save() {
  const head = ["picture", "caption", "language", "score", "pictures that fit better", "the best of them", "problem"];
  const lines = rows.map(({ name, text, answer, problem }) => [
    name, text, answer?.language.code, answer?.score, answer?.better, answer?.best?.name, problem,
  ]);
  saveFile("captions.csv", csv([head, ...lines]), "text/csv");
}
