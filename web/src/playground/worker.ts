// Runs scenarios beside the page, which stays alive, and ends this to cancel one.

import { type Progress, run } from "./engine";

export interface Order {
  module: WebAssembly.Module;
  text: string;
}

export type Answer =
  | { kind: "progress"; progress: Progress }
  | { kind: "done"; json: string; seconds: number }
  | { kind: "failed"; why: string };

const answer = (message: Answer) => postMessage(message);

addEventListener("message", ({ data: { module, text } }: MessageEvent<Order>) => {
  const began = performance.now();
  try {
    const json = run(module, text, (progress) => answer({ kind: "progress", progress }));
    answer({ kind: "done", json, seconds: (performance.now() - began) / 1000 });
  } catch (error) {
    answer({ kind: "failed", why: error instanceof Error ? error.message : String(error) });
  }
});
