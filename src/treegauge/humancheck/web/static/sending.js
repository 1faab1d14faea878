// Talking to the check: parts of the page come, answers go, each sent until it is stored.

import { keepPending } from "./memory.js";

const trouble = document.querySelector("#trouble");
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export function complain(text) {
  trouble.textContent = text;
  trouble.hidden = !text;
}

export const isInTrouble = () => !trouble.hidden;

export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A part of the page as HTML; an error says why there is none.
export async function part(address) {
  let answer;
  try {
    answer = await fetch(address, { headers: { Accept: "application/json" } });
  } catch {
    throw new Error("The check cannot be reached.");
  }
  const text = await answer.text();
  if (!answer.ok) throw new Error(messageOf({ text }));
  return text;
}

// Send until the server has it; null if it refuses. The id in the body makes a second arrival harmless.
export async function send(address, body) {
  keepPending({ address, body });
  for (let wait = 300; ; wait = Math.min(2 * wait, 5000)) {
    const answer = await post(address, body);
    if (answer && answer.status < 500) {
      keepPending(null);
      complain(answer.ok ? "" : refusal(answer));
      return answer.ok ? JSON.parse(answer.text) : null;
    }
    complain(`Not stored yet: ${answer ? cause(answer) : "the check cannot be reached"}. Trying again …`);
    await pause(wait);
  }
}

// The answer to one attempt, or null if there was no connection.
async function post(address, body) {
  try {
    const answer = await fetch(address, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(body),
    });
    return { ok: answer.ok, status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
}

function refusal(answer) {
  if (answer.status === 403) return "This link is not valid any more. Your last answer was not stored.";
  return messageOf(answer);
}

// Why the server could not store an answer: the last part of its message, without the name of the store.
const cause = (answer) => messageOf(answer).split("not stored: ").pop();

function messageOf({ text }) {
  try {
    return String(JSON.parse(text).message ?? "the check reports an error");
  } catch {
    return text;
  }
}
