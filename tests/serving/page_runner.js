// Runs the page's script in Node, on a document that only keeps its texts. Arguments: the script,
// and a JSON file with the `signatures` of a model, the `texts` of the passages, and its `outputs`.
// Prints the request that the page sends, and the texts and marks that it shows.
"use strict";
const fs = require("fs");
const vm = require("vm");

class Element {
  constructor(tag) {
    Object.assign(this, { tag, children: [], listeners: {}, dataset: {}, value: "", textContent: "", className: "", hidden: false, dir: "", type: "", rows: 0, title: "" });
    this.style = { setProperty() {} };
    this.classList = { toggle() {} };
  }
  get selectedIndex() { return 0; }
  setAttribute() {}
  focus() {}
  addEventListener(name, listener) { this.listeners[name] = listener; }
  append(...parts) { this.children.push(...parts); }
  replaceChildren(...parts) { this.children = parts; }
  all(tag) { return this.children.filter((each) => each instanceof Element).flatMap((each) => [...(each.tag === tag ? [each] : []), ...each.all(tag)]); }
  querySelectorAll(tag) { return this.all(tag); }
  querySelector(tag) { return this.all(tag)[0]; }
  get text() { return this.textContent + this.children.map((each) => (each instanceof Element ? each.text : each)).join(""); }
}

const [script, file] = process.argv.slice(2);
const { signatures, texts, outputs } = JSON.parse(fs.readFileSync(file, "utf8"));
const elements = {};
const $ = (id) => (elements[id] ??= new Element(id));
const sent = [];
const models = [{ name: "m", version: 1, styles: [], signatures }];
const reply = (value) => ({ ok: true, status: 200, json: async () => value });
const document = { createElement: (tag) => new Element(tag), getElementById: $, querySelectorAll: () => [] };
async function fetch(path, { body }) {
  if (!body) return reply({ models });
  sent.push(JSON.parse(body));
  return reply({ outputs });
}
const context = vm.createContext({ document, fetch, performance, console });
vm.runInContext(fs.readFileSync(script, "utf8"), context);
setImmediate(async () => {
  context.fillExample({ question: "Who?", answer: "", passages: texts });
  await context.run({ preventDefault() {} });
  const output = $("output");
  console.log(JSON.stringify({
    error: $("error").text, inputs: sent[0] && sent[0].inputs, shown: output.children.map((each) => each.text),
    marks: output.all("mark").map((each) => each.text),
  }));
});
