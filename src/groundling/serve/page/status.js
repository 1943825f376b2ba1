// What the page says while it waits, and when something is wrong.

import { announce, find } from "./dom.js";

export function showBusy() {
  find("busy").hidden = false;
  find("results").classList.add("stale"); // what is there stays, paler: nothing jumps
}

export function showSlow() {
  find("status").textContent = "Still searching…";
  announce("Still searching");
}

export function showRest() {
  find("busy").hidden = true;
  find("results").classList.remove("stale");
}

export function showNotice(title, detail, action, act) {
  find("welcome").hidden = true;
  find("status").textContent = "";
  find("notice-title").textContent = title;
  find("notice-detail").textContent = detail;
  find("notice-action").textContent = action;
  find("notice-action").onclick = act;
  find("notice").hidden = false;
}

export function hideNotice() {
  find("notice").hidden = true;
}
