// The page's script: answers by key or button, each sent until it is stored; the next question is fetched while one thinks.
"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const form = $("#answers");
  const status = $("#status");
  const trouble = $("#trouble");
  const box = $("#question") || document.createElement("div");
  const help = $("#help");
  const PENDING = "treegauge-pending " + location.pathname;
  const fetched = new Map();
  let busy = false;
  let shownAt = performance.now();
  let away = 0;
  let leftAt = null;

  const article = () => $("article", box);
  const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  function remembered(name) {
    try { return localStorage.getItem(name) || ""; } catch { return ""; }
  }
  function remember(name, value) {
    try { localStorage.setItem(name, value); } catch { /* a browser that keeps nothing */ }
  }
  function keep(pending) {
    try {
      if (pending) sessionStorage.setItem(PENDING, JSON.stringify(pending));
      else sessionStorage.removeItem(PENDING);
    } catch { /* then a reload loses the retry, and the page asks again */ }
  }

  function say(text) { status.textContent = text; }
  function complain(text) { trouble.textContent = text; trouble.hidden = !text; }

  // Send until the server has it. The id makes a second arrival harmless.
  async function send(address, body) {
    keep({ address, body });
    for (let wait = 300; ; wait = Math.min(2 * wait, 5000)) {
      try {
        const answer = await fetch(address, {
          method: "POST",
          headers: { "Content-Type": "application/json", Accept: "application/json" },
          body: JSON.stringify(body),
        });
        const text = await answer.text();
        if (answer.ok) {
          keep(null);
          complain("");
          return JSON.parse(text);
        }
        if (answer.status < 500) {
          keep(null);
          let message = text;
          try { message = JSON.parse(text).message; } catch { /* not ours: shown as it is */ }
          complain(answer.status === 403 ? "This link is not valid any more. Your last answer was not stored." : message);
          return null;
        }
      } catch { /* no connection */ }
      complain("Not stored yet: the check cannot be reached. Trying again …");
      await pause(wait);
    }
  }

  async function part(address) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.text();
  }

  function questionAddress(key, extra = "") {
    const whole = remembered("treegauge-whole") ? "whole=yes" : "";
    const options = [whole, extra].filter(Boolean).join("&");
    return "question/" + key + (options ? "?" + options : "");
  }

  function prefetch() {
    const key = article() && article().dataset.after;
    if (!key) return;
    const address = questionAddress(key);
    if (!fetched.has(address)) {
      fetched.clear();
      fetched.set(address, part(address).catch(() => null));
    }
  }

  async function show(address) {
    const html = (await fetched.get(address)) || (await part(address));
    fetched.clear();
    box.innerHTML = html;
    arrange();
    prefetch();
  }

  // After a question has come onto the page.
  function arrange() {
    const now = article();
    if (!now) return;
    form.elements.question.value = now.dataset.key;
    shownAt = performance.now();
    away = 0;
    const asked = $(".asked", now);
    const sentence = $(".sentence", now);
    if (asked) sentence.scrollTop = Math.max(0, asked.offsetTop - sentence.offsetTop - 30);
    for (const figure of now.querySelectorAll("figure")) {
      const { prefix, start, end } = figure.dataset;
      for (let word = Number(start); word < Number(end); word += 1) {
        const text = document.getElementById(`${prefix}w${word}`);
        if (text) text.classList.add("asked");
      }
    }
    fit();
    const context = $(".context", now);
    context.open = Boolean(remembered("treegauge-context"));
  }

  // Trees shrink to their boxes as long as they stay readable; what is larger scrolls, with the bracket in the middle.
  function fit() {
    const trees = [...box.querySelectorAll(".tree")].map((tree) => ({ tree, svg: $("svg", tree) }));
    const size = (svg) => svg.getAttribute("viewBox").split(" ").slice(2).map(Number);
    const resize = (svg, scale) => {
      const [width, height] = size(svg);
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
    };
    for (const { svg } of trees) resize(svg, 1);
    const scales = trees.map(({ tree, svg }) => Math.min(1, Math.max(0.7, (tree.clientWidth - 8) / size(svg)[0])));
    trees.forEach(({ svg }, index) => resize(svg, scales[index]));
    for (const { tree } of trees) {
      const focus = $(".focus", tree) || $("text.asked", tree) || $(".crossing", tree);
      if (!focus) continue;
      const outer = tree.getBoundingClientRect();
      const inner = focus.getBoundingClientRect();
      tree.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
      tree.scrollTop += inner.top - outer.top - outer.height / 3;
    }
  }

  function showProgress(progress) {
    $("#bar").value = progress.answered;
    $("#bar").max = progress.total;
    const putOff = progress.skipped ? ` (${progress.skipped} put off)` : "";
    $("#count").textContent = `${progress.answered} of ${progress.total} judged, ${progress.left} left${putOff}`;
  }

  async function refreshMeasures() {
    try { $("#measures").innerHTML = await part("measures"); } catch { /* the next answer tries again */ }
  }

  async function finish(answer, said) {
    if (!answer) return;
    showProgress(answer.progress);
    $("#last").innerHTML = answer.last;
    if (!answer.next) {
      location.assign("./");
      return;
    }
    if (form) {
      form.elements.note.value = "";
      form.elements.correction.checked = false;
    } else {
      location.assign("./?question=" + answer.next);
      return;
    }
    history.replaceState(null, "", "./");
    try {
      await show(questionAddress(answer.next));
    } catch {
      location.assign("./?question=" + answer.next);
      return;
    }
    window.scrollTo(0, 0);
    const heading = $("h1", box).textContent.trim();
    const reason = $(".reason", box);
    say(`${said} ${answer.progress.left} left. ${heading} ${$(".sentence", box).textContent.trim().slice(0, 300)} ${reason ? reason.textContent.trim() : ""}`);
    refreshMeasures();
  }

  async function during(work) {
    if (busy) return;
    busy = true;
    document.body.classList.add("busy");
    try { await work(); } finally {
      busy = false;
      document.body.classList.remove("busy");
    }
  }

  function judge(verdict) {
    return during(async () => {
      const body = {
        id: newId(),
        question: form.elements.question.value,
        verdict,
        note: form.elements.note.value,
        correction: form.elements.correction.checked,
        seconds: (performance.now() - shownAt - away) / 1000,
      };
      await finish(await send("judge", body), `Stored: ${verdict}.`);
    });
  }

  function undo() {
    const last = $("#last form");
    if (!last) {
      say("There is nothing to undo.");
      return undefined;
    }
    return during(async () => finish(await send("undo", { id: newId(), undoes: last.elements.undoes.value }), "Taken back."));
  }

  async function reshow(extra = "") {
    const now = article();
    if (!now) return;
    fetched.clear();
    try { await show(questionAddress(now.dataset.key, extra)); } catch { complain("The check cannot be reached."); }
  }

  function toggleWhole() {
    remember("treegauge-whole", remembered("treegauge-whole") ? "" : "yes");
    reshow().then(() => say(remembered("treegauge-whole") ? "Whole trees." : "Only what is near the bracket."));
  }

  function otherTree() {
    const other = $("a.other", box);
    if (other) reshow("system=" + encodeURIComponent(other.dataset.system)).then(() => say("Parser " + other.dataset.system));
  }

  function toggleContext() {
    const context = $(".context", box);
    if (!context) return;
    context.open = !context.open;
  }

  const KEYS = {
    a: () => judge("accepted"),
    r: () => judge("rejected"),
    u: () => judge("unsure"),
    s: () => judge("skipped"),
    n: () => form.elements.note.focus(),
    e: () => { form.elements.correction.checked = !form.elements.correction.checked; say(form.elements.correction.checked ? "The treebank is wrong here." : "The treebank is not wrong."); },
    w: toggleWhole,
    t: otherTree,
    c: toggleContext,
  };

  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || help.open) return;
    const typing = event.target.matches("textarea, input:not([type=checkbox]), select");
    if (typing) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (event.key === "?") {
      event.preventDefault();
      help.showModal();
      return;
    }
    if (remembered("treegauge-keys-off")) return;
    const key = event.key.toLowerCase();
    if (key === "z") {
      event.preventDefault();
      undo();
    } else if (KEYS[key] && form && article()) {
      event.preventDefault();
      KEYS[key]();
    }
  });

  if (form) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (event.submitter) judge(event.submitter.value);
    });
  }
  $("#last").addEventListener("submit", (event) => { event.preventDefault(); undo(); });
  box.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (link.id === "whole") { event.preventDefault(); toggleWhole(); }
    if (link.classList.contains("other")) { event.preventDefault(); reshow("system=" + encodeURIComponent(link.dataset.system)); }
  });
  box.addEventListener("toggle", (event) => {
    if (event.target.classList.contains("context")) remember("treegauge-context", event.target.open ? "yes" : "");
  }, true);
  $("#help-button").addEventListener("click", () => help.showModal());
  $("#keys-off").checked = Boolean(remembered("treegauge-keys-off"));
  $("#keys-off").addEventListener("change", (event) => remember("treegauge-keys-off", event.target.checked ? "yes" : ""));
  window.addEventListener("resize", fit);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) leftAt = performance.now();
    else if (leftAt !== null) { away += performance.now() - leftAt; leftAt = null; }
  });
  window.addEventListener("beforeunload", (event) => { if (busy && !trouble.hidden) event.preventDefault(); });

  async function start() {
    let pending = null;
    try { pending = JSON.parse(sessionStorage.getItem(PENDING)); } catch { /* nothing that can be read */ }
    if (pending) {
      await during(async () => finish(await send(pending.address, pending.body), "The answer that waited is stored now."));
      return;
    }
    const now = article();
    if (now && Boolean(remembered("treegauge-whole")) !== Boolean(now.dataset.whole) && !location.search) await reshow();
    else { arrange(); prefetch(); }
    if ($("#measures-box") && window.matchMedia("(max-width: 900px)").matches) $("#measures-box").open = false;
  }
  start();
})();
