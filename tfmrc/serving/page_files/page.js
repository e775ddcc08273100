"use strict";

// All text is written with textContent: a request or an answer is never markup.

const SOURCES = ["vocabulary", "question", "passage"];
const SOURCE_NAMES = { vocabulary: "generated", question: "copied from the question", passage: "copied from passage" };
const FIELDS = new Set(["question", "passage", "passages", "style", "answer"]);
const EXAMPLES = [
  { title: "A hill", question: "How high is the hill?", answer: "310 metres",
    passages: ["The hill is 310 metres high.", "Nobody has measured the valley."] },
  { title: "A bridge", question: "Who designed the bridge?", answer: "1932", passages: [
    "The old bridge was designed by Anna Keller and opened in 1932. It carries two tracks.",
    "A ferry crossed the river before the bridge was built."] },
  { title: "No answer", question: "When was the mill sold?", answer: "seven bakers",
    passages: ["The mill stands by the river. It made flour for seven bakers."] },
];

const $ = (id) => document.getElementById(id);
let models = [];
let documents, headings;
let example = EXAMPLES[0];

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value; else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function percent(value) {
  return value >= 0.001 || value === 0 ? `${(100 * value).toFixed(1)} %` : `${(100 * value).toPrecision(2)} %`;
}

function meter(value) {
  const bar = make("span", { className: "meter" });
  bar.setAttribute("aria-hidden", "true");
  bar.style.setProperty("--part", Math.max(0, Math.min(1, value)));
  return bar;
}

// === Requests ===

async function request(path, body) {
  const headers = {};
  if (body) headers["Content-Type"] = "application/json";
  if ($("key").value) headers.Authorization = `Bearer ${$("key").value}`;
  let reply;
  try {
    reply = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body) });
  } catch {
    throw new Error("The server cannot be reached.");
  }
  if (reply.status === 401) $("key-label").hidden = false;
  if (reply.ok) return reply;
  const { error } = await reply.json().catch(() => ({}));
  throw new Error(error || `The server answered ${reply.status}.`);
}

const send = async (path, body) => (await request(path, body)).json();

// === Models and their tasks ===

function modesOf(model) {
  const modes = [];
  const seen = new Set();
  const names = Object.keys(model.signatures).sort((a, b) => (a === "serving_default") - (b === "serving_default"));
  for (const signature of names) {
    const { inputs, outputs } = model.signatures[signature];
    const key = [...inputs].sort().join();
    if (seen.has(key) || !inputs.every((name) => FIELDS.has(name))) continue;
    seen.add(key);
    const has = (name) => inputs.includes(name);
    let title, show;
    if (documents && has("question") && has("passages")) {
      const others = inputs.filter((name) => name !== "passages");
      modes.push({ inputs: others, title: `Ask ${documents}`, show: showDocuments, documents: true });
    }
    if (has("question") && has("passages")) { title = "Answer a question"; show = outputs.includes("starts") ? showSpans : showAnswer; }
    else if (has("answer")) { title = "Ask about an answer"; show = showQuestions; }
    else if (signature === "generate_from_passage") { title = "Find answers and ask"; show = showCandidates; }
    else continue;
    modes.push({ signature, inputs, outputs, title, show, several: has("question") });
  }
  return modes;
}

const model = () => models[$("model").selectedIndex];
const mode = () => modesOf(model())[$("mode").selectedIndex];

function fill(select, texts) {
  select.replaceChildren(...texts.map((text) => make("option", { textContent: text })));
}

function changeModel() {
  fill($("mode"), modesOf(model()).map((each) => each.title));
  fill($("style"), model().styles);
  $("about").textContent = `${model().name}, version ${model().version}` + (model().model ? `, ${model().model}` : "");
  changeMode();
}

