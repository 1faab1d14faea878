// What the browser remembers: wishes for ever, drafts and an answer under way until they are stored. A browser may refuse all that.

const PENDING = "treegauge-pending " + location.pathname;

export function remembered(name) {
  try {
    return localStorage.getItem("treegauge-" + name) || "";
  } catch {
    return "";
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem("treegauge-" + name, value);
  } catch { /* then the wish holds until the page is left */ }
}

// The answer that was under way when the page was left or reloaded, or null.
export function pending() {
  try {
    return JSON.parse(sessionStorage.getItem(PENDING));
  } catch {
    return null;
  }
}

export function keepPending(answer) {
  try {
    if (answer) sessionStorage.setItem(PENDING, JSON.stringify(answer));
    else sessionStorage.removeItem(PENDING);
  } catch { /* then a reload loses the retry, and the page asks again */ }
}

// The note, mark, label and reasons of a question that were not sent yet, or null.
const draftName = (key) => `draft ${location.pathname} ${key}`;

export function savedDraft(key) {
  try {
    return JSON.parse(remembered(draftName(key))) || null;
  } catch {
    return null;
  }
}

export function keepDraft(key, draft) {
  remember(draftName(key), JSON.stringify(draft));
}

export function dropDraft(key) {
  try {
    localStorage.removeItem("treegauge-" + draftName(key));
  } catch { /* then there is no draft either */ }
}
