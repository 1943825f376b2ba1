// Where the user is, kept in the address: the back button, a reload and a sent link all work.

const IN_ADDRESS = ["q", "language", "folder", "since", "until", "apart", "view", "picture"];

/** `brought` (a key of a picture that the user brought) and `depth` (dialogs to go back through) live in the history. */
export function readPlace() {
  const parameters = new URLSearchParams(location.search);
  const place = Object.fromEntries(IN_ADDRESS.map((name) => [name, parameters.get(name) ?? ""]));
  return { ...place, brought: history.state?.brought ?? null, depth: history.state?.depth ?? 0 };
}

export function addressOf(place) {
  const parameters = new URLSearchParams();
  for (const name of IN_ADDRESS) if (place[name]) parameters.set(name, place[name]);
  const query = parameters.toString();
  return query ? `?${query}` : "./";
}

export function writePlace(place, replace) {
  const state = { brought: place.brought, depth: place.depth };
  history[replace ? "replaceState" : "pushState"](state, "", addressOf(place));
}
