// A cursor among the nodes of a drawn tree, moved by the arrow keys: up and down, and to the neighbours of a node.

const SVG = "http://www.w3.org/2000/svg";
const numberOf = (element) => Number(element.id.match(/\d+$/)[0]);

// The nodes of a picture in pre-order, each with the node above it: the one that the picture names where branches cross, else the
// nearest one before it that holds all its words.
export function nodesOf(box) {
  const nodes = [];
  for (const group of box.querySelectorAll("svg g.node")) {
    const [start, end] = group.dataset.span.split(" ").map(Number);
    const named = group.dataset.above;
    const isAbove = named === undefined ? (node) => !node.isTag && node.start <= start && end <= node.end : (node) => node.number === Number(named);
    const above = nodes.findLast(isAbove) || null;
    nodes.push({ group, start, end, above, number: numberOf(group), label: group.querySelector("text").firstChild.textContent,
      isTag: group.matches(".tag, .dots"), isFolded: group.matches(".folded, .dots") });
  }
  return nodes;
}

export class Cursor {
  constructor(box, number = 0) {
    this.box = box;
    this.nodes = nodesOf(box);
    this.mirrored = Boolean(box.querySelector("svg .words[direction=rtl]"));
    this.last = null; // the other end of a selection of neighbours
    this.go(this.nodes.find((node) => node.number === number) || this.nodes[0]);
  }

  // The selected nodes: one, or several neighbours.
  get selection() {
    const beside = this.neighbours(this.at);
    const [first, last] = [this.at, this.last || this.at].map((node) => beside.indexOf(node)).sort((a, b) => a - b);
    return beside.slice(first, last + 1);
  }

  neighbours(node) {
    return this.nodes.filter((other) => other.above === node.above);
  }

  go(node) {
    if (!node) return false;
    this.at = node;
    this.last = null;
    this.mark();
    return true;
  }

  // The answer to an arrow key: whether there was a node in that direction.
  move(key, extending = false) {
    if (key === "ArrowUp") return this.go(this.at.above);
    if (key === "ArrowDown") return this.go(this.nodes.find((node) => node.above === this.at));
    const step = (key === "ArrowRight") !== this.mirrored ? 1 : -1;
    const from = extending ? this.last || this.at : this.at;
    const beside = this.neighbours(from);
    const next = beside[beside.indexOf(from) + step];
    if (!next) return false;
    if (!extending) return this.go(next);
    this.last = next;
    this.mark();
    return true;
  }

  mark() {
    for (const old of this.box.querySelectorAll(".cursor")) old.remove();
    for (const { group } of this.selection) {
      const { x, y, width, height } = group.getBBox();
      const ring = document.createElementNS(SVG, "rect");
      for (const [name, value] of Object.entries({ class: "cursor", x: x - 4, y: y - 3, width: width + 8, height: height + 6, rx: 4 })) {
        ring.setAttribute(name, value);
      }
      group.prepend(ring);
    }
    scrollIntoBox(this.box, (this.last || this.at).group);
  }

  clear() {
    for (const old of this.box.querySelectorAll(".cursor")) old.remove();
  }

  // What a screen reader is to read out.
  get text() {
    const drawn = [...this.box.querySelectorAll("svg .words text")].sort((one, other) => numberOf(one) - numberOf(other));
    const words = drawn.map((word) => word.textContent);
    const { start, end } = { start: this.selection[0].start, end: this.selection.at(-1).end };
    const labels = this.selection.map((node) => node.label).join(", ");
    const shown = this.nodes.some((node) => node.isFolded) ? `words ${start + 1} to ${end}` : this.wordsOf(words, start, end);
    return `${labels}: ${shown}${this.at.isFolded ? ", folded" : ""}`;
  }

  // The words below the selected nodes, with a mark for each gap.
  wordsOf(words, start, end) {
    if (!this.nodes.some((node) => node.group.dataset.above)) return words.slice(start, end).join(" ");
    const chosen = new Set(this.selection);
    for (const node of this.nodes) if (chosen.has(node.above)) chosen.add(node);
    const places = [...chosen].filter((node) => node.isTag).map((node) => node.start).sort((a, b) => a - b);
    return places.map((at, index) => (index && at > places[index - 1] + 1 ? "… " : "") + words[at]).join(" ");
  }
}

// Scroll a box, and nothing around it, until an element is well inside it.
function scrollIntoBox(box, element) {
  const outer = box.getBoundingClientRect();
  const inner = element.getBoundingClientRect();
  if (inner.left < outer.left + 20) box.scrollLeft -= outer.left + 60 - inner.left;
  if (inner.right > outer.right - 20) box.scrollLeft += inner.right - outer.right + 60;
  if (inner.top < outer.top + 10) box.scrollTop -= outer.top + 30 - inner.top;
  if (inner.bottom > outer.bottom - 10) box.scrollTop += inner.bottom - outer.bottom + 30;
}
