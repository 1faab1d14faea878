// The question on the page: fetched, the next ones ahead of time; scrolled to what matters; its trees made to fit.

import { Cursor } from "./cursor.js";
import { showLocalTimes } from "./local_times.js";
import { remembered } from "./memory.js";
import { part } from "./sending.js";
import { fitting, resize, scaled, scrollTo, underline } from "./trees.js";

const box = document.querySelector("#question");
const READY_AFTER = 250;
const AHEAD = 3; // the number of questions fetched before they are needed
const KEPT = 12;
const fetched = new Map(); // addresses of questions and promises of their HTML, the latest last
let shownAt = performance.now();
let scale = null; // null: as large as fits
let away = 0;
let leftAt = null;
let cursor = null;
const folds = [new Set(), new Set()]; // of each tree, the nodes that the reader folded or unfolded and the dots opened

export const find = (selector) => box && box.querySelector(selector);
export const article = () => find("article");
export const upcoming = () => (article()?.dataset.upcoming || "").split(" ").filter(Boolean);

// How long this question has been looked at, without the time the page was hidden.
export const secondsLooked = () => Math.max(0, performance.now() - shownAt - away) / 1000;

// Whether the question has been on the page long enough to have been seen: a second press in haste is no answer to it.
export const isReady = () => performance.now() - shownAt >= READY_AFTER;

function addressOf(key, system = "") {
  const options = new URLSearchParams();
  if (remembered("whole")) options.set("whole", "yes");
  if (system) options.set("system", system);
  return `question/${key}?${options}`;
}

function fetchOnce(address) {
  if (!fetched.has(address)) {
    fetched.set(address, part(address).catch((error) => {
      fetched.delete(address);
      throw error;
    }));
    if (fetched.size > KEPT) fetched.delete(fetched.keys().next().value);
  }
  return fetched.get(address);
}

// Show a question as it was fetched or, if fresh, as it is now; what was fetched has to do if the check cannot be reached.
export async function show(key, { system = "", fresh = false } = {}) {
  const address = addressOf(key, system);
  const before = fetched.get(address);
  if (fresh) fetched.delete(address);
  try {
    box.innerHTML = await fetchOnce(address);
  } catch (error) {
    if (!before) throw error;
    box.innerHTML = await before;
  }
  arrange();
}

// The question that came with the page is as good as one that was fetched, if its trees are as the reader wants them.
export const isAsWanted = () => Boolean(remembered("whole")) === Boolean(article().dataset.whole);
if (article() && isAsWanted()) fetched.set(addressOf(article().dataset.key), Promise.resolve(box.innerHTML));

export const showAgain = (system = "") => show(article().dataset.key, { system });

// Fetch the next questions one by one, so that a slow line is not shared among them.
export async function fetchAhead(keys) {
  for (const key of keys.slice(0, AHEAD)) {
    try {
      await fetchOnce(addressOf(key));
    } catch {
      return; // the question itself will say what is wrong
    }
  }
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
  if (asked) sentence.scrollTop += asked.getBoundingClientRect().top - sentence.getBoundingClientRect().top - 30;
  const current = find(".beside [aria-current]");
  if (current) {
    const row = current.closest("ol");
    row.scrollLeft += current.offsetWidth > row.clientWidth ? startOf(current) - startOf(row) : middleOf(current) - middleOf(row);
  }
  cursor = null;
  scale = null;
  for (const toggled of folds) toggled.clear();
  for (const figure of now.querySelectorAll("figure")) underline(figure, figure.dataset.asked);
  fit();
  find(".context").open = Boolean(remembered("context"));
}

const startOf = (element) => element.getBoundingClientRect().left;

function middleOf(element) {
  const { left, width } = element.getBoundingClientRect();
  return left + width / 2;
}

const boxes = () => [...box.querySelectorAll("figure .tree")];
const idsOf = (tree) => tree.closest("figure").dataset.targets.split(" ");
const targetsOf = (tree) => idsOf(tree).map((id) => document.getElementById(id)).filter(Boolean);
const numberOf = (group) => Number(group.id.match(/\d+$/)[0]);

// The cursor in a tree; at first on the node that matters.
function cursorIn(tree) {
  if (cursor && cursor.box === tree && tree.contains(cursor.at.group)) return cursor;
  if (cursor) cursor.clear();
  const [target] = targetsOf(tree);
  cursor = new Cursor(tree, target ? numberOf(target) : 0);
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

// Fold or unfold a node, or open dots; the check draws the tree anew.
export async function foldNode(group, say) {
  const tree = group.closest(".tree");
  const which = boxes().indexOf(tree);
  if (group.matches(".tag, .empty")) return;
  const name = (group.matches(".dots") ? "d" : "") + numberOf(group);
  if (!folds[which].delete(name)) folds[which].add(name);
  const now = scale ?? naturalScale();
  try {
    const { key, system } = article().dataset;
    const toggled = folds.map((names, one) => `&fold${one + 1}=${[...names].join(",")}`).join("");
    const page = new DOMParser().parseFromString(await part(addressOf(key, system) + toggled), "text/html");
    tree.replaceChildren(...page.querySelectorAll("figure .tree")[which].childNodes);
  } catch (error) {
    say(error.message);
    return;
  }
  underline(tree, tree.closest("figure").dataset.asked);
  scale = now;
  resize(boxes(), now);
  cursor = new Cursor(tree, numberOf(group));
  say(cursor.text);
}

// Larger or smaller trees; 0: as large as fits while they stay readable.
export function zoom(factor) {
  scale = factor ? scaled(scale ?? naturalScale(), factor) : fitting(boxes(), room);
  fit();
}

// Whole trees are seen whole; parts of trees shrink as long as they stay readable.
const naturalScale = () => fitting(boxes(), room, article().dataset.whole ? 0.1 : undefined);

// Trees shrink to their boxes; what is larger scrolls, with what matters in the middle.
export function fit() {
  if (!article()) return;
  const trees = boxes();
  const isStacked = measureRoom(trees);
  for (const tree of trees) tree.style.maxHeight = isStacked ? "none" : `${room}px`;
  resize(trees, 1);
  resize(trees, scale ?? naturalScale());
  for (const tree of trees) scrollTo(tree, targetsOf(tree));
  if (isStacked) scrollPageTo(targetsOf(trees.find((tree) => tree.closest(".parse")) ?? trees[0])[0]);
}

// Scroll the page just as far as is needed to see an element.
function scrollPageTo(element) {
  const main = box.closest("main");
  const below = element ? element.getBoundingClientRect().bottom + 12 - main.getBoundingClientRect().bottom : 0;
  if (below > 0) main.scrollTop += below;
}

// Trees side by side end where the window does (with a line for the signs, if there is room), and scroll inside. Trees below each
// other share that room if they can, but are as high as they need, so that a swipe scrolls the page to the other one.
const LEAST_ROOM = 150;
const ROOM_FOR_SIGNS = 36;
let room = LEAST_ROOM;
function measureRoom(trees) {
  const [first, second] = trees.map((tree) => tree.getBoundingClientRect());
  const isStacked = Boolean(second) && first.left === second.left;
  const main = box.closest("main");
  const all = main.getBoundingClientRect().bottom - Math.min(first.top, second?.top ?? first.top) - main.scrollTop - 8;
  const share = isStacked ? all / 2 : all > 2 * LEAST_ROOM ? all - ROOM_FOR_SIGNS : all;
  room = Math.max(LEAST_ROOM, share);
  return isStacked;
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
