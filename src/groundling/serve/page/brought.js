// Pictures that the user brings: chosen, dropped or pasted.

import { find, isTyping } from "./dom.js";

const LARGE = 6 * 1024 * 1024; // bytes; a telephone's picture takes long to send and more than a model looks at
const SIDE = 1600; // pixels
const TAKEN = ["image/jpeg", "image/png", "image/webp", "image/gif", "image/heic", "image/heif", ""]; // by the service

/** `take(files)` for pictures, `refuse(name)` where there are only other files. */
export function bringPictures(take, refuse) {
  const offer = (files) => {
    const pictures = [...files].filter(isPicture);
    if (pictures.length) take(pictures);
    else if (files.length) refuse(files[0].name);
  };
  const input = find("file");
  for (const id of ["choose", "choose-too", "editor-choose"]) find(id).addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    offer([...input.files]);
    input.value = ""; // the same file may be chosen again
  });

  document.addEventListener("paste", (event) => {
    const files = event.clipboardData?.files ?? [];
    const hasText = event.clipboardData?.types.includes("text/plain");
    if (!files.length || (hasText && isTyping(event.target))) return;
    event.preventDefault();
    offer(files);
  });

  const veil = find("drop");
  let depth = 0; // dragenter and dragleave come for every element on the way
  const carriesFiles = (event) => event.dataTransfer?.types.includes("Files");
  const over = (change) => {
    depth = Math.max(0, depth + change);
    veil.hidden = depth === 0;
  };
  document.addEventListener("dragenter", (event) => carriesFiles(event) && over(1));
  document.addEventListener("dragleave", (event) => carriesFiles(event) && over(-1));
  document.addEventListener("dragover", (event) => carriesFiles(event) && event.preventDefault());
  document.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    over(-depth);
    offer(event.dataTransfer.files);
  });
}

const isPicture = (file) => file.type.startsWith("image/") || /\.(heic|heif|jpe?g|png|webp|gif)$/i.test(file.name);

/** A copy of a picture that is very large or of a rare kind; the picture itself where this browser cannot read it. */
export async function fitToSend(file) {
  if (file.size <= LARGE && TAKEN.includes(file.type)) return file;
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
    const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
    canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    return await canvas.convertToBlob({ type: "image/webp", quality: 0.9 });
  } catch {
    return file;
  }
}
