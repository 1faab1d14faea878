// The page's script: answers by key or button, and what follows from them. Without it the page works by plain forms.

import { dropDraft, keepDraft, pending, remember, remembered, savedDraft } from "./memory.js";
import { isEditing, openEditor } from "./editor.js";
import { article, arrange, enterTree, find, foldByKey, foldNode, isReady, questionAddress, secondsLooked, show, showAgain, zoom } from "./question.js";
import { complain, isInTrouble, newId, part, send } from "./sending.js";

const $ = (selector) => document.querySelector(selector);
const form = $("#answers"); // null once everything is answered
const help = $("#help");
const panel = $("#panel");
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

const tagBoxes = () => [...form.querySelectorAll("input[name=tags]")];

// What is in the bar, beside the verdict.
function draft() {
  const { note, correction, correct_label: label, correct_tree: tree } = form.elements;
  return {
    note: note.value,
    correction: correction.checked,
    correct_label: label.value,
    correct_tree: correction.checked ? tree.value : "",
    tags: tagBoxes().filter((box) => box.checked).map((box) => box.value),
  };
}

// The bar for the question on the page: an unsaved draft, else what was said before, else nothing.
function fillBar() {
  const { key, note, correction, label, tree, tags } = article().dataset;
  const before = { note, correction: correction === "yes", correct_label: label, correct_tree: tree, tags: tags ? tags.split(",") : [] };
  const values = savedDraft(key) || before;
  form.elements.question.value = key;
  form.elements.note.value = values.note;
  form.elements.correction.checked = values.correction;
  form.elements.correct_label.value = values.correct_label;
  form.elements.correct_tree.value = values.correct_tree || "";
  for (const box of tagBoxes()) box.checked = values.tags.includes(box.value);
  showEdited();
}

const showEdited = () => { $("#tree-edited").hidden = !form.elements.correct_tree.value || !form.elements.correction.checked; };

function judge(verdict) {
  if (!isReady()) {
    say("Too fast: this bracket had just appeared. Look at it, then answer.");
    return undefined;
  }
  return during(async () => {
    const question = form.elements.question.value;
    const answer = { id: newId(), question, verdict, seconds: secondsLooked(), ...draft() };
    if (answer.correction && verdict === "accepted" && !answer.correct_label && !answer.correct_tree && article().dataset.kind !== "EM") {
      askForLabel();
      return;
    }
    const stored = await send("judge", answer);
    if (stored) dropDraft(question);
    await goOn(stored, `Stored: ${verdict}.`, question, verdict);
  });
}

// What is put into the treebank needs a label: say so beside its field, until something is typed there.
function askForLabel() {
  const label = form.elements.correct_label;
  const text = "Choose the label of the corrected bracket first.";
  label.setCustomValidity(text);
  label.reportValidity();
  label.addEventListener("input", () => label.setCustomValidity(""), { once: true });
  say(text);
}