function changeMode() {
  const selected = mode();
  $("submit").disabled = !selected;
  $("output").replaceChildren();
  $("status").textContent = "";
  $("error").textContent = selected ? "" : "This page does not support the inputs of this model, such as part-of-speech tags.";
  if (!selected) return;
  const has = (name) => selected.inputs.includes(name);
  $("question-label").hidden = !has("question");
  $("answer-label").hidden = !has("answer");
  $("style-label").hidden = !has("style");
  $("add").hidden = !selected.several;
  $("passages").hidden = $("examples-field").hidden = Boolean(selected.documents);
  if (!selected.documents) return fillExample(example);
  $("question").value = "";
  if (headings.length) write(make("p", { className: "note", textContent: `Ask a whole question. The documents have sections such as ${headings.join(", ")}.` }));
}

function fillExample(chosen) {
  example = chosen;
  $("question").value = chosen.question;
  $("answer").value = chosen.answer;
  $("passages").replaceChildren();
  chosen.passages.slice(0, mode() && mode().several ? undefined : 1).forEach((text) => addPassage(text));
}

function addPassage(text = "") {
  const area = make("textarea", { value: text, dir: "auto", rows: 3 });
  const label = make("label", {}, make("span"), area);
  const remove = make("button", { type: "button", className: "plain", textContent: "Remove" });
  const field = make("div", { className: "passage-field" }, label, remove);
  remove.addEventListener("click", () => { field.remove(); numberPassages(); $("add").focus(); });
  $("passages").append(field);
  numberPassages();
  return area;
}

function numberPassages() {
  const fields = [...$("passages").children];
  fields.forEach((field, index) => {
    field.querySelector("span").textContent = fields.length > 1 ? `Passage ${index + 1}` : "Passage";
    const remove = field.querySelector("button");
    remove.hidden = fields.length < 2;
    remove.setAttribute("aria-label", `Remove passage ${index + 1}`);
  });
}

const passages = () => [...$("passages").querySelectorAll("textarea")].map((area) => area.value);

function inputsOf(selected) {
  const values = { passages: [passages()], passage: [passages()[0]] };
  for (const name of ["question", "style", "answer"]) values[name] = [$(name).value];
  return Object.fromEntries(selected.inputs.map((name) => [name, values[name]]));
}

async function run(event) {
  event.preventDefault();
  const selected = mode();
  if (!selected || $("submit").disabled) return;
  const inputs = inputsOf(selected);
  const asked = { question: $("question").value, passages: passages(), answer: $("answer").value };
  $("error").textContent = "";
  $("output").replaceChildren();
  $("status").textContent = "Running …";
  $("submit").disabled = true;
  const begin = performance.now();
  try {
    if (selected.documents) {
      const [[question], [style]] = [inputs.question, inputs.style || []];
      selected.show(await send("v1/documents:answer", { model: model().name, question, style }));
    } else {
      const path = `v1/models/${encodeURIComponent(model().name)}:predict`;
      const { outputs } = await send(path, { signature_name: selected.signature, inputs });
      // A single output is sent without its name.
      selected.show(Array.isArray(outputs) ? { [selected.outputs[0]]: outputs } : outputs, asked);
    }
    $("status").textContent = `Answered in ${Math.round(performance.now() - begin)} ms.`;
  } catch (error) {
    $("status").textContent = "";
    $("error").textContent = error.message;
  } finally {
    $("submit").disabled = false;
  }
}

// === Results ===

function write(...elements) {
  $("output").append(...elements.filter(Boolean));
}

function facts(pairs) {
  const list = make("dl");
  for (const [name, value] of pairs) {
    if (value === undefined) continue;
    const shown = typeof value === "number" ? [percent(value), meter(value)] : [value];
    list.append(make("dt", { textContent: name }), make("dd", {}, ...shown));
  }
  return list;
}

function notes(outputs) {
  const list = [];
  if (outputs.truncated && outputs.truncated[0]) list.push("The input is longer than the model reads and was truncated.");
  const finished = outputs.finished && [outputs.finished[0]].flat()[0];
  if (finished === false) list.push("The text was truncated at the maximum length.");
  return list.length ? make("p", { className: "note", textContent: list.join(" ") }) : null;
}

