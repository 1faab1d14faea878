// Drawn trees in their boxes: how large they are, and what of them is in sight.

const READABLE = 0.7;
const sizeOf = (svg) => svg.getAttribute("viewBox").split(" ").slice(2).map(Number);
export const drawings = (boxes) => boxes.map((box) => ({ box, svg: box.querySelector("svg") })).filter(({ svg }) => svg);

// The scale at which every tree fits into the width of its box and so much height; the same for all, and readable unless less is fine.
export function fitting(boxes, room, least = READABLE) {
  const scales = drawings(boxes).map(({ box, svg }) => {
    const [width, height] = sizeOf(svg);
    return Math.min((box.clientWidth - 8) / width, (room - 10) / height);
  });
  return Math.min(1, Math.max(least, ...(scales.length ? [Math.min(...scales)] : [])));
}

export function resize(boxes, scale) {
  for (const { svg } of drawings(boxes)) {
    const [width, height] = sizeOf(svg);
    svg.setAttribute("width", width * scale);
    svg.setAttribute("height", height * scale);
  }
}

export const scaled = (scale, factor) => Math.min(4, Math.max(0.1, scale * factor));

// Scroll a box until elements are in sight, the first of them in any case, near the middle.
export function scrollTo(box, elements) {
  if (!elements.length) return;
  const outer = box.getBoundingClientRect();
  const frames = elements.map((element) => element.getBoundingClientRect());
  for (const [begin, end, size, scroll] of [["left", "right", "width", "scrollLeft"], ["top", "bottom", "height", "scrollTop"]]) {
    const first = Math.min(...frames.map((frame) => frame[begin]));
    const last = Math.max(...frames.map((frame) => frame[end]));
    const fits = last - first < outer[size] - 20;
    box[scroll] += (fits ? (first + last) / 2 : (frames[0][begin] + frames[0][end]) / 2) - (outer[begin] + outer[end]) / 2;
  }
}

// Underline the words of the bracket in question, and nothing else: a roof only if all its words are among them.
export function underline(box, blocks) {
  const spans = blocks.trim().split(/\s+/).filter(Boolean).map((block) => block.split("-").map(Number));
  const roofs = new Map([...box.querySelectorAll("g.folded")].map((group) => group.dataset.span.split(" ").map(Number)));
  for (const word of box.querySelectorAll(".words text")) {
    const at = Number(word.id.match(/\d+$/)[0]);
    const end = roofs.get(at) ?? at + 1;
    word.classList.toggle("asked", spans.some(([first, last]) => first <= at && end <= last));
  }
}
