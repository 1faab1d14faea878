// The question on the page: fetched, the next one ahead of time; scrolled to the bracket; its trees made to fit.

import { Cursor } from "./cursor.js";
import { showLocalTimes } from "./local_times.js";
import { remembered } from "./memory.js";
import { part } from "./sending.js";

const box = document.querySelector("#question");
const ahead = { address: "", html: null };
const READY_AFTER = 250;
let shownAt = performance.now();
let scale = 0;
let away = 0;
let leftAt = null;
let cursor = null;
const folds = [new Set(), new Set()]; // the nodes of each tree that the reader folded or unfolded

export const find = (selector) => box && box.querySelector(selector);
export const article = () => find("article");

// How long this question has been looked at, without the time the page was hidden.
export const secondsLooked = () => (performance.now() - shownAt - away) / 1000;

// Whether the question has been on the page long enough to have been seen: a second press in haste is no answer to it.
export const isReady = () => performance.now() - shownAt >= READY_AFTER;

export function questionAddress(key, system = "") {
  const options = new URLSearchParams();
  if (remembered("whole")) options.set("whole", "yes");
  if (system) options.set("system", system);
  return `question/${key}?${options}`;
}

export async function show(address) {
  const html = (address === ahead.address && (await ahead.html)) || (await part(address));
  box.innerHTML = html;
  arrange();
}

// The same question again, in another form.
export async function showAgain(system = "") {
  await show(questionAddress(article().dataset.key, system));
}

// After a question has come onto the page.
export function arrange() {
  const now = article();
  if (!now) return;
  shownAt = performance.now();
  away = 0;
  showLocalTimes(now, { dateStyle: "medium" });
  setTimeout(() => { now.dataset.ready = "yes"; }, READY_AFTER + 20);
  const sentence = find(".sentence");
  const asked = find(".sentence .asked");
  if (asked) sentence.scrollTop = Math.max(0, asked.offsetTop - 30);
  const current = find(".beside [aria-current]");
  if (current) {
    const row = current.closest("ol");
    row.scrollLeft += middleOf(current) - middleOf(row);
  }
  cursor = null;
  for (const toggled of folds) toggled.clear();
  for (const figure of now.querySelectorAll("figure")) markWords(figure.dataset);
  fit();
  find(".context").open = Boolean(remembered("context"));
  fetchAhead(now.dataset.after);
}

function middleOf(element) {
  const { left, width } = element.getBoundingClientRect();
  return left + width / 2;
}

function markWords({ prefix, start, end }) {
  for (let word = Number(start); word < Number(end); word += 1) {
    const text = document.getElementById(`${prefix}w${word}`);
    if (text) text.classList.add("asked");
  }
}

function fetchAhead(key) {
  ahead.address = key ? questionAddress(key) : "";
  ahead.html = key ? part(ahead.address).catch(() => null) : null;
}

const boxes = () => [...box.querySelectorAll("figure .tree")];

// The cursor in a tree; at first on the bracket in question, or on the smallest node around it.
function cursorIn(tree) {
  if (cursor && cursor.box === tree && tree.contains(cursor.at.group)) return cursor;
  if (cursor) cursor.clear();
  const focus = tree.querySelector("g.focus");
  cursor = new Cursor(tree, focus ? Number(focus.id.match(/\d+$/)[0]) : 0);
  if (!focus) {
    const { start, end } = tree.closest("figure").dataset;
    cursor.go(cursor.nodes.findLast((node) => !node.isTag && node.start <= Number(start) && Number(end) <= node.end));
  }
  return cursor;
}

// To the parser's tree; without its mark (in a blind check), to the second one.
export function enterTree() {
  const tree = boxes().find((one) => one.querySelector("g.focus")) || boxes().at(-1);
  tree.focus();
  cursorIn(tree);
}

