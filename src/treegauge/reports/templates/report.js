
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  function make(name, attributes = {}, text = "") {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  }

  const tsv = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()).join("\t")).join("\n");
  async function copy(text, button) {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch { // the page has no right to the clipboard, as when it was fetched without encryption
      const area = make("textarea", { "aria-label": "the table" });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.dataset.says ??= button.textContent;
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = button.dataset.says; }, 1500);
  }
  for (const buttons of document.querySelectorAll(".copies")) {
    buttons.hidden = false;
    const table = buttons.parentElement.querySelector("table");
    buttons.querySelector("[data-form=tsv]").addEventListener("click", (event) => copy(tsv(table), event.currentTarget));
    buttons.querySelector("[data-form=latex]").addEventListener("click", (event) => copy(table.dataset.latex, event.currentTarget));
  }
  // Paper cannot be clicked: a full report is printed with what is behind the lines that open.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = document.body.classList.contains("full") ? [...document.querySelectorAll("details:not([open])")] : [];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => { for (const details of closed) details.open = false; });
  // What scrolls says so by a shadow at the side where there is more.
  const shade = (box) => {
    box.classList.toggle("more-left", box.scrollLeft > 2);
    box.classList.toggle("more-right", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  };
  addEventListener("scroll", (event) => { if (event.target.classList?.contains("scroll")) shade(event.target); }, true);
  const sizes = new ResizeObserver((entries) => { for (const { target } of entries) shade(target); });
  for (const box of document.querySelectorAll(".scroll")) sizes.observe(box);

  function saveSvg(plot) {
    const copy = plot.querySelector("svg").cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("color", "#1d2129");
    const link = make("a", { download: `${plot.dataset.name}.svg` });
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
    link.click();
    URL.revokeObjectURL(link.href);
  }
  // A figure alone on a page of its own size: the browser's print window saves it as PDF, with its fonts.
  function printAlone(plot) {
    const [, , width, height] = plot.querySelector(".wide svg").getAttribute("viewBox").split(" ").map(Number);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`@page { size: ${Math.ceil(width) + 20}px ${Math.ceil(height) + 20}px; margin: 10px; }`);
    document.adoptedStyleSheets = [sheet];
    document.documentElement.classList.add("alone");
    for (let up = plot; up !== document.documentElement; up = up.parentElement) up.classList.add("printed");
    const title = document.title;
    document.title = plot.dataset.name;
    addEventListener("afterprint", () => {
      document.adoptedStyleSheets = [];
      document.documentElement.classList.remove("alone");
      for (const one of document.querySelectorAll(".printed")) one.classList.remove("printed");
      document.title = title;
    }, { once: true });
    print();
  }
  for (const plot of document.querySelectorAll(".plot")) {
    plot.querySelector(".saves").hidden = false;
    plot.querySelector("[data-form=svg]").addEventListener("click", () => saveSvg(plot));
    plot.querySelector("[data-form=pdf]").addEventListener("click", () => printAlone(plot));
  }

  // The rest of the script is about sentences.
  if (!byId("trees")) return;
  const DATA = JSON.parse(document.getElementById("data").textContent);
  const SENTENCES = JSON.parse(document.getElementById("trees").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const PAGE = 20;
  // The largest tree drawn open: what lies deeper, or beyond so many nodes, is folded until it is asked for.
  const DEEPEST = 60, MOST_NODES = 4000, LONGEST_TEXT = 60, LONGEST_ROOF = 30, WORDS_OF_LONG_ROOF = 3;
  const SMALLEST = 0.7; // the least size of a tree at which its text is readable
  const { font: FONT, margin: MARGIN, gap: GAP, level: LEVEL, half: HALF, word: WORD, snap: SNAP, corner: CORNER } = DATA.metrics;
  // So many rows higher a phrase goes to find room for its label, where branches cross.
  const PATIENCE = 4;
  function shape(name, attributes, text = "") {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    return element;
  }

  // Numbers of a sentence that lists are sorted and filtered by.
  const f1 = ([matched, gold, test]) => (gold + test ? 2 * matched / (gold + test) : NaN);
  const wrong = ([matched, gold, test]) => gold + test - 2 * matched;
  SENTENCES.forEach((sentence, rank) => {
    sentence.rank = rank;
    sentence.wrong = sentence.t.map((one) => wrong(one.c));
    sentence.total = sentence.wrong.reduce((a, b) => a + b, 0);
    sentence.fewest = Math.min(...sentence.wrong);
    sentence.text = sentence.g.w.join(" ");
    sentence.lower = sentence.text.toLowerCase();
    const rates = sentence.t.map((one) => f1(one.c)).map((value) => (Number.isNaN(value) ? 1 : value));
    sentence.lowest = Math.min(...rates);
    sentence.apart = Math.max(...rates) - sentence.lowest;
  });
  const bests = (sentence) => sentence.wrong.map((count) => count === sentence.fewest);
  const isShared = (sentence) => sentence.wrong.every((count) => count === sentence.fewest);

  function wrongLabels(sentence) {
    if (!sentence.wrongLabels) {
      sentence.wrongLabels = new Set();
      const add = (labels, codes) => {
        for (let i = 0; i < codes.length; i++) {
          if (codes[i] !== " " && codes[i] !== "=") sentence.wrongLabels.add(DATA.classes[labels[i]]);
        }
      };
      for (const one of sentence.t) {
        add(sentence.g.l, one.g);
        if (one.m) add(one.l, one.m);
      }
    }
    return sentence.wrongLabels;
  }

  // A tree's items in pre-order, as trees.drawing.layout makes them: nodes, words, and roofs over the words of folded nodes.
  function itemsOf(tree, words, folded) {
    const n = tree.l.length;
    const children = Array.from({ length: n }, () => []);
    const start = new Array(n).fill(-1), end = new Array(n).fill(-1), covered = new Array(n).fill(0);
    const parent = [-1, ...tree.p];
    tree.a.forEach((above, position) => {
      for (let node = above; node >= 0; node = parent[node]) {
        if (start[node] < 0) start[node] = position;
        end[node] = position + 1;
        covered[node] += 1;
      }
    });
    for (let node = n - 1; node >= 0; node--) {
      if (start[node] < 0) start[node] = end[node] = tree.e ? tree.e[node] : 0;
      if (node) children[parent[node]].unshift({ at: start[node], node });
    }
    tree.a.forEach((above, position) => children[above].push({ at: position, word: position }));
    // A node with a gap, or with one somewhere below it, is drawn open: no roof can be over it.
    const hasGap = start.map((first, node) => end[node] - first !== covered[node]);
    for (let node = n - 1; node > 0; node--) hasGap[parent[node]] ||= hasGap[node];
    for (const list of children) list.sort((a, b) => a.at - b.at || ("word" in a) - ("word" in b));
    const items = [];
    const stack = [{ node: 0, parent: -1, depth: 0 }];
    while (stack.length) {
      const { node, word, parent: above, depth } = stack.pop();
      if (word !== undefined) {
        items.push({ kind: "word", text: words[word], parent: above, depth, start: word, end: word + 1 });
        continue;
      }
      const inside = children[node];
      const isTag = inside.length === 1 && "word" in inside[0];
      const kind = !inside.length ? "empty" : isTag ? "tag" : folded.has(node) && end[node] > start[node] && !hasGap[node] ? "folded" : "phrase";
      const me = items.length;
      items.push({ kind, node, text: DATA.labels[tree.l[node]], parent: above, depth, start: start[node], end: end[node] });
      if (kind === "folded") {
        const text = roofText(words.slice(start[node], end[node]));
        items.push({ kind: "roof", text, parent: me, depth: depth + 1, start: start[node], end: end[node] });
      } else {
        for (let i = inside.length - 1; i >= 0; i--) stack.push({ ...inside[i], parent: me, depth: depth + 1 });
      }
    }
    return items;
  }

  // The largest subtrees in which nothing is wrong, and what is too deep or too much to draw.
  function settled(tree, codes, foldRight) {
    const parent = [-1, ...tree.p], depth = [0];
    const folded = new Set(), keep = new Set([0]);
    for (let node = 1; node < tree.l.length; node++) depth[node] = depth[parent[node]] + 1;
    const isWrong = (node) => codes.some((marks) => node < marks.length && marks[node] !== " " && marks[node] !== "=");
    for (let node = 0; node < tree.l.length; node++) {
      if (isWrong(node)) for (let up = node; !keep.has(up); up = parent[up]) keep.add(up);
    }
    const atDepth = [];
    depth.forEach((level) => { atDepth[level] = (atDepth[level] || 0) + 1; });
    let deepest = 0;
    for (let drawn = 0; deepest < atDepth.length && deepest <= DEEPEST && drawn + atDepth[deepest] <= MOST_NODES; deepest++) {
      drawn += atDepth[deepest];
    }
    deepest = Math.max(deepest, 2);
    for (let node = 1; node < tree.l.length; node++) {
      if (folded.has(parent[node])) continue;
      if (depth[node] >= deepest || (foldRight && !keep.has(node) && keep.has(parent[node]))) folded.add(node);
    }
    return folded;
  }

  // The estimated width of text in hundredths of the font size, and in columns: the numbers are those of trees.drawing.
  function ems(text) {
    let total = 0;
    for (const character of text) total += DATA.widths[character] ?? DATA.widths["\ufffd"];
    return total;
  }
  function columns(text) {
    let total = 0, joined = false, last = 0;
    for (const character of text) {
      if (character === "\ufe0f") {
        total += last === 1 ? 1 : 0;
        continue;
      }
      last = DATA.columns[character] ?? 1;
      total += joined && last === 2 ? 0 : last;
      joined = character === "\u200d";
    }
    return total;
  }
  const UNDRAWABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]/g;
  function cut(text) {
    const clean = [...text].slice(0, 4 * LONGEST_TEXT).join("").replace(UNDRAWABLE, "\ufffd");
    if (columns(clean) <= LONGEST_TEXT) return clean;
    let kept = "", used = 0;
    for (const character of clean) {
      used += columns(character);
      if (used > LONGEST_TEXT - 1) break;
      kept += character;
    }
    return kept + "…";
  }
  // The words under a roof: all of them if they are few, else the first ones and the last.
  function roofText(words) {
    let room = LONGEST_ROOF;
    for (let count = 0; count < words.length; count++) {
      room -= columns(words[count]) + 1;
      if (room < 0) {
        const first = Math.max(Math.min(count - 1, WORDS_OF_LONG_ROOF), 1);
        return [...words.slice(0, first), "…", words[words.length - 1]].join(" ");
      }
    }
    return words.join(" ");
  }

  // The place of the child nearest to the middle of its parent, if it is near enough.
  function snapped(at, places) {
    if (places.length < 3) return at;
    const nearest = places.reduce((best, place) => (Math.abs(place - at) < Math.abs(best - at) ? place : best));
    return Math.abs(nearest - at) <= SNAP ? nearest : at;
  }

  // Each node above the middle of its children, each subtree in a strip of its own: trees.drawing.layout.place, step by step.
  function place(items, mirrored) {
    const n = items.length;
    const strip = items.map((item) => item.size), middle = items.map((item) => item.size >> 1), offset = new Array(n).fill(0);
    const children = Array.from({ length: n }, () => []);
    items.forEach((item, i) => { if (item.parent >= 0) children[item.parent].push(i); });
    for (let i = n - 1; i >= 0; i--) {
      const below = children[i];
      if (!below.length) continue;
      let total = -GAP;
      for (const child of below) {
        offset[child] = total + GAP;
        total += GAP + strip[child];
      }
      const last = below[below.length - 1];
      const at = snapped((middle[below[0]] + offset[last] + middle[last]) >> 1, below.map((child) => offset[child] + middle[child]));
      const first = Math.min(0, at - (items[i].size >> 1));
      strip[i] = Math.max(total, at - (items[i].size >> 1) + items[i].size) - first;
      middle[i] = at - first;
      if (first) for (const child of below) offset[child] -= first;
    }
    let levels = 0;
    const begin = new Array(n).fill(0);
    items.forEach((item, i) => {
      if (item.parent >= 0) begin[i] = begin[item.parent] + offset[i];
      item.x = begin[i] + middle[i];
      if (["phrase", "folded", "empty"].includes(item.kind)) levels = Math.max(levels, item.depth + 1);
    });
    for (const item of items) {
      item.row = item.kind === "word" || item.kind === "roof" ? levels + 1 : item.kind === "tag" ? levels : item.depth;
    }
    return settle(items, strip[0], levels, mirrored);
  }

  // From columns and rows to pixels.
  function settle(items, total, levels, mirrored) {
    for (const item of items) {
      item.left = item.x - (item.size >> 1);
      if (mirrored) {
        item.left = total - item.left - item.size;
        item.x = total - 1 - item.x;
      }
      item.x += MARGIN;
      item.left += MARGIN;
      item.y = MARGIN + HALF + Math.min(item.row, levels) * LEVEL + (item.row > levels ? WORD : 0);
    }
    const lowest = items.reduce((y, item) => Math.max(y, item.y), 0);
    return { width: total + 2 * MARGIN, height: lowest + HALF + MARGIN };
  }

  function hasCrossings(items) {
    const places = items.filter((item) => item.node === undefined).map((item) => item.start);
    return places.some((at, i) => i > 0 && at < places[i - 1]);
  }

  // Words in their order, each phrase in the lowest row with room for it: trees.drawing.layout.place_crossing, step by step.
  function placeCrossing(items, mirrored) {
    const children = items.map(() => []), level = items.map(() => 0), tried = items.map(() => 0);
    items.forEach((item, i) => { if (item.parent >= 0) children[item.parent].push(i); });
    let left = 0;
    const columns = items.map((_, i) => i).filter((i) => !children[i].length);
    columns.sort((a, b) => items[a].start - items[b].start || items[a].end - items[b].end);
    for (const i of columns) {
      const above = items[i].parent;
      const tag = above >= 0 && items[above].kind === "tag" ? above : i;
      const width = Math.max(items[i].size, items[tag].size);
      items[i].x = items[tag].x = left + (width >> 1);
      left += width + GAP;
    }
    const waiting = new Set(items.map((_, i) => i).filter((i) => ["phrase", "folded"].includes(items[i].kind) && children[i].length));
    const put = (i, row, taken) => {
      const below = children[i].map((child) => items[child].x), half = items[i].size >> 1, rest = items[i].size - half;
      const low = Math.min(...below), high = Math.max(...below), middle = (low + high) >> 1;
      const lines = [...waiting].filter((other) => other !== i)
        .flatMap((other) => children[other].filter((child) => !waiting.has(child)).map((child) => items[child].x));
      const options = [...new Set([middle, ...below])].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle) || a - b);
      const reach = (at) => [Math.min(low, at - half), Math.max(high, at + rest)];
      const free = options.filter((at) => taken.every(([a, b]) => reach(at)[1] + GAP <= a || b <= reach(at)[0] - GAP));
      const near = half + (GAP >> 1);
      const clear = free.filter((at) => !lines.some((line) => at - near <= line && line <= at + near + (items[i].size & 1)));
      tried[i] += 1;
      if (!clear.length && (!free.length || tried[i] <= PATIENCE)) return false;
      items[i].x = (clear.length ? clear : free)[0];
      level[i] = row;
      taken.push(reach(items[i].x));
      return true;
    };
    for (let row = 1; waiting.size; row++) {
      const taken = [];
      const ready = [...waiting].filter((i) => !children[i].some((child) => waiting.has(child)));
      ready.sort((a, b) => items[a].end - items[a].start - items[b].end + items[b].start || items[a].start - items[b].start);
      for (const i of ready.filter((i) => put(i, row, taken))) waiting.delete(i);
    }
    const first = Math.min(...items.map((item) => item.x - (item.size >> 1))), levels = Math.max(...level);
    items.forEach((item, i) => {
      item.x -= first;
      item.row = item.node === undefined ? levels + 1 : levels - level[i];
    });
    return settle(items, Math.max(...items.map((item) => item.x - (item.size >> 1) + item.size)), levels, mirrored);
  }

  function outline(kind, x, y, w) {
    const h = HALF, c = h >> 1;
    return {
      pill: `M${x - w + h} ${y - h}H${x + w - h}a${h} ${h} 0 0 1 0 ${2 * h}H${x - w + h}a${h} ${h} 0 0 1 0 ${-2 * h}z`,
      rectangle: `M${x - w} ${y - h}H${x + w}V${y + h}H${x - w}z`,
      hexagon: `M${x - w + c} ${y - h}H${x + w - c}L${x + w} ${y}L${x + w - c} ${y + h}H${x - w + c}L${x - w} ${y}z`,
      octagon: `M${x - w + c} ${y - h}H${x + w - c}l${c} ${c}v${2 * (h - c)}l${-c} ${c}H${x - w + c}l${-c} ${-c}v${-2 * (h - c)}z`,
      slanted: `M${x - w + c} ${y - h}H${x + w}L${x + w - c} ${y + h}H${x - w}z`,
    }[kind];
  }

  // marks(node) gives [mark, sign behind the label] or null.
  function drawTree(tree, words, folded, marks, title, toggle) {
    const items = itemsOf(tree, words, folded);
    const letters = words.join("");
    const mirrored = (letters.match(/[\u0590-\u08ff\ufb1d-\ufdfd\ufe70-\ufefc]/g) || []).length * 2 > letters.length;
    for (const item of items) {
      item.found = item.node === undefined ? null : marks(item.node);
      const text = cut(item.text);
      item.shown = item.kind === "empty" ? text + "()" : text || (item.node === undefined ? '""' : "•");
      const weight = item.kind !== "tag" && item.node !== undefined ? 108 : 100;
      const behind = item.found ? " " + item.found[1] : "";
      item.size = Math.floor(ems(item.shown + behind) * FONT * weight / 10000) + (item.found ? 2 * FONT : 0);
    }
    const { width, height } = hasCrossings(items) ? placeCrossing(items, mirrored) : place(items, mirrored);
    const svg = shape("svg", { class: "treegauge", role: "group", "aria-label": title, width, height, viewBox: `0 0 ${width} ${height}`,
      "font-size": FONT, "text-anchor": "middle", fill: "currentColor", ...(mirrored ? { "data-mirrored": "yes" } : {}) });
    const lines = shape("g", { fill: "none", stroke: "currentColor", "stroke-width": 1.1, opacity: 0.55 });
    const branches = shape("g", { fill: "none" });
    svg.append(lines, branches);
    for (const item of items) {
      const above = items[item.parent];
      if (item.kind === "phrase") lines.append(shape("path", { d: `M${item.x} ${item.y + HALF}V${item.y + (LEVEL >> 1)}` }));
      if (item.kind === "roof") {
        const left = item.left, right = left + item.size, bottom = item.y - HALF;
        lines.append(shape("path", { d: `M${above.x} ${above.y + HALF}L${right} ${bottom}H${left}z` }));
      }
      if (!above || above.kind !== "phrase") continue;
      const bus = above.y + (LEVEL >> 1), y = item.y - HALF, corner = Math.min(CORNER, Math.abs(item.x - above.x), y - bus);
      const aside = item.x > above.x ? corner : -corner;
      const d = item.x === above.x ? `M${item.x} ${bus}V${y}`
        : `M${above.x} ${bus}H${item.x - aside}q${aside} 0 ${aside} ${corner}V${y}`;
      const mark = item.found && item.found[0];
      const dash = mark && mark.dash ? { "stroke-dasharray": mark.dash } : {};
      if (!mark) lines.append(shape("path", { d }));
      else branches.append(shape("path", { d, class: `branch ${mark.name}`, stroke: mark.colour, "stroke-width": mark.stroke, ...dash }));
    }
    for (const item of items) {
      const baseline = item.y + 5;
      if (item.node === undefined) {
        svg.append(shape("text", { class: "word", x: item.x, y: baseline, "data-start": item.start, "data-end": item.end }, item.shown));
        continue;
      }
      const mark = item.found && item.found[0];
      const group = shape("g", { class: `node ${item.kind}${mark ? " " + mark.name : ""}`, "data-node": item.node, "data-start": item.start, "data-end": item.end });
      const weight = item.kind === "tag" ? { "fill-opacity": 0.75 } : { "font-weight": 600 };
      if (mark) {
        const dash = mark.dash ? { "stroke-dasharray": mark.dash } : {};
        group.append(shape("title", {}, `${item.shown}, words ${item.start + 1} to ${item.end}: ${item.found[2]}`));
        group.append(shape("path", { class: "shape", fill: mark.colour, "fill-opacity": 0.12, stroke: mark.colour,
          "stroke-width": mark.stroke, ...dash, d: outline(mark.shape, item.x, item.y, item.size >> 1) }));
      }
      const label = shape("text", { x: item.x, y: baseline, ...weight }, item.shown);
      if (mark) label.append(shape("tspan", { class: "sign", dx: 5, fill: mark.colour, "font-weight": 600 }, item.found[1]));
      group.append(label);
      if (item.kind === "phrase" || item.kind === "folded") {
        const button = { tabindex: 0, role: "button", "aria-expanded": String(item.kind !== "folded") };
        for (const [name, value] of Object.entries(button)) group.setAttribute(name, value);
        group.addEventListener("click", () => toggle(item.node));
        group.addEventListener("keydown", (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          event.stopPropagation();
          toggle(item.node);
        });
      }
      svg.append(group);
    }
    return svg;
  }

  // The gold tree carries what every system made of each bracket: missed by all, by some (their names behind the sign) or by none.
  function goldMarks(sentence) {
    return (node) => {
      const codes = sentence.t.map((one) => (node < one.g.length ? one.g[node] : " "));
      if (codes.every((code) => code === " ")) return null;
      const bad = codes.map((code, i) => [code, i]).filter(([code]) => code !== "=");
      if (!bad.length) return [DATA.marks["="], DATA.marks["="].symbol, "matched"];
      const mark = DATA.marks[bad.every(([code]) => code === "~") ? "~" : "-"];
      const names = bad.map(([, i]) => DATA.systems[i]);
      const who = bad.length < codes.length ? " " + bad.map(([, i]) => letter(i)).join("") : "";
      return [mark, mark.symbol + who, `${mark.name} by ${names.join(", ")}`];
    };
  }
  const testMarks = (codes) => (node) => {
    const mark = DATA.marks[codes[node]];
    return mark ? [mark, mark.symbol, mark.name] : null;
  };
  const letter = (i) => String.fromCharCode(65 + (i % 26));
  const percent = (value) => (Number.isNaN(value) ? "-" : (100 * value).toFixed(1));
  function sign(i) {
    const copy = document.querySelector(`.cards .s${i % 10} .sign`).cloneNode(true);
    copy.classList.add(`s${i % 10}`);
    return copy;
  }

  function panels(sentence) {
    const list = [{ name: "gold", tree: sentence.g, words: sentence.g.w, codes: sentence.t.map((one) => one.g), marks: goldMarks(sentence) }];
    sentence.t.forEach((one, i) => list.push(one.x !== undefined ? { name: DATA.systems[i], system: i, note: one.x } : {
      name: DATA.systems[i], system: i, tree: one, words: one.w || sentence.g.w, codes: [one.m], marks: testMarks(one.m) }));
    return list;
  }

  function caption(panel, sentence) {
    const element = make("figcaption");
    if (panel.system === undefined) {
      element.append(`gold, ${sentence.p}`);
      return element;
    }
    const [matched, gold, test, crossing] = sentence.t[panel.system].c;
    const mark = letter(panel.system);
    if (DATA.systems.length > 1) element.append(sign(panel.system), panel.name === mark ? " " : ` ${mark}: `);
    element.append(make("bdi", {}, panel.name));
    element.append(`: F1 ${percent(f1([matched, gold, test]))}, ${matched} of ${gold} found, ${test - matched} too many, ${crossing} crossing`);
    const kinds = (sentence.t[panel.system].k || []).map((kind) => DATA.kinds[kind]);
    if (kinds.length) element.append(make("br"), kinds.join(", "));
    return element;
  }

  function drawPanel(panel, sentence) {
    const figure = make("figure");
    figure.append(caption(panel, sentence));
    if (panel.note !== undefined) {
      figure.append(make("p", { class: "note" }, panel.note));
      return figure;
    }
    const holder = make("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": `Tree of ${panel.name}` });
    figure.append(holder);
    let folded = settled(panel.tree, panel.codes, byId("fold").checked);
    const draw = () => holder.replaceChildren(
      drawTree(panel.tree, panel.words, folded, panel.marks, `${panel.name}: ${cut(sentence.text)}`, (node) => {
        folded.has(node) ? folded.delete(node) : folded.add(node);
        draw();
        fit();
        const again = holder.querySelector(`[data-node="${node}"]`);
        again?.focus({ preventScroll: true });
        again?.scrollIntoView({ block: "nearest", inline: "nearest" });
      }));
    // A tree shrinks to its box as long as it stays readable; what is larger scrolls.
    const fit = () => {
      const svg = holder.firstChild, width = svg.viewBox.baseVal.width;
      const scale = Math.min(1, Math.max(SMALLEST, holder.clientWidth / width));
      svg.style.width = scale < 1 ? `${width * scale}px` : "";
      svg.style.height = scale < 1 ? "auto" : "";
      return scale;
    };
    draw();
    // A tree wider than the page is seen from where its sentence begins.
    figure.addEventListener("placed", () => {
      fit();
      holder.scrollLeft = holder.firstChild.dataset.mirrored ? holder.scrollWidth : 0;
      sizes.observe(holder);
    });
    return figure;
  }

  // Pointing at a node lights up its words in all trees over the same words.
  function light(trees, from) {
    for (const word of trees.querySelectorAll(".lit")) word.classList.remove("lit");
    if (!from) return;
    const first = Number(from.dataset.start), last = Number(from.dataset.end);
    for (const word of trees.querySelectorAll(".word")) {
      if (Number(word.dataset.start) < last && Number(word.dataset.end) > first) word.classList.add("lit");
    }
  }

  function open(item, sentence, isOpen) {
    item.classList.toggle("open", isOpen);
    const button = item.querySelector("button");
    button.setAttribute("aria-expanded", String(isOpen));
    item.querySelector(".trees")?.remove();
    if (!isOpen) return;
    const trees = make("div", { class: "trees", id: `trees${sentence.n}` });
    for (const panel of panels(sentence)) trees.append(drawPanel(panel, sentence));
    trees.addEventListener("pointerover", (event) => light(trees, event.target.closest(".node")));
    item.append(trees);
    for (const figure of trees.children) figure.dispatchEvent(new Event("placed"));
  }

  function listItem(sentence) {
    const item = make("li", { class: "item", id: `s${sentence.n}` });
    const button = make("button", { type: "button", "aria-expanded": "false" });
    button.append(make("span", { class: "number" }, `#${sentence.n}`));
    button.append(make("span", { class: "words", dir: "auto" }, sentence.text.slice(0, 2000)));
    const best = bests(sentence);
    sentence.t.forEach((one, i) => {
      const isBest = best[i] && !isShared(sentence);
      const badge = make("span", { class: `badge${isBest ? " best" : ""}`, title: `${DATA.systems[i]}: F1` });
      badge.append(sign(i), `${percent(f1(one.c))}${isBest ? " ▲" : ""}`);
      button.append(badge);
    });
    button.addEventListener("click", () => open(item, sentence, !item.classList.contains("open")));
    item.append(button);
    return item;
  }

  const several = DATA.systems.length > 1;
  const SORTS = {
    ...(several ? { "systems differ most": (a, b) => a.rank - b.rank } : {}),
    "most wrong brackets": (a, b) => b.total - a.total || a.rank - b.rank,
    ...(several ? { "F1 differs most": (a, b) => b.apart - a.apart || a.rank - b.rank } : {}),
    "lowest F1": (a, b) => a.lowest - b.lowest || a.rank - b.rank,
    "shortest": (a, b) => a.g.w.length - b.g.w.length || a.rank - b.rank,
    "longest": (a, b) => b.g.w.length - a.g.w.length || a.rank - b.rank,
    "order of the treebank": (a, b) => a.n - b.n,
  };
  const SHOWS = { "all": () => true };
  if (several) {
    DATA.systems.forEach((name, i) => { SHOWS[`${name} is best`] = (s) => bests(s)[i] && !isShared(s); });
    SHOWS["equally wrong"] = isShared;
  }
  if (SENTENCES.some((s) => s.t.some((one) => one.x !== undefined))) SHOWS["no parse"] = (s) => s.t.some((one) => one.x !== undefined);

  const fill = (id, names) => names.forEach((name) => byId(id).append(make("option", { value: name }, name)));
  fill("sort", Object.keys(SORTS));
  fill("who", Object.keys(SHOWS));
  fill("kind", ["any", ...DATA.kinds]);
  const used = new Map();
  for (const sentence of SENTENCES) for (const label of wrongLabels(sentence)) used.set(label, (used.get(label) || 0) + 1);
  fill("label", ["any", ...[...used].sort((a, b) => b[1] - a[1]).map(([label]) => label)]);

  let found = [], shown = 0;
  function more() {
    for (const sentence of found.slice(shown, shown + PAGE)) byId("list").append(listItem(sentence));
    shown = Math.min(shown + PAGE, found.length);
    byId("more").hidden = shown >= found.length;
    byId("more").textContent = `Show ${Math.min(PAGE, found.length - shown)} more of ${found.length - shown}`;
  }
  function refresh() {
    const query = byId("search").value.trim().toLowerCase();
    const kind = DATA.kinds.indexOf(byId("kind").value), label = byId("label").value;
    const show = SHOWS[byId("who").value];
    found = SENTENCES.filter((s) => show(s)
      && (!query || (query.startsWith("#") ? `#${s.n}` === query : s.lower.includes(query)))
      && (kind < 0 || s.t.some((one) => one.k && one.k.includes(kind)))
      && (label === "any" || wrongLabels(s).has(label)));
    found.sort(SORTS[byId("sort").value]);
    byId("list").replaceChildren();
    byId("count").textContent = `${found.length} of ${SENTENCES.length} sentences`;
    shown = 0;
    more();
  }
  function show(number) {
    if (!SENTENCES.some((s) => s.n === number)) return;
    if (!found.some((s) => s.n === number)) {
      byId("search").value = "";
      for (const id of ["who", "kind", "label"]) byId(id).selectedIndex = 0;
      refresh();
    }
    const index = found.findIndex((s) => s.n === number);
    while (shown <= index) more();
    const item = byId(`s${number}`);
    if (!item.classList.contains("open")) open(item, found[index], true);
    item.scrollIntoView({ block: "start" });
    item.querySelector("button").focus({ preventScroll: true });
  }
  // A short sentence is the first example: the one on which systems differ most is often the longest.
  function openFirst() {
    const first = found.slice(0, PAGE).find((sentence) => sentence.g.w.length <= 20)
      || [...found.slice(0, PAGE)].sort((a, b) => a.g.w.length - b.g.w.length)[0];
    if (first && !byId(`s${first.n}`).classList.contains("open")) open(byId(`s${first.n}`), first, true);
    return first;
  }
  // Links name a sentence (#s12) or the filters of a list of them (#sentences?kind=unary).
  function follow() {
    const match = /^#s(\d+)$/.exec(location.hash);
    if (match) show(Number(match[1]));
    if (!location.hash.startsWith("#sentences?")) return;
    const asked = new URLSearchParams(location.hash.slice("#sentences?".length));
    byId("search").value = "";
    for (const id of ["who", "kind", "label"]) {
      const options = [...byId(id).options].map((option) => option.value);
      byId(id).selectedIndex = Math.max(0, options.indexOf(asked.get(id)));
    }
    refresh();
    const first = openFirst();
    if (first) byId(`s${first.n}`).querySelector("button").focus({ preventScroll: true });
    byId(first ? `s${first.n}` : "sentences").scrollIntoView({ block: "start" });
  }

  function step(by) {
    const buttons = [...document.querySelectorAll(".item > button")];
    const at = buttons.indexOf(document.activeElement.closest?.(".item")?.querySelector("button"));
    if (at + by >= buttons.length && shown < found.length) {
      more();
      return step(by);
    }
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, at < 0 ? 0 : at + by))];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input[type=search], select");
    if (event.key === "Escape" && event.target === byId("search")) {
      byId("search").value = "";
      refresh();
      return;
    }
    if (typing) return;
    const actions = {
      "/": () => byId("search").focus(),
      "j": () => step(1),
      "k": () => step(-1),
      "f": () => byId("fold").click(),
    };
    if (actions[event.key]) {
      event.preventDefault();
      actions[event.key]();
    }
  });
  byId("controls").addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", refresh);
  for (const id of ["sort", "who", "kind", "label"]) byId(id).addEventListener("change", refresh);
  byId("fold").addEventListener("change", () => {
    for (const item of document.querySelectorAll(".item.open")) open(item, SENTENCES.find((s) => `s${s.n}` === item.id), true);
  });
  byId("more").addEventListener("click", more);
  addEventListener("hashchange", follow);
  // A link to where one was before changes no address, but the list may have changed since.
  document.addEventListener("click", (event) => {
    if (event.target.closest?.("a")?.getAttribute("href") === location.hash) follow();
  });
  byId("controls").hidden = byId("keys").hidden = false;
  refresh();
  openFirst();
  follow();
})();
