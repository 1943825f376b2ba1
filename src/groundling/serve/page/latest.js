// Only the latest question counts: earlier ones are called off, and an answer that comes late all the same is dropped.

import { isAbort } from "./service.js";

const BUSY_AFTER = 250; // milliseconds; quicker answers need no sign of waiting
const SLOW_AFTER = 5000;

export class Latest {
  #current = null;
  #waiting = false;

  get isWaiting() {
    return this.#waiting;
  }

  cancel() {
    this.#current?.abort();
    this.#current = null;
    this.#waiting = false;
  }

  async ask(question, { busy, slow, answered, failed, rested }) {
    this.cancel();
    const mine = (this.#current = new AbortController());
    this.#waiting = true;
    const timers = [setTimeout(busy, BUSY_AFTER), setTimeout(slow, SLOW_AFTER)];
    mine.signal.addEventListener("abort", () => timers.forEach(clearTimeout));
    try {
      const answer = await question(mine.signal);
      if (mine === this.#current) this.#waiting = false;
      if (mine === this.#current) answered(answer);
    } catch (problem) {
      if (mine === this.#current) this.#waiting = false;
      if (mine === this.#current && !isAbort(problem)) failed(problem);
    } finally {
      timers.forEach(clearTimeout);
      if (mine === this.#current) rested();
    }
  }
}
