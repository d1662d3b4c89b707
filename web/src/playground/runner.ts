// One run at a time, in a worker.

import packed from "virtual:engine";
import type { Progress } from "./engine";
import type { Answer, Order } from "./worker";
import Runner from "./worker?worker&inline";

/** The engine is in the page itself, compressed: nothing is fetched, so that the page is one file anywhere. */
async function unpacked(): Promise<WebAssembly.Module> {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

let module: Promise<WebAssembly.Module> | null = null;
let worker: Worker | null = null;

/** Compiles the engine, if that has not been done. */
export const ready = () => (module ??= unpacked());

export interface Done {
  json: string;
  /** In the engine. */
  seconds: number;
}

/** Runs a text; an error's message says why the engine failed. `null`: it was cancelled. */
export async function run(text: string, progress: (of: Progress) => void): Promise<Done | null> {
  const order: Order = { module: await ready(), text };
  cancel();
  const mine = (worker = new Runner());
  return new Promise((done, failed) => {
    mine.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (data.kind === "progress") progress(data.progress);
      else if (data.kind === "done") done(data);
      else failed(new Error(data.why));
    };
    mine.onerror = (event) => failed(new Error(event.message));
    cancelled = () => done(null);
    mine.postMessage(order);
  });
}

let cancelled = () => {};

/** Ends the run that is under way, if one is. */
export function cancel(): void {
  worker?.terminate();
  worker = null;
  cancelled();
}