// The same verdict and reasons for all open brackets of the sentence, the one on the page first; each is an answer of its own.
function judgeRest(verdict) {
  const open = [...document.querySelectorAll(".beside a.open:not([aria-current])")].map((link) => link.dataset.key);
  if (!isReady() || !open.length || draft().correction) return judge(verdict);
  return during(async () => {
    const question = form.elements.question.value;
    const { note, tags } = draft();
    let stored = await send("judge", { id: newId(), question, verdict, seconds: secondsLooked(), note, tags });
    if (stored) dropDraft(question);
    for (const key of open) {
      if (!stored) return;
      stored = await send("judge", { id: newId(), question: key, verdict, tags });
      markBeside(key, verdict);
    }
    await goOn(stored, `Stored: ${open.length + 1} brackets ${verdict}.`, open.at(-1), verdict);
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
async function goOn(answer, said, key = "", state = "open") {
  if (!answer) return;
  showProgress(answer.progress);
  $("#last").innerHTML = answer.last;
  const elsewhere = answer.next ? "./?question=" + answer.next : "./";
  if (!answer.next || !form) {
    location.assign(elsewhere);
    return;
  }
  history.replaceState(null, "", "./");
  try {
    await show(questionAddress(answer.next));
  } catch {
    location.assign(elsewhere);
    return;
  }
  markBeside(key || answer.next, state);
  fillBar();
  const parts = [find("h1"), find(".sentence"), find(".reason")].map((element) => (element ? element.textContent.trim() : ""));
  say(`${said} ${answer.progress.left} left. ${parts.map((text) => text.slice(0, 300)).join(" ")}`);
  if ($("#measures-box").open) showMeasures();
}

// The bracket that was just answered, among those of the sentence: the question may have been fetched before.
function markBeside(key, state) {
  const link = document.querySelector(`.beside a[data-key="${key}"]`);
  if (!link) return;
  link.className = state;
  link.querySelector(".sign").textContent = { accepted: "✓", rejected: "✗", unsure: "?", skipped: "→", open: "·" }[state];
  link.querySelector(".hidden").textContent = `, ${state}`;
}

function showMeasures() {
  part("measures").then((html) => { $("#measures").innerHTML = html; }, () => { /* the next answer tries again */ });
}

function showProgress({ answered, total, text }) {
  $("#bar").value = answered;
  $("#bar").max = total;
  $("#count").textContent = text;
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
  return change(whole ? "Whole trees." : "Only the part near the bracket.");
}

// The tree of another parser that made the same bracket.
function otherTree(link = find("a.other")) {
  return link && change(`Parser ${link.dataset.system}.`, link.dataset.system);
}

// Another bracket of the same sentence.
async function walk(step) {
  const links = [...document.querySelectorAll(".beside a")];
  const at = links.findIndex((link) => link.getAttribute("aria-current"));
  const next = links[at + step];
  if (at < 0 || !next) return;
  await visit(next.dataset.key);
}

async function visit(key) {
  try {
    await show(questionAddress(key));
    fillBar();
    say(find("h1").textContent.trim());
  } catch {
    complain("The check cannot be reached.");
  }
}

function toggleCorrection() {
  const box = form.elements.correction;
  box.checked = !box.checked;
  showEdited();
  saveDraft();
  say(box.checked ? "The treebank is wrong here." : "The treebank is not wrong.");
}

function toggleTag(number) {
  const box = tagBoxes()[number - 1];
  if (!box) return;
  box.checked = !box.checked;
  saveDraft();
  say(`${box.value}: ${box.checked ? "on" : "off"}.`);
}

function toggleContext() {
  const context = find(".context");
  context.open = !context.open;
}

const saveDraft = () => keepDraft(form.elements.question.value, draft());

async function openPanel(address, selector) {
  try {
    const page = new DOMParser().parseFromString(await part(address), "text/html");
    $("#panel-content").replaceChildren(...(page.querySelector(selector) || page.body).childNodes);
    panel.showModal();
    $("#panel-content").focus();
    panel.scrollTop = 0;
  } catch {
    complain("The check cannot be reached.");
  }
}

// See the corrected tree and edit it; the tree that is used goes with the answer.
function correctTree() {
  const { question, correct_label: label, correct_tree: tree, correction } = form.elements;
  const verdict = article().dataset.kind === "EM" ? "rejected" : "accepted";
  return openEditor(question.value, { label: label.value.trim(), verdict }, tree.value, (text) => {
    tree.value = text;
    if (text) correction.checked = true;
    showEdited();
    saveDraft();
    say(text ? "The edited tree goes with your answer." : "The tree is the treebank’s again.");
  });
}

const KEYS = {
  a: () => judge("accepted"),
  r: () => judge("rejected"),
  u: () => judge("unsure"),
  s: () => judge("skipped"),
  n: () => form.elements.note.focus(),
  l: () => form.elements.correct_label.focus(),
  e: toggleCorrection,
  p: correctTree,
  f: enterTree,
  w: toggleWhole,
  t: () => otherTree(),
  c: toggleContext,
  j: () => walk(1),
  k: () => walk(-1),
  arrowdown: () => walk(1),
  arrowup: () => walk(-1),
  "+": () => zoom(1.25),
  "=": () => zoom(1.25),
  "-": () => zoom(0.8),
  0: () => zoom(0),
};
const EVERYWHERE = { "?": () => help.showModal(), z: undo, g: () => openPanel("guidelines", "#guidelines") };

// The letter of a key: as it is written on it or, where keys write no Latin letters, as it would be in the usual place.
const letterOf = ({ key, code }) => (/^[a-z?+=\-0-9]$|^Arrow/i.test(key) ? key : code.replace(/^Key|^Digit/, "")).toLowerCase();

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open || panel.open || isEditing()) return;
  if (event.target.matches("textarea, input:not([type=checkbox]), select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.target.matches("#question .tree") && foldByKey(event, say)) return;
  const letter = letterOf(event);
  if (letter !== "?" && remembered("keys-off")) return;
  if (letter.startsWith("arrow") && event.target.closest(".sentence")) return;
  const here = form && article();
  const tag = here && /^[1-9]$/.test(letter) ? () => toggleTag(Number(letter)) : undefined;
  const rest = here && event.shiftKey && { a: () => judgeRest("accepted"), r: () => judgeRest("rejected") }[letter];
  const action = rest || EVERYWHERE[letter] || tag || (here ? KEYS[letter] : undefined);
  if (!action) return;
  event.preventDefault();
  action();
});

function followLink(event) {
  const group = event.target.closest(".tree g.node.phrase, .tree g.node.folded");
  if (group) foldNode(group, say);
  const button = event.target.closest("button[data-zoom]");
  if (button) zoom(Number(button.dataset.zoom));
  const link = event.target.closest("a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const action = link.matches("#whole") ? toggleWhole : link.matches(".other") ? () => otherTree(link)
    : link.matches(".beside a") ? () => visit(link.dataset.key) : undefined;
  if (!action) return;
  event.preventDefault();
  action();
}

if (form) {
  form.noValidate = true; // an answer that needs no label is not held up by the field
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter) judge(event.submitter.value);
  });
  form.addEventListener("input", () => {
    showEdited();
    saveDraft();
  });
  $("#editor-button").addEventListener("click", correctTree);
  $("#question").addEventListener("click", followLink);
  $("#question").addEventListener("toggle", (event) => {
    if (event.target.matches(".context")) remember("context", event.target.open ? "yes" : "");
  }, true);
  $("#measures-box").addEventListener("toggle", (event) => { if (event.target.open) showMeasures(); });
}
$("#last").addEventListener("submit", (event) => {
  event.preventDefault();
  undo();
});
$("#guidelines-link").addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openPanel("guidelines", "#guidelines");
});
$("#help-button").addEventListener("click", () => help.showModal());
$("#keys-off").checked = Boolean(remembered("keys-off"));
$("#keys-off").addEventListener("change", (event) => remember("keys-off", event.target.checked ? "yes" : ""));
window.addEventListener("beforeunload", (event) => {
  if (busy && isInTrouble()) event.preventDefault();
});

async function start() {
  const now = article();
  if (now && !location.search && Boolean(remembered("whole")) !== Boolean(now.dataset.whole)) await showAgain();
  else arrange();
  if (now) fillBar();
  const waiting = pending();
  if (waiting) await during(async () => goOn(await send(waiting.address, waiting.body), "The answer that waited is stored now."));
}

start();
document.body.dataset.ready = "yes"; // from here on keys are heard
