// The dialog that asks for the token of a private search.

import { find } from "./dom.js";
import { Problem, startSession } from "./service.js";

let asking = null;

/** Kept once the service has taken a token; one dialog however many requests were refused. */
export function askForToken() {
  asking ??= new Promise(openDialog).finally(() => {
    asking = null;
  });
  return asking;
}

function openDialog(resolve, reject) {
  const dialog = find("token");
  const field = find("token-value");
  const wrong = find("token-wrong");
  const cancelled = () => reject(new Problem("This search is private", "It needs a token.", 401));
  field.value = "";
  wrong.textContent = "";
  find("token-form").onsubmit = async (event) => {
    event.preventDefault();
    try {
      if (await startSession(field.value.trim())) {
        resolve();
        dialog.close();
        return;
      }
      wrong.textContent = "That is not the token.";
    } catch (problem) {
      wrong.textContent = [problem.message, problem.detail].filter(Boolean).join(". ");
    }
    field.select();
  };
  find("token-cancel").onclick = () => dialog.close();
  dialog.onclose = cancelled; // after resolve() this changes nothing
  dialog.showModal();
}
