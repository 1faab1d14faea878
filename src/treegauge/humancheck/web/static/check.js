// The page's script: answers by key or button, and what follows from them. Without it the page works by plain forms.
//
// An answer goes into the outbox, and the next question comes at once; until the check has acknowledged it, the page says that the
// answer is not stored yet.

import { keepDraft, remember, remembered, savedDraft, savedTree } from "./memory.js";
import { isEditing, openEditor } from "./editor.js";
import { article, arrange, enterTree, fetchAhead, find, foldByKey, foldNode, isAsWanted, isReady, secondsLooked, show, showAgain, upcoming, zoom } from "./question.js";
import { complain, newId, part, pending, send, startSending } from "./sending.js";

const $ = (selector) => document.querySelector(selector);
const form = $("#answers"); // null once everything is answered
const help = $("#help");
const panel = $("#panel");
const said = []; // what was answered since the page was opened, one entry for each press of a key, to be undone
const states = new Map(); // of questions that were answered or taken back: the verdict or "open", whether stored or on its way
let busy = false;

// What a screen reader is to read out.
function say(text) {
  $("#status").textContent = text;
}

// One thing at a time: an impatient second press does nothing while the next question is under way.
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
  const isFilled = values.note || values.correction || values.correct_label || values.tags.length;
  showExtras(Boolean(isFilled || remembered("extras")));
  showEdited();
}

// On a narrow screen reasons, note and correction are behind a button, unless something is in them.
function showExtras(open) {
  form.classList.toggle("open", open);
  $("#more-button").setAttribute("aria-expanded", String(open));
}

function showEdited() {
  const isUsed = form.elements.correct_tree.value && form.elements.correction.checked;
  $("#tree-edited").textContent = isUsed ? "tree edited" : savedTree(form.elements.question.value) ? "edits kept, not used" : "";
}

const saveDraft = () => keepDraft(form.elements.question.value, draft());

function judge(verdict) {
  if (!isReady()) {
    say("Too fast: this bracket had just appeared. Look at it, then answer.");
    return;
  }
  if (busy) return;
  const question = form.elements.question.value;
  const what = draft();
  if (what.correction && verdict === "accepted" && !what.correct_label && !what.correct_tree && article().dataset.kind !== "EM") {
    askForLabel();
    return;
  }
  const label = what.correction ? what.correct_label : "";
  answer([{ id: newId(), question, verdict, seconds: secondsLooked(), ...what, correct_label: label }], `${verdict} ${nameOfBracket()}`);
}

const nameOfBracket = () => find(".pinned p").textContent.replace(/\s+/g, " ").trim();

// What is put into the treebank needs a label: say so beside its field, until something is typed there.
function askForLabel() {
  showExtras(true);
  const label = form.elements.correct_label;
  const text = "Choose the label of the corrected bracket first.";
  label.setCustomValidity(text);
  label.reportValidity();
  label.addEventListener("input", () => label.setCustomValidity(""), { once: true });
  say(text);
}

// The same verdict and reasons for all open brackets of the sentence, the one on the page first; each is an answer of its own, and
// the beginning of their ids tells that they belong together.
function judgeRest(verdict) {
  const open = [...document.querySelectorAll(".beside a.open:not([aria-current])")].map((link) => link.dataset.key);
  if (!isReady() || busy || !open.length || draft().correction) {
    judge(verdict);
    return;
  }
  const { note, tags } = draft();
  const first = { question: form.elements.question.value, verdict, seconds: secondsLooked(), note, tags };
  const all = [first, ...open.map((question) => ({ question, verdict, tags }))];
  const together = newId();
  answer(all.map((one, number) => ({ ...one, id: `${together}-${number}` })), `${verdict} ${all.length} brackets`);
}

// Send answers, and go on to the next question at once.
function answer(bodies, text) {
  for (const body of bodies) {
    states.set(body.question, body.verdict);
    keepDraft(body.question, null);
    send("judge", body, text);
  }
  said.push({ bodies });
  showPending();
  during(() => goOn(nextQuestion(), `Answered: ${text}.`));
}

const isAnswered = (key) => states.has(key) && states.get(key) !== "open";
const nextQuestion = () => upcoming().find((key) => !isAnswered(key)) || "";

