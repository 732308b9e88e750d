// Reads {snippet: [function, ...]} as source text from standard input, runs the check of each snippet on each
// function, and writes {snippet: [whether it has not the fault, ...]}. `parse`, a list of codes, is only compiled.
const checks = {
  async double_submit(wire) {
    let listener, saved = 0;
    globalThis.FormData = class {};
    const release = [];
    wire({ addEventListener: (_, f) => (listener = f) }, () => (saved++, new Promise((done) => release.push(done))));
    const event = { preventDefault() {} };
    const first = [listener(event), listener(event)];
    const during = saved;
    release.forEach((done) => done());
    await Promise.all(first);
    listener(event);
    return during === 1 && saved === 2;
  },
  async timeout_request(load) {
    globalThis.fetch = (url, { signal }) => new Promise((done, fail) => {
      if (url === "good") done({ ok: true, json: async () => 7 });
      if (url === "bad") done({ ok: false, status: 500 });
      signal.addEventListener("abort", () => fail(Object.assign(new Error("x"), { name: "AbortError" })));
    });
    const told = (url) => load(url, 5).catch((error) => error.message);
    const answers = [await told("good"), await told("bad"), await told("slow")];
    return answers[0] === 7 && answers[1].includes("500") && answers[2].includes("too long");
  },
  async number_sort(sorted) {
    return JSON.stringify(sorted([10, 9, 100, 1])) === "[1,9,10,100]";
  },
  async shifted_day(day) {
    // The process runs with the clock of New York.
    return day("2024-03-05") === 5;
  },
  async early_return(load) {
    const waits = { 1: 3, 2: 1 };
    const items = await load([1, 2], (id) => new Promise((done) => setTimeout(() => done(id * 10), waits[id])));
    return JSON.stringify(items) === "[10,20]";
  },
  async request_per_key(watch) {
    let listener;
    const sent = [], input = { addEventListener: (_, f) => (listener = f) };
    watch(input, (value) => sent.push(value), 5);
    for (const value of ["a", "ab", "abc"]) {
      input.value = value;
      listener();
    }
    await new Promise((done) => setTimeout(done, 20));
    return JSON.stringify(sent) === '["abc"]';
  },
};

function fails(code) {
  try {
    new Function(`"use strict"; return async () => {\n${code}\n};`);
    return false;
  } catch {
    return true;
  }
}

async function main() {
  const { parse, run } = JSON.parse(require("fs").readFileSync(0, "utf8"));
  const results = { unparsed: parse.filter(fails), known: Object.keys(checks).sort(), sound: {} };
  for (const [name, sources] of Object.entries(run)) {
    results.sound[name] = [];
    for (const source of sources) results.sound[name].push(await checks[name](new Function(`return ${source}`)()));
  }
  process.stdout.write(JSON.stringify(results));
}

main();
