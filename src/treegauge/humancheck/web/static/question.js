// The question on the page: fetched, the next one ahead of time; scrolled to the bracket; its trees made to fit.

import { remembered } from "./memory.js";
import { part } from "./sending.js";

const box = document.querySelector("#question");
const ahead = { address: "", html: null };
const READY_AFTER = 250;
let shownAt = performance.now();
let scale = 0;
let away = 0;
let leftAt = null;

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
  setTimeout(() => { now.dataset.ready = "yes"; }, READY_AFTER + 20);
  const sentence = find(".sentence");
  const asked = find(".sentence .asked");
  if (asked) sentence.scrollTop = Math.max(0, asked.offsetTop - sentence.offsetTop - 30);
  for (const figure of now.querySelectorAll("figure")) markWords(figure.dataset);
  fit();
  find(".context").open = Boolean(remembered("context"));
  fetchAhead(now.dataset.after);
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

// Larger or smaller trees; 0: as large as fits.
export function zoom(factor) {
  scale = factor ? Math.min(4, Math.max(0.3, (scale || fitting()) * factor)) : 0;
  fit();
}

const fitting = () => Math.min(1, ...[...box.querySelectorAll(".tree")].map((tree) =>
  Math.max(0.7, (tree.clientWidth - 8) / sizeOf(tree.querySelector("svg"))[0])));

// Trees shrink to their boxes as long as they stay readable; what is larger scrolls, with the bracket in the middle.
export function fit() {
  if (!box) return;
  const trees = [...box.querySelectorAll(".tree")].map((tree) => ({ tree, svg: tree.querySelector("svg") }));
  for (const { svg } of trees) resize(svg, 1);
  const scales = trees.map(({ tree, svg }) => scale || Math.min(1, Math.max(0.7, (tree.clientWidth - 8) / sizeOf(svg)[0])));
  trees.forEach(({ svg }, index) => resize(svg, scales[index]));
  for (const { tree } of trees) scrollToBracket(tree);
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
