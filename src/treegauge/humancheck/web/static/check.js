// The page's script: answers by key or button, and what follows from them. Without it the page works by plain forms.

import { pending, remember, remembered } from "./memory.js";
import { article, arrange, find, questionAddress, secondsLooked, show, showAgain } from "./question.js";
import { complain, isInTrouble, newId, part, send } from "./sending.js";

const $ = (selector) => document.querySelector(selector);
const form = $("#answers"); // null once everything is judged
const help = $("#help");
let busy = false;

// What a screen reader is to read out.
function say(text) {
  $("#status").textContent = text;
}

// One thing at a time: an impatient second answer does nothing while the first is under way.
async function during(work) {
  if (busy) return;
  busy = true;
  document.body.classList.add("busy");
  try {
    await work();
  } finally {
    busy = false;
    document.body.classList.remove("busy");
  }
}

function judge(verdict) {
  return during(async () => {
    const { question, note, correction } = form.elements;
    const answer = {
      id: newId(),
      question: question.value,
      verdict,
      note: note.value,
      correction: correction.checked,
      seconds: secondsLooked(),
    };
    await goOn(await send("judge", answer), `Stored: ${verdict}.`);
  });
}

function undo() {
  const last = $("#last form");
  if (!last) {
    say("There is nothing to undo.");
    return undefined;
  }
  return during(async () => goOn(await send("undo", { id: newId(), undoes: last.elements.undoes.value }), "Taken back."));
}

// After an answer was stored (or refused: null): the next question, and the numbers as they stand now.
async function goOn(answer, said) {
  if (!answer) return;
  showProgress(answer.progress);
  $("#last").innerHTML = answer.last;
  const elsewhere = answer.next ? "./?question=" + answer.next : "./";
  if (!answer.next || !form) {
    location.assign(elsewhere);
    return;
  }
  form.elements.note.value = "";
  form.elements.correction.checked = false;
  history.replaceState(null, "", "./");
  try {
    await show(questionAddress(answer.next));
  } catch {
    location.assign(elsewhere);
    return;
  }
  form.elements.question.value = answer.next;
  window.scrollTo(0, 0);
  const parts = [find("h1"), find(".sentence"), find(".reason")].map((element) => (element ? element.textContent.trim() : ""));
  say(`${said} ${answer.progress.left} left. ${parts.map((text) => text.slice(0, 300)).join(" ")}`);
  part("measures").then((html) => { $("#measures").innerHTML = html; }, () => { /* the next answer tries again */ });
}

function showProgress({ answered, total, left, skipped }) {
  $("#bar").value = answered;
  $("#bar").max = total;
  $("#count").textContent = `${answered} of ${total} judged, ${left} left${skipped ? ` (${skipped} skipped)` : ""}`;
}

async function change(said, system) {
  try {
    await showAgain(system);
    say(said);
  } catch {
    complain("The check cannot be reached.");
  }
}

function toggleWhole() {
  const whole = !remembered("whole");
  remember("whole", whole ? "yes" : "");
  return change(whole ? "Whole trees." : "Only what is near the bracket.");
}

// The tree of another parser that made the same bracket.
function otherTree(link = find("a.other")) {
  return link && change(`Parser ${link.dataset.system}.`, link.dataset.system);
}

function toggleCorrection() {
  const box = form.elements.correction;
  box.checked = !box.checked;
  say(box.checked ? "The treebank is wrong here." : "The treebank is not wrong.");
}

function toggleContext() {
  const context = find(".context");
  context.open = !context.open;
}

const KEYS = {
  a: () => judge("accepted"),
  r: () => judge("rejected"),
  u: () => judge("unsure"),
  s: () => judge("skipped"),
  n: () => form.elements.note.focus(),
  e: toggleCorrection,
  w: toggleWhole,
  t: () => otherTree(),
  c: toggleContext,
};

// The letter of a key: as it is written on it or, where keys write no Latin letters, as it would be in the usual place.
const letterOf = ({ key, code }) => (/^[a-z?]$/i.test(key) ? key : code.replace(/^Key/, "")).toLowerCase();

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
  if (event.target.matches("textarea, input:not([type=checkbox]), select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const letter = letterOf(event);
  if (letter !== "?" && remembered("keys-off")) return;
  const action = letter === "?" ? () => help.showModal() : letter === "z" ? undo : form && article() ? KEYS[letter] : undefined;
  if (!action) return;
  event.preventDefault();
  action();
});

function followLink(event) {
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.matches("#whole, .other")) event.preventDefault();
  if (link.matches("#whole")) toggleWhole();
  if (link.matches(".other")) otherTree(link);
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter) judge(event.submitter.value);
  });
  form.addEventListener("click", followLink);
  form.addEventListener("toggle", (event) => {
    if (event.target.matches(".context")) remember("context", event.target.open ? "yes" : "");
  }, true);
}
$("#last").addEventListener("submit", (event) => {
  event.preventDefault();
  undo();
});
$("#help-button").addEventListener("click", () => help.showModal());
$("#keys-off").checked = Boolean(remembered("keys-off"));
$("#keys-off").addEventListener("change", (event) => remember("keys-off", event.target.checked ? "yes" : ""));
window.addEventListener("beforeunload", (event) => {
  if (busy && isInTrouble()) event.preventDefault();
});

async function start() {
  if (window.matchMedia("(max-width: 900px)").matches) $("#measures-box").open = false;
  const now = article();
  if (now && !location.search && Boolean(remembered("whole")) !== Boolean(now.dataset.whole)) await showAgain();
  else arrange();
  const waiting = pending();
  if (waiting) await during(async () => goOn(await send(waiting.address, waiting.body), "The answer that waited is stored now."));
}

start();
