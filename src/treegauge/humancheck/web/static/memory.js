// What the browser remembers: wishes for ever, drafts and answers until they are stored. A browser may refuse all that.

const HERE = location.pathname;

export function remembered(name) {
  try {
    return localStorage.getItem("treegauge-" + name) || "";
  } catch {
    return "";
  }
}

export function remember(name, value) {
  try {
    if (value) localStorage.setItem("treegauge-" + name, value);
    else localStorage.removeItem("treegauge-" + name);
  } catch { /* then the wish holds until the page is left */ }
}

function parsed(name) {
  try {
    return JSON.parse(remembered(name)) || null;
  } catch {
    return null;
  }
}

// The note, mark, label and reasons of a question that were not sent yet, or null.
const draftName = (key) => `draft ${HERE} ${key}`;
export const savedDraft = (key) => parsed(draftName(key));
export const keepDraft = (key, draft) => remember(draftName(key), draft && JSON.stringify(draft));

// The tree in the editor of a question that was left without being used; empty if there is none.
const treeName = (key) => `tree ${HERE} ${key}`;
export const savedTree = (key) => remembered(treeName(key));
export const keepTree = (key, tree) => remember(treeName(key), tree);

// Answers on their way, one entry each, so that two windows do not overwrite each other's.
const answerName = (id) => `answer ${HERE} ${id}`;
export const keepAnswer = (answer) => remember(answerName(answer.body.id), JSON.stringify(answer));
export const dropAnswer = (answer) => remember(answerName(answer.body.id), "");

export function keptAnswers() {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith("treegauge-" + answerName("")));
    return names.map((name) => parsed(name.slice("treegauge-".length))).filter(Boolean).sort((a, b) => a.at - b.at);
  } catch {
    return [];
  }
}
