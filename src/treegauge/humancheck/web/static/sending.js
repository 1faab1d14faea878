// Talking to the check: parts of the page come, answers go one after the other, each until it is stored.

import { dropAnswer, keepAnswer, keptAnswers } from "./memory.js";

const trouble = document.querySelector("#trouble");
const outbox = []; // the answers on their way, in the order in which they were given
let listeners = { stored: () => {}, refused: () => {} };
let isSending = false;
let wake = () => {};

export function complain(text) {
  trouble.textContent = text;
  trouble.hidden = !text;
}

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A part of the page as HTML; an error says why there is none.
export async function part(address, body) {
  const answer = await request(address, body);
  if (!answer) throw new Error("The check cannot be reached.");
  if (!answer.ok) throw new Error(messageOf(answer));
  return answer.text;
}

export const pending = () => [...outbox];

// Begin to send, with the answers that were on their way when the page was left; stored(response) or refused(answer, text) is
// called for each.
export function startSending(whenDone) {
  listeners = whenDone;
  outbox.push(...keptAnswers());
  pump();
}

// Put an answer into the outbox: it survives a reload, and is sent until the server has it or refuses it. Promises its response, or
// null if it is refused.
export function send(address, body, said) {
  const answer = { address, body, said, at: Date.now() };
  keepAnswer(answer);
  return new Promise((done) => {
    outbox.push({ ...answer, done });
    pump();
  });
}

async function pump() {
  if (isSending) return;
  isSending = true;
  for (let wait = 300; outbox.length;) {
    const [answer] = outbox;
    const response = await request(answer.address, answer.body, true);
    if (response && response.status < 500) {
      wait = 300;
      outbox.shift();
      dropAnswer(answer);
      complain("");
      const content = response.ok ? JSON.parse(response.text) : null;
      if (content) listeners.stored(content);
      else listeners.refused(answer, refusal(response));
      answer.done?.(content);
      continue;
    }
    const how = outbox.length > 1 ? `${outbox.length} answers are not stored yet` : "Not stored yet";
    complain(`${how}: ${response ? cause(response) : "the check cannot be reached"}. Trying again …`);
    await pause(wait);
    wait = Math.min(2 * wait, 5000);
  }
  isSending = false;
}

const pause = (milliseconds) => new Promise((done) => {
  wake = done;
  setTimeout(done, milliseconds);
});
window.addEventListener("online", () => wake());

// The response to one attempt, or null if there was no connection. An answer is sent even while the page is left.
async function request(address, body, keepalive = false) {
  try {
    const headers = { Accept: "application/json", ...(body ? { "Content-Type": "application/json" } : {}) };
    const text = body && JSON.stringify(body);
    const answer = await fetch(address, body ? { method: "POST", headers, body: text, keepalive: keepalive && text.length < 60000 } : { headers });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
}

function refusal(response) {
  return response.status === 403 ? "This link is not valid any more. Your last answer was not stored." : messageOf(response);
}

// Why the server could not store an answer: the last part of its message, without the name of the store.
const cause = (response) => messageOf(response).split("not stored: ").pop();

function messageOf({ text }) {
  try {
    return String(JSON.parse(text).message ?? "the check reports an error");
  } catch {
    return text;
  }
}