// Returns a text with its spans marked. A span is {start, end, id, source} in code points; spans
// may overlap.
function marked(text, spans) {
  const points = Array.from(text);
  const edges = new Set([0, points.length]);
  for (const { start, end } of spans) { edges.add(start); edges.add(end); }
  const sorted = [...edges].filter((edge) => edge >= 0 && edge <= points.length).sort((a, b) => a - b);
  const paragraph = make("p", { className: "text", dir: "auto" });
  for (let index = 0; index + 1 < sorted.length; index++) {
    const [start, end] = [sorted[index], sorted[index + 1]];
    const piece = points.slice(start, end).join("");
    const inside = spans.filter((span) => span.start <= start && end <= span.end);
    if (inside.length) {
      const mark = make("mark", { textContent: piece, className: inside[0].source });
      mark.dataset.ids = ` ${inside.map((span) => span.id).join(" ")} `;
      paragraph.append(mark);
    } else {
      paragraph.append(piece);
    }
  }
  return paragraph;
}

function light(id) {
  for (const mark of document.querySelectorAll("mark")) {
    mark.classList.toggle("lit", id !== null && mark.dataset.ids.includes(` ${id} `));
  }
}

function lights(button, id, show = () => {}) {
  const on = () => { light(id); show(); };
  for (const event of ["pointerenter", "focus", "click"]) button.addEventListener(event, on);
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => light(null));
}

function spanButton(text, id) {
  const button = make("button", { type: "button", dir: "auto", textContent: text });
  lights(button, id);
  return button;
}

function headline(text, outputs) {
  const found = !outputs.is_confident || outputs.is_confident[0];
  const guess = () => `No confident answer. Best guess: ${text} (${outputs.probability[0].toFixed(2)})`;
  const shown = !text ? "No answer in these passages." : found ? text : guess();
  return make("p", { className: "answer", dir: "auto", textContent: shown });
}

function showAnswer(outputs, asked) {
  const relevance = outputs.relevance && outputs.relevance[0];
  if (outputs.answer) write(headline(outputs.answer[0], outputs));
  write(facts([
    ["Probability", outputs.probability && outputs.probability[0]],
  ]), notes(outputs));
  const spans = { question: [], passages: asked.passages.map(() => []) };
  if (outputs.words) {
    const words = make("ul", { className: "words" });
    words.setAttribute("aria-label", "Words of the answer and their sources");
    const detail = make("div", { className: "detail" });
    detail.setAttribute("aria-live", "polite");
    detail.append(make("p", { className: "note", textContent: "Hover over or select a word to see its source." }));
    for (let index = 0; index < outputs.num_words[0]; index++) {
      const word = {
        text: outputs.words[0][index], source: outputs.sources[0][index],
        passage: outputs.word_passages[0][index], start: outputs.word_starts[0][index],
        end: outputs.word_ends[0][index], mixture: outputs.mixture[0][index], written: outputs.source_texts[0][index],
      };
      const span = { start: word.start, end: word.end, id: index, source: word.source };
      if (word.start >= 0) {
        const where = word.source === "question" ? spans.question : spans.passages[word.passage];
        if (where) where.push(span);
      }
      const button = make("button", { type: "button", textContent: word.text, className: word.source });
      button.title = origin(word);
      lights(button, index, () => detail.replaceChildren(...wordDetail(word)));
      words.append(make("li", {}, button));
    }
    const key = make("ul", { className: "key" }, ...SOURCES.map((source) => make("li", { className: source, textContent: source })));
    write(make("h3", { textContent: "Sources of the words" }), key, words, detail);
  }
  write(make("h3", { textContent: "Question" }), marked(asked.question, spans.question));
  asked.passages.forEach((text, index) => {
    write(make("h3", { textContent: `Passage ${index + 1}` }));
    if (relevance && index < relevance.length) write(facts([["Relevance", relevance[index]]]));
    write(marked(text, spans.passages[index]));
  });
  const others = outputs.answers ? outputs.answers[0].slice(1) : [];
  if (others.length) write(make("h3", { textContent: "Other answers" }), texts(others, outputs.probabilities[0].slice(1)));
}