// The next question; where none is known, the check knows whether all are answered, once it has all answers.
async function goOn(key, text) {
  while (!key && pending().length) await new Promise((done) => setTimeout(done, 100));
  if (!key || !form) {
    location.assign(key ? `./?question=${key}` : "./");
    return;
  }
  for (;;) {
    try {
      await show(key);
      break;
    } catch (error) {
      complain(`${error.message} Trying again …`);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
  history.pushState(null, "", `./?question=${key}`);
  afterShowing();
  const parts = [find("h1"), find(".sentence"), find(".reason")].map((element) => (element ? element.textContent.trim() : ""));
  say(`${text} ${parts.map((one) => one.slice(0, 300)).join(" ")}`);
  if ($("#measures-box").open) showMeasures();
}

// After a question came onto the page: the bar, and what was answered since it was fetched.
function afterShowing() {
  for (const [key, state] of states) markBeside(key, state);
  const all = document.querySelectorAll(".beside a");
  if (all.length) find("#answered").textContent = `${[...all].filter((link) => !link.matches(".open")).length} of ${all.length}`;
  const copy = find("#copy-link");
  if (copy) copy.hidden = !navigator.clipboard;
  fillBar();
  fetchAhead(upcoming().filter((key) => !isAnswered(key)));
}

// Take back the last answer, or all that were given by one key, and go back to it.
function undo() {
  const last = said.pop();
  const before = $("#last form")?.elements.undoes?.value;
  if (!last && !before) {
    say("There is nothing to undo.");
    return;
  }
  const response = send("undo", { id: newId(), undoes: last ? last.bodies[0].id : before }, "");
  for (const body of last?.bodies || []) reopen(body);
  showPending();
  during(async () => {
    const key = last ? last.bodies[0].question : (await response)?.next;
    if (key) await goOn(key, "Taken back.");
  });
}

// A question is open again; what was said beside the verdict is in the bar when it comes back.
function reopen({ question, note = "", correction = false, correct_label: label = "", correct_tree: tree = "", tags = [] }) {
  states.set(question, "open");
  keepDraft(question, { note, correction, correct_label: label, correct_tree: tree, tags });
}

// The last answer while it is on its way.
function showPending() {
  const waiting = pending();
  if (!waiting.length) return;
  const last = waiting.at(-1);
  const button = Object.assign(document.createElement("button"), { className: "link", textContent: "Undo", type: "submit" });
  const line = document.createElement("p");
  const note = document.createElement("span");
  note.className = "said";
  note.textContent = `Last: ${last.said || "undo"}. ${waiting.length > 1 ? `${waiting.length} answers are` : "It is"} not stored yet …`;
  line.append(note, ...(said.length ? [button] : []));
  const holder = document.createElement("form");
  holder.className = "last pending";
  holder.append(line);
  $("#last").replaceChildren(holder);
}

function whenStored(response) {
  showProgress(response.progress);
  if (pending().length) showPending();
  else $("#last").innerHTML = response.last;
}

function whenRefused(sent, text) {
  if (sent.body.question) {
    reopen(sent.body);
    markBeside(sent.body.question, "open");
  }
  complain(text);
  if (!pending().length) $("#last").replaceChildren();
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

function showProgress({ answered: done, total, text }) {
  $("#bar").value = done;
  $("#bar").max = total;
  $("#count").textContent = text;
}

async function change(text, system) {
  try {
    await showAgain(system);
    afterShowing();
    say(text);
  } catch (error) {
    complain(error.message);
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
function walk(step) {
  const links = [...document.querySelectorAll(".beside a")];
  const at = links.findIndex((link) => link.getAttribute("aria-current"));
  const next = links[at + step];
  if (at >= 0 && next) visit(next.dataset.key);
}

function visit(key, { push = true } = {}) {
  return during(async () => {
    try {
      await show(key, { fresh: isAnswered(key) });
    } catch (error) {
      complain(error.message);
      return;
    }
    if (push) history.pushState(null, "", `./?question=${key}`);
    afterShowing();
    say(find("h1").textContent.trim());
  });
}

function enter(field) {
  showExtras(true);
  field.focus();
}

function toggleCorrection() {
  showExtras(true);
  const box = form.elements.correction;
  box.checked = !box.checked;
  showEdited();
  saveDraft();
  say(box.checked ? "The treebank is wrong here." : "The treebank is not wrong.");
}

function toggleTag(number) {
  const box = tagBoxes()[number - 1];
  if (!box) return;
  showExtras(true);
  box.checked = !box.checked;
  saveDraft();
  say(`${box.value}: ${box.checked ? "on" : "off"}.`);
}

function toggleContext() {
  const context = find(".context");
  context.open = !context.open;
}

async function openPanel(address, selector) {
  try {
    const page = new DOMParser().parseFromString(await part(address), "text/html");
    $("#panel-content").replaceChildren(...(page.querySelector(selector) || page.body).childNodes);
    panel.showModal();
    $("#panel-content").focus();
    panel.scrollTop = 0;
  } catch (error) {
    complain(error.message);
  }
}

// See the corrected tree and edit it; the tree that is used goes with the answer.
function correctTree() {
  const { question, correct_label: label, correct_tree: tree, correction } = form.elements;
  const verdict = article().dataset.kind === "EM" ? "rejected" : "accepted";
  return openEditor(question.value, { label: label.value.trim(), verdict }, tree.value, (text) => {
    if (text !== undefined) {
      tree.value = text;
      if (text) correction.checked = true;
      saveDraft();
      say(text ? "The edited tree goes with your answer." : "The tree is the treebank’s again.");
    }
    showEdited();
  });
}

// A link without anybody's token: whoever opens it comes to this bracket by their own link.
async function copyLink(button) {
  await navigator.clipboard.writeText(new URL(button.dataset.link, location.href).href);
  button.textContent = "Copied";
  say("The link to this bracket is copied.");
}

const KEYS = {
  a: () => judge("accepted"),
  r: () => judge("rejected"),
  u: () => judge("unsure"),
  s: () => judge("skipped"),
  n: () => enter(form.elements.note),
  l: () => enter(form.elements.correct_label),
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
    // In the field of the label Enter means that it is complete; only a button or its key gives an answer.
    const leaves = event.key === "Escape" || (event.key === "Enter" && event.target.matches("input"));
    if (leaves) event.target.blur();
    if (leaves && event.key === "Enter") event.preventDefault();
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
  const group = event.target.closest(".tree g.node");
  if (group) foldNode(group, say);
  const button = event.target.closest("button");
  if (button?.dataset.zoom) zoom(Number(button.dataset.zoom));
  else if (button?.dataset.rest) judgeRest(button.dataset.rest);
  else if (button?.id === "copy-link") copyLink(button);
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
    if (event.submitter?.value) judge(event.submitter.value);
  });
  form.addEventListener("input", (event) => {
    // Whoever names a label says that the treebank is wrong.
    if (event.target === form.elements.correct_label && event.target.value.trim()) form.elements.correction.checked = true;
    showEdited();
    saveDraft();
  });
  $("#editor-button").addEventListener("click", correctTree);
  $("#more-button").addEventListener("click", () => {
    remember("extras", form.classList.contains("open") ? "" : "yes");
    showExtras(Boolean(remembered("extras")));
  });
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
  if (pending().length) event.preventDefault();
});
// Back and forward: the address names the bracket.
window.addEventListener("popstate", () => {
  const key = new URLSearchParams(location.search).get("question");
  if (form && key) visit(key, { push: false });
  else location.reload();
});

async function start() {
  const now = article();
  const asked = new URLSearchParams(location.search);
  remember("way in", location.pathname); // for links without a token
  startSending({ stored: whenStored, refused: whenRefused });
  for (const { body } of pending().filter((one) => one.body.question)) {
    const together = said.at(-1)?.bodies;
    if (together?.[0].id.split("-")[0] === body.id.split("-")[0]) together.push(body);
    else said.push({ bodies: [body] });
    states.set(body.question, body.verdict);
  }
  showPending();
  if (!now) return;
  // An answer that is on its way is not asked for again, unless the address names its bracket.
  if (!asked.has("question") && isAnswered(now.dataset.key)) {
    await during(() => goOn(nextQuestion(), ""));
    return;
  }
  if (!asked.has("question")) history.replaceState(null, "", `./?question=${now.dataset.key}`);
  if (!asked.has("whole") && !isAsWanted()) await showAgain();
  else arrange();
  afterShowing();
}

start();
document.body.dataset.ready = "yes"; // from here on keys are heard
