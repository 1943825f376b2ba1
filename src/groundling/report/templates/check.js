/* Keeps decisions in this browser, by the rows of the table, and saves them as a CSV file. Nothing is sent anywhere. */
(() => {
  const list = document.querySelector(".checks");
  const key = `groundling-check-${list.dataset.sheet}`;
  const boxes = [...document.querySelectorAll(".decide")];
  const status = document.querySelector(".decided");
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(key)) || {}; } catch { /* kept until the page is closed */ }

  const quoted = (value) => `"${String(value).replaceAll('"', '""')}"`;
  const of = (box) => kept[box.dataset.line] || { decision: box.dataset.decision, corrected: box.dataset.corrected };

  const show = (box) => {
    const { decision, corrected } = of(box);
    const text = box.querySelector("textarea");
    for (const radio of box.querySelectorAll("input")) radio.checked = radio.value === decision;
    text.hidden = decision !== "corrected";
    if (!text.hidden && text !== document.activeElement) text.value = corrected || box.dataset.text;
  };
  const count = () => {
    const made = boxes.filter((box) => of(box).decision).length;
    status.textContent = `${made} of ${boxes.length} decided.`;
  };
  const keep = (box) => {
    const chosen = box.querySelector("input:checked");
    const text = box.querySelector("textarea");
    const decision = chosen ? chosen.value : "";
    kept[box.dataset.line] = { decision, corrected: decision === "corrected" ? text.value || box.dataset.text : "" };
    try { localStorage.setItem(key, JSON.stringify(kept)); } catch { /* private windows may keep nothing */ }
    show(box);
    count();
  };
  const save = () => {
    const lines = [["line", "picture", "text", "language", "decision", "corrected"]];
    for (const box of boxes) {
      const { decision, corrected } = of(box);
      const { line, picture, text, language } = box.dataset;
      if (decision) lines.push([line, picture, text, language, decision, corrected]);
    }
    const csv = lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
    link.download = "decisions.csv";
    link.click();
  };

  for (const box of boxes) {
    box.hidden = false;
    show(box);
    box.addEventListener("change", () => keep(box));
    box.addEventListener("input", () => keep(box));
  }
  document.querySelector(".save").addEventListener("click", save);
  document.querySelector(".deciding").hidden = false;
  count();
})();
