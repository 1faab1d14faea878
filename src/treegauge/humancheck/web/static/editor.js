// Correcting the treebank's tree by keyboard: a cursor among its nodes, and edits that the check carries out.

import { Cursor } from "./cursor.js";
import { complain, part } from "./sending.js";

const $ = (selector) => document.querySelector(selector);
const dialog = $("#editor");
const content = $("#editor-content");
const label = $("#editor-label");
const message = $("#editor-message");
const undone = []; // the trees before each edit
let cursor = null;
let address = "";
let awaited = null; // the edit that waits for a label
let use = () => {};
let busy = false;

export const isEditing = () => dialog.open;
const edited = () => content.querySelector(".edited").dataset;

function tell(text) {
  message.textContent = text;
}

function take(html, node) {
  content.innerHTML = html;
  cursor = new Cursor(content.querySelector(".tree"), node ?? Number(edited().node));
  content.querySelector(".tree").focus({ preventScroll: true });
  tell(cursor.text);
}

// Open the editor for a question, with a tree edited before if there is one; whenUsed gets the tree, empty if it is the treebank's.
export async function openEditor(key, options, tree, whenUsed) {
  address = `edit/${key}`;
  use = whenUsed;
  undone.length = 0;
  try {
    const html = tree ? await post({ tree, edit: "show" }) : await part(`${address}?${new URLSearchParams(options)}`);
    dialog.showModal();
    take(html);
  } catch (error) {
    complain(error.message);
  }
}

async function beginFrom(name) {
  undone.push({ html: content.innerHTML, node: cursor.at.number });
  try {
    take(await part(`${address}?${new URLSearchParams({ from: name })}`));
  } catch (error) {
    tell(error.message);
  }
}

// The tree after an edit, as a part of the page.
async function post(body) {
  let answer;
  try {
    answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error("The check cannot be reached.");
  }
  const text = await answer.text();
  if (!answer.ok) throw new Error(JSON.parse(text).message);
  return text;
}

async function edit(name, text = "") {
  if (busy) return;
  busy = true;
  const [first, last] = [cursor.selection[0], cursor.selection.at(-1)];
  const before = { html: content.innerHTML, node: cursor.at.number };
  try {
    const html = await post({ tree: edited().tree, edit: name, node: first.number, last: last.number, label: text });
    undone.push(before);
    take(html);
  } catch (error) {
    tell(error.message);
  } finally {
    busy = false;
  }
}

function askLabel(name) {
  awaited = name;
  label.value = name === "relabel" ? cursor.at.label : "";
  label.focus();
  label.select();
  tell(name === "relabel" ? "The new label, then Enter." : "The label of the new bracket, then Enter.");
}

function undo() {
  const before = undone.pop();
  if (before) take(before.html, before.node);
  else tell("There is nothing to undo.");
}

function finish() {
  dialog.close();
  use(edited().gold ? "" : edited().tree);
}

const ACTIONS = {
  a: () => askLabel("add"),
  l: () => askLabel("relabel"),
  d: () => edit("delete"),
  delete: () => edit("delete"),
  o: () => edit("out"),
  p: () => edit("previous"),
  n: () => edit("next"),
  z: undo,
  enter: finish,
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target === label) {
    if (event.key === "Escape") {
      event.preventDefault();
      content.querySelector(".tree").focus();
    } else if (event.key === "Enter") {
      event.preventDefault();
      edit(awaited || "relabel", label.value.trim());
    }
    return;
  }
  if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    cursor.move(event.key, event.shiftKey);
    tell(cursor.text);
    return;
  }
  if (event.target.matches("button") && ["Enter", " "].includes(event.key)) return;
  const name = /^[a-z]$/i.test(event.key) || event.key.length > 1 ? event.key.toLowerCase() : event.code.replace("Key", "").toLowerCase();
  if (!ACTIONS[name]) return;
  event.preventDefault();
  ACTIONS[name]();
}

if (dialog) {
  dialog.addEventListener("keydown", onKey);
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-action], button[data-from]");
    const group = event.target.closest(".tree g.node");
    if (button?.dataset.from) beginFrom(button.dataset.from);
    else if (button) ACTIONS[button.dataset.action]();
    if (!group) return;
    const node = cursor.nodes.find((one) => one.group === group);
    if (event.shiftKey && node.above === cursor.at.above) {
      cursor.last = node;
      cursor.mark();
    } else cursor.go(node);
    tell(cursor.text);
  });
}
