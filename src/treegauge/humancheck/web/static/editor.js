// Correcting the treebank's tree by keyboard, mouse or touch: a cursor among its nodes, and edits that the check carries out.

import { Cursor } from "./cursor.js";
import { keepTree, savedTree } from "./memory.js";
import { complain, part } from "./sending.js";
import { fitting, resize, scaled } from "./trees.js";

const $ = (selector) => document.querySelector(selector);
const dialog = $("#editor");
const content = $("#editor-content");
const label = $("#editor-label");
const message = $("#editor-message");
const several = $("#editor-several");
const undone = []; // the trees before each edit
const redone = []; // the trees that were undone
let cursor = null;
let question = "";
let awaited = null; // the edit that waits for a label
let use = () => {};
let busy = false;
let scale = null; // null: as large as fits

export const isEditing = () => dialog.open;
const edited = () => content.querySelector(".edited").dataset;
const box = () => content.querySelector(".tree");
const address = () => `edit/${question}`;

function tell(text) {
  message.textContent = text;
}

function take(html, node) {
  content.innerHTML = html;
  fit();
  cursor = new Cursor(box(), node ?? Number(edited().node));
  box().focus({ preventScroll: true });
  tell(cursor.text);
}

// The scale at which the tree fits into its box.
const natural = () => fitting([box()], parseFloat(getComputedStyle(box()).maxHeight));

function fit() {
  resize([box()], scale ?? natural());
}

function zoom(factor) {
  scale = factor ? scaled(scale ?? natural(), factor) : null;
  fit();
  cursor.mark();
}

const keepEdits = () => keepTree(question, edited().gold ? "" : edited().tree);
const state = () => ({ html: content.innerHTML, node: cursor.at.number });

// Open the editor for a question, with the tree that was left in it or used before, if there is one. whenLeft gets the tree that is
// used, empty if it is the treebank's, or undefined if none is used.
export async function openEditor(key, options, tree, whenLeft) {
  question = key;
  use = whenLeft;
  undone.length = redone.length = 0;
  scale = null;
  const kept = savedTree(key);
  try {
    const html = kept || tree ? await post({ tree: kept || tree, edit: "show" }) : await part(`${address()}?${new URLSearchParams(options)}`);
    dialog.showModal();
    take(html);
    if (kept) tell(`Your edits are here again. ${cursor.text}`);
  } catch (error) {
    keepTree(key, "");
    complain(error.message);
  }
}

const post = (body) => part(address(), body);

// Show what comes from the check; the tree before it can be brought back.
async function change(html) {
  if (busy) return;
  busy = true;
  const before = state();
  try {
    take(await html);
    undone.push(before);
    redone.length = 0;
    keepEdits();
  } catch (error) {
    tell(error.message);
  } finally {
    busy = false;
  }
}

function edit(name, text = "") {
  const [first, last] = [cursor.selection[0], cursor.selection.at(-1)];
  return change(post({ tree: edited().tree, edit: name, node: first.number, last: last.number, label: text }));
}

function askLabel(name) {
  awaited = name;
  label.value = name === "relabel" ? cursor.at.label : "";
  label.focus();
  label.select();
  tell(name === "relabel" ? "The new label, then Enter." : "The label of the new bracket, then Enter.");
}

// Undo: from the trees before each edit to those that were undone; redo: back.
function step(from, to, nothing) {
  const next = from.pop();
  if (!next) {
    tell(nothing);
    return;
  }
  to.push(state());
  take(next.html, next.node);
  keepEdits();
}

// Leave the editor: the tree goes with the answer, or is kept for the next time that the editor is opened.
function finish() {
  const { gold, tree } = edited();
  keepTree(question, "");
  use(gold ? "" : tree);
  use = () => {};
  dialog.close();
}

const ACTIONS = {
  a: () => askLabel("add"),
  l: () => askLabel("relabel"),
  d: () => edit("delete"),
  delete: () => edit("delete"),
  o: () => edit("out"),
  p: () => edit("previous"),
  n: () => edit("next"),
  z: () => step(undone, redone, "There is nothing to undo."),
  y: () => step(redone, undone, "There is nothing to redo."),
  s: () => several.setAttribute("aria-pressed", String(!selectsSeveral())),
  ok: () => edit(awaited || "relabel", label.value.trim()),
  "+": () => zoom(1.25),
  "=": () => zoom(1.25),
  "-": () => zoom(0.8),
  0: () => zoom(0),
  enter: finish,
};

const selectsSeveral = () => several.getAttribute("aria-pressed") === "true";

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target === label) {
    if (event.key === "Escape") {
      event.preventDefault();
      box().focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      ACTIONS.ok();
    }
    return;
  }
  if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    cursor.move(event.key, event.shiftKey || selectsSeveral());
    tell(cursor.text);
    return;
  }
  if (event.target.matches("button") && ["Enter", " "].includes(event.key)) return;
  const name = /^[a-z+=\-0]$/i.test(event.key) || event.key.length > 1 ? event.key.toLowerCase() : event.code.replace("Key", "").toLowerCase();
  const action = name === "z" && event.shiftKey ? ACTIONS.y : ACTIONS[name];
  if (!action) return;
  event.preventDefault();
  action();
}

// A tap or click selects a node; with Shift, or while several are selected, all neighbours up to it.
function select(group, extending) {
  const node = cursor.nodes.find((one) => one.group === group);
  if (extending && node.above === cursor.at.above) {
    cursor.last = node;
    cursor.mark();
  } else cursor.go(node);
  tell(cursor.text);
}

if (dialog) {
  dialog.addEventListener("keydown", onKey);
  dialog.addEventListener("close", () => use());
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const group = event.target.closest(".tree g.node");
    if (button?.dataset.from) change(part(`${address()}?${new URLSearchParams({ from: button.dataset.from })}`));
    else if (button?.dataset.zoom) zoom(Number(button.dataset.zoom));
    else if (button?.dataset.action) ACTIONS[button.dataset.action]();
    if (group) select(group, event.shiftKey || selectsSeveral());
  });
  window.addEventListener("resize", () => { if (dialog.open) fit(); });
}