function origin(word) {
  let text = SOURCE_NAMES[word.source];
  if (word.passage >= 0) text += ` ${word.passage + 1}`;
  if (word.start >= 0) text += `, characters ${word.start} to ${word.end}`;
  if (word.written && word.written !== word.text) text += `, written “${word.written}”`;
  return text;
}

function wordDetail(word) {
  const list = make("dl");
  SOURCES.forEach((source, index) => {
    const value = word.mixture[index];
    const shown = make("dd", { className: source }, percent(value), meter(value));
    list.append(make("dt", { textContent: source }), shown);
  });
  return [make("p", { textContent: `“${word.text}”: ${origin(word)}` }), list];
}

function texts(list, chances) {
  const items = list.map((text, index) => make("li", { dir: "auto" }, text || "(empty)", ` (${percent(chances[index])})`));
  return make("ol", { className: "list" }, ...items);
}

// Shows the spans of all passages, best first; none where the passages have no words.
function showSpans(outputs, asked) {
  const spans = outputs.answers[0].map((text, id) => ({
    text, id, passage: outputs.answer_passages[0][id], start: outputs.starts[0][id],
    end: outputs.ends[0][id], chance: outputs.probabilities[0][id], source: "passage",
  })).filter((span) => span.start >= 0);
  const [best] = spans;
  write(headline(best && best.text, outputs));
  write(facts([
    ["Probability", outputs.probability[0]],
    ["Found in", best && `passage ${best.passage + 1}, characters ${best.start} to ${best.end}`],
  ]), notes(outputs));
  const list = make("ol", { className: "list" });
  for (const span of spans) {
    list.append(make("li", {}, spanButton(span.text, span.id), ` ${percent(span.chance)}, passage ${span.passage + 1}`));
  }
  write(make("h3", { textContent: "The best spans" }), list);
  asked.passages.forEach((text, index) => {
    const inside = spans.filter((span) => span.passage === index);
    write(make("h3", { textContent: `Passage ${index + 1}` }), marked(text, inside));
  });
  light(0);
}

function showQuestions(outputs, asked) {
  write(make("p", { className: "answer", dir: "auto", textContent: outputs.question[0] || "(empty)" }));
  write(facts([["Probability", outputs.probabilities[0][0]], ["About", asked.answer]]), notes(outputs));
  const others = outputs.questions[0].slice(1);
  if (others.length) write(make("h3", { textContent: "Other questions" }), texts(others, outputs.probabilities[0].slice(1)));
  const start = outputs.answer_start ? outputs.answer_start[0] : -1;
  const end = start + Array.from(asked.answer).length;
  write(make("h3", { textContent: "Passage" }), marked(asked.passages[0], start < 0 ? [] : [{ start, end, id: 0, source: "passage" }]));
}

function showCandidates(outputs, asked) {
  const spans = [];
  const list = make("ol", { className: "list" });
  outputs.answers[0].forEach((answer, index) => {
    const start = outputs.answer_starts[0][index];
    if (start < 0) return;
    spans.push({ start, end: start + Array.from(answer).length, id: index, source: "passage" });
    const question = make("span", { dir: "auto", textContent: outputs.questions[0][index] || "(empty)" });
    list.append(make("li", {}, spanButton(answer, index), " ", question, ` (${percent(outputs.probabilities[0][index])})`));
  });
  write(make("h3", { textContent: "Questions by answer" }));
  write(spans.length ? list : make("p", { textContent: "No answers to ask about were found." }));
  write(make("h3", { textContent: "Passage" }), marked(asked.passages[0], spans));
}