// The answer to a key inside a tree: whether it was one for the cursor.
export function foldByKey(event, say) {
  const tree = event.target;
  if (event.key.startsWith("Arrow")) {
    cursorIn(tree).move(event.key);
    say(cursor.text);
  } else if (event.key === "Enter" || event.key === " ") foldNode(cursorIn(tree).at.group, say);
  else if (event.key === "Escape") {
    if (cursor) cursor.clear();
    cursor = null;
    tree.blur();
  } else return false;
  event.preventDefault();
  return true;
}

// Fold or unfold a node; the check draws the tree anew.
export async function foldNode(group, say) {
  const tree = group.closest(".tree");
  const which = boxes().indexOf(tree);
  const number = Number(group.id.match(/\d+$/)[0]);
  if (group.matches(".tag, .empty")) return;
  if (!folds[which].delete(number)) folds[which].add(number);
  try {
    const { key, system } = article().dataset;
    const toggled = folds.map((numbers, one) => `&fold${one + 1}=${[...numbers].join(",")}`).join("");
    const page = new DOMParser().parseFromString(await part(questionAddress(key, system) + toggled), "text/html");
    tree.replaceChildren(...page.querySelectorAll("figure .tree")[which].childNodes);
  } catch (error) {
    say(error.message);
    return;
  }
  markWords(tree.closest("figure").dataset);
  fit();
  cursor = new Cursor(tree, number);
  say(cursor.text);
}

// Larger or smaller trees; 0: as large as fits.
export function zoom(factor) {
  scale = factor ? Math.min(4, Math.max(0.3, (scale || fitting()) * factor)) : 0;
  fit();
}

// The scale at which every tree fits into its box, as long as it stays readable; the same for both.
function fitting() {
  const scales = [...box.querySelectorAll(".tree")].map((tree) => {
    const [width, height] = sizeOf(tree.querySelector("svg"));
    return Math.min((tree.clientWidth - 8) / width, (parseFloat(tree.style.maxHeight) - 10) / height);
  });
  return Math.min(1, Math.max(0.7, Math.min(...scales)));
}

// Trees shrink to their boxes as long as they stay readable; what is larger scrolls, with the bracket in the middle.
export function fit() {
  if (!box) return;
  const trees = [...box.querySelectorAll(".tree")].map((tree) => ({ tree, svg: tree.querySelector("svg") }));
  for (const { tree } of trees) tree.style.maxHeight = roomFor(trees.map((one) => one.tree));
  for (const { svg } of trees) resize(svg, 1);
  const size = scale || fitting();
  for (const { svg } of trees) resize(svg, size);
  for (const { tree } of trees) scrollToBracket(tree);
}

// The trees, or the upper one of two, end where the window does (with a line for the signs, if there is room), and scroll inside: so
// the bracket is in sight without scrolling the page.
const LEAST_ROOM = 150;
const ROOM_FOR_SIGNS = 36;
function roomFor(trees) {
  const top = Math.min(...trees.map((tree) => tree.getBoundingClientRect().top));
  const main = box.closest("main");
  const room = main.getBoundingClientRect().bottom - top - main.scrollTop - 8;
  return `${Math.max(LEAST_ROOM, room > 2 * LEAST_ROOM ? room - ROOM_FOR_SIGNS : room)}px`;
}

const sizeOf = (svg) => svg.getAttribute("viewBox").split(" ").slice(2).map(Number);

function resize(svg, scale) {
  const [width, height] = sizeOf(svg);
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", height * scale);
}

function scrollToBracket(tree) {
  const bracket = tree.querySelector(".focus") || tree.querySelector("text.asked") || tree.querySelector(".crossing");
  if (!bracket) return;
  const outer = tree.getBoundingClientRect();
  const inner = bracket.getBoundingClientRect();
  tree.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  tree.scrollTop += inner.top - outer.top - outer.height / 3;
}

window.addEventListener("resize", fit);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) {
    leftAt = performance.now();
  } else if (leftAt !== null) {
    away += performance.now() - leftAt;
    leftAt = null;
  }
});
