// Names of languages in themselves, and the direction of what somebody types.

const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Thaana}\p{Script=Syriac}\p{Script=Nko}\p{Script=Adlam}]/gu;
const LETTERS = /\p{Letter}/gu;

/** "rtl" where most letters are written so. Unlike dir="auto" it does not turn at a Latin first letter. */
export function directionOf(text) {
  const letters = text.match(LETTERS)?.length ?? 0;
  const leftwards = text.match(RIGHT_TO_LEFT)?.length ?? 0;
  return leftwards * 2 > letters ? "rtl" : "ltr";
}

/** "Deutsch" for "de"; the code itself where the browser has no name for it. */
export function ownName(code) {
  try {
    const name = new Intl.DisplayNames([code], { type: "language", fallback: "none" }).of(code);
    return name ? name[0].toLocaleUpperCase(code) + name.slice(1) : code;
  } catch {
    return code;
  }
}
