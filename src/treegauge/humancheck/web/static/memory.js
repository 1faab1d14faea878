// What the browser remembers: wishes for ever, an answer under way until it is stored. A browser may refuse to remember anything.

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
