// Everything the page asks of the service, and what can go wrong on the way.

const BASE = new URL(".", document.baseURI); // the service may live below a prefix

/** What went wrong, in words for a person. `status` is 0 where no answer came. */
export class Problem extends Error {
  constructor(title, detail, status) {
    super(title);
    this.detail = detail;
    this.status = status;
  }
}

export const isAbort = (error) => error?.name === "AbortError";

export function address(path, parameters = {}) {
  const url = new URL(path.replace(/^\//, ""), BASE);
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  }
  return url;
}

export const pictureAddress = (id, size) => address(`pictures/${encodeURIComponent(id)}`, { size }).href;

let unlock = () => Promise.resolve();
/** What to do when the service asks for a token: a promise that is kept once it has accepted one. */
export function whenLocked(ask) {
  unlock = ask;
}

export const about = () => ask("about");
export const sample = async (k, start) => (await ask("sample", { k, start })).pictures.map(withId);
export const examples = async () => (await ask("examples")).examples.map((one) => ({ ...one, picture: withId(one.picture) }));
export const picture = async (id, signal) => withId(await ask(`pictures/${encodeURIComponent(id)}/about`, {}, { signal }));
export const search = async (query, signal) => withNames(await ask("search", query, { signal }));

/** A picture to ask about: one of the index (`id`), or one that the user has brought (`file`). */
const aboutPicture = (path, { id, file }, parameters, signal) =>
  file ? ask(path, parameters, { signal, body: file }) : ask(path, { id, ...parameters }, { signal });

export const similar = async (source, query, signal) => withNames(await aboutPicture("similar", source, query, signal));
/** How well words fit a picture: one of the index by its `id` or its `name`, or a `file`. */
export const fit = ({ file, ...named }, text, signal) =>
  file ? ask("fit", { text }, { signal, body: file }) : ask("fit", { ...named, text }, { signal });
export const captions = (source, k, signal) => aboutPicture("captions", source, { k }, signal);
export const check = (source, text, signal) => aboutPicture("check", source, { text }, signal);

/** Ids are numbers on the wire and text in addresses; here they are text. */
const withId = (one) => ({ ...one, id: String(one.id), ...(one.duplicates && { duplicates: one.duplicates.map(String) }) });
const withNames = (answer) => ({ ...answer, results: answer.results.map(withId) });

/** True where the service takes the token; it then keeps it in a cookie that no script can read. */
export async function startSession(token) {
  const response = await send(address("session"), {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
  if (response.status === 401 || response.status === 403) return false;
  if (!response.ok) throw await problemOf(response);
  return true;
}

async function ask(path, parameters, { signal, body } = {}) {
  const request = { signal };
  if (body) {
    Object.assign(request, { method: "POST", body, headers: { "Content-Type": body.type || "application/octet-stream" } });
  }
  const url = address(path, parameters);
  let response = await send(url, request);
  while (response.status === 401) {
    await unlock();
    response = await send(url, request);
  }
  if (!response.ok) throw await problemOf(response);
  try {
    return await response.json();
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem("The answer could not be read", "It was cut off, or another program answered.", response.status);
  }
}

async function send(url, request) {
  try {
    return await fetch(url, { credentials: "same-origin", ...request });
  } catch (error) {
    if (isAbort(error)) throw error;
    if (!navigator.onLine) {
      throw new Problem("You are offline", "The search goes on by itself when the connection is back.", 0);
    }
    throw new Problem("The search does not answer", "It may have been stopped, or the connection is broken.", 0);
  }
}

const TITLES = {
  401: "This search is private",
  404: "That picture is not there",
  410: "That picture is gone",
  413: "That is too large",
  415: "That is not a picture",
  429: "Very busy just now",
  503: "Very busy just now",
  504: "That took too long",
};

/** The service says why in a sentence; what it amounts to for the person here is said by us. */
async function problemOf(response) {
  const { status } = response;
  const title = TITLES[status] ?? (status < 500 ? "That could not be searched for" : "Something went wrong");
  try {
    const { detail } = await response.json();
    return new Problem(title, sentence(String(detail ?? "")), status);
  } catch {
    return new Problem(title, `The service answered ${status} without saying why.`, status);
  }
}

export const sentence = (text) => text && text[0].toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");