// Shows the answer with its place in a document, and the other candidates.
function showDocuments(answer) {
  write(make("p", { className: "answer", dir: "auto", textContent: answer.headline }));
  if (!answer.document) return;
  write(make("p", { className: "place", dir: "auto", textContent: answer.place }));
  write(facts([["Probability", answer.probability]]), ...inDocument(answer, true));
  const others = (answer.alternatives || []).filter((other) => other.document);
  if (others.length) write(make("h3", { textContent: "Other candidates" }));
  for (const other of others) {
    const summary = make("summary", { dir: "auto" }, make("b", { textContent: other.text }), ` ${other.place}`);
    write(make("details", {}, summary, facts([["Probability", other.probability]]), ...inDocument(other, false)));
  }
  light(0);
}

function inDocument(answer, isOpen) {
  const [start, end] = [answer.start - answer.passage_start, answer.end - answer.passage_start];
  const text = marked(answer.passage, [{ start, end, id: 0, source: "passage" }]);
  const isPdf = answer.document.toLowerCase().endsWith(".pdf");
  const parts = isPdf ? [pictureOf(answer, isOpen)] : [];
  return [text, ...parts, make("p", {}, linkTo(answer, isPdf ? `#page=${answer.page}` : ""))];
}

// Returns a page of a PDF file that is drawn when it is opened. An image could not send the key.
function pictureOf(answer, isOpen) {
  const title = `Page ${answer.page} of ${answer.document}`;
  const details = make("details", { className: "picture" }, make("summary", { textContent: title }));
  const { document: name, page, start, end } = answer;
  details.addEventListener("toggle", async () => {
    if (!details.open || details.children.length > 1) return;
    const note = make("p", { className: "note", textContent: "Drawing …" });
    details.append(note);
    try {
      const reply = await request(`v1/documents/page?${new URLSearchParams({ name, page, start, end })}`);
      const image = await createImageBitmap(await reply.blob());
      const canvas = make("canvas", { width: image.width, height: image.height });
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", `${title}, with the answer marked`);
      canvas.getContext("2d").drawImage(image, 0, 0);
      note.replaceWith(canvas);
    } catch (error) {
      note.replaceWith(make("p", { className: "error", textContent: error.message }));
    }
  });
  details.open = isOpen;
  return details;
}

// Returns a link to the file. A link sends no key: with one, the file is fetched.
function linkTo(answer, page) {
  const path = `v1/documents/file?${new URLSearchParams({ name: answer.document })}`;
  const textContent = page ? `Open ${answer.document}, page ${answer.page}` : `Save ${answer.document}`;
  const link = make("a", { href: path + page, target: "_blank", rel: "noopener", textContent });
  link.addEventListener("click", async (event) => {
    if (!$("key").value) return;
    event.preventDefault();
    try {
      const url = URL.createObjectURL(await (await request(path)).blob());
      if (page) window.open(url + page);
      else make("a", { href: url, download: answer.document }).click();
    } catch (error) {
      $("error").textContent = error.message;
    }
  });
  return link;
}

// === Start ===

async function start() {
  try {
    ({ models, documents, headings } = await send("v1/models"));
  } catch (error) {
    $("error").textContent = error.message;
    return;
  }
  $("error").textContent = "";
  if (!models.length) {
    $("error").textContent = "No model is available.";
    return;
  }
  if (documents) $("title").textContent = "Ask the documents";
  fill($("model"), models.map((each) => each.name));
  changeModel();
}

for (const each of EXAMPLES) {
  const button = make("button", { type: "button", className: "plain", textContent: each.title });
  button.addEventListener("click", () => fillExample(each));
  $("examples").append(button);
}
$("form").addEventListener("submit", run);
$("form").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) $("form").requestSubmit();
});
$("add").addEventListener("click", () => addPassage().focus());
$("model").addEventListener("change", changeModel);
$("mode").addEventListener("change", changeMode);
$("key").addEventListener("change", () => { if (!models.length) start(); });
start();
