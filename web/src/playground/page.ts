// The playground: choose or write a scenario, run it here, see it.

import type { Run } from "../view/data";
import { percent, plain, seconds } from "../view/text";
import { type View, mount } from "../view/view";
import { escaped } from "../view/words";
import { Editor, type Problem } from "./editor";
import "./page.css";
import { cancel, ready as engine, run } from "./runner";
import { ready } from "./scenarios";

const part = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const [choice, button, stop, state, about, problems, shown] = [
  part<HTMLSelectElement>("choice"), part<HTMLButtonElement>("run"), part<HTMLButtonElement>("stop"), part("state"),
  part("about"), part("problems"), part("shown"),
];
const editor = new Editor(part("editor"), { run: () => void start(), change: () => (changed = true) });
let changed = false;
let view: View | null = null;

choice.innerHTML = ready.map(({ name, title }) => `<option value="${name}">${escaped(title)}</option>`).join("");

function choose(name: string): void {
  const one = ready.find((scenario) => scenario.name === name) ?? ready[0];
  choice.value = one.name;
  about.innerHTML = escaped(one.about).replace(/`([^`]+)`/g, "<code>$1</code>");
  editor.text = one.text.trimStart();
  changed = false;
}

async function start(): Promise<void> {
  busy(true);
  report([]);
  state.textContent = "starts …";
  const began = performance.now();
  try {
    const done = await run(editor.text, ({ now, until, events, done, flows }) => {
      const most = Math.max(now / until, flows ? done / flows : 0);
      state.textContent = `${seconds(now)} simulated, ${plain(events / 1e6)} million events, ${percent(most)}`;
    });
    if (!done) {
      state.textContent = "cancelled";
      return;
    }
    const answer = JSON.parse(done.json) as Run & { errors?: Problem[] };
    if (answer.errors) {
      report(answer.errors);
      state.textContent = answer.errors.length === 1 ? "an error" : `${answer.errors.length} errors`;
      return;
    }
    view?.destroy();
    view = mount(shown, answer);
    const all = (performance.now() - began) / 1000;
    state.textContent = `ran in ${seconds(done.seconds)}, shown after ${seconds(all)}`;
    last = { json: done.json, engine: done.seconds, shown: all };
  } catch (error) {
    report([{ text: `The engine failed: ${error instanceof Error ? error.message : error}` }]);
    state.textContent = "failed";
  } finally {
    busy(false);
  }
}

function busy(on: boolean): void {
  button.disabled = on;
  stop.hidden = !on;
  document.body.classList.toggle("busy", on);
}

function report(found: Problem[]): void {
  editor.mark(found);
  problems.replaceChildren(
    ...found.map(({ text, line }) => {
      const item = document.createElement(line ? "button" : "p");
      item.textContent = text;
      if (line) item.onclick = () => editor.show(line);
      return item;
    }),
  );
}

choice.onchange = () => {
  if (changed && !confirm("Your changes will be lost.")) {
    choice.value = location.hash.slice(1) || ready[0].name;
    return;
  }
  location.hash = choice.value;
  choose(choice.value);
  void start();
};
addEventListener("hashchange", () => {
  if (location.hash.slice(1) === choice.value) return;
  choose(location.hash.slice(1));
  void start();
});
button.onclick = () => void start();
stop.onclick = cancel;

/** The last run, for tests and the curious: what the engine answered, and how long it took in seconds. */
let last: { json: string; engine: number; shown: number } | null = null;
Object.assign(window, {
  thalweg: {
    run: async (text: string) => (await run(text, () => {}))?.json,
    last: () => last,
    names: ready.map(({ name }) => name),
  },
});

choose(location.hash.slice(1));
void engine().then(start, (error) => {
  state.textContent = "cannot start";
  report([{ text: `This browser cannot run WebAssembly: ${error}` }]);
});
