// The engine: a WebAssembly module that takes a scenario's text and gives what is drawn. The other end of
// crates/playground/src/boundary.rs.

export interface Progress {
  now: number;
  until: number;
  events: number;
  done: number;
  flows: number;
}

interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  run_text(): void;
  answer_at(): number;
  answer_len(): number;
}

/** The engine cannot go on: a bug of its own, or no memory left. */
export class EngineFailed extends Error {}

/** What a run of this text gives, as JSON. A fresh instance each time: no run sees another's memory. */
export function run(module: WebAssembly.Module, text: string, report: (progress: Progress) => void): string {
  let exports: Exports;
  const read = (at: number, length: number) =>
    new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at >>> 0, length >>> 0));
  const page = {
    progress: (now: number, until: number, events: number, done: number, flows: number) =>
      report({ now, until, events, done, flows }),
    failed: (at: number, length: number) => {
      throw new EngineFailed(read(at, length));
    },
  };
  exports = new WebAssembly.Instance(module, { page }).exports as unknown as Exports;
  const bytes = new TextEncoder().encode(text);
  const at = exports.reserve(bytes.length) >>> 0;
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
  try {
    exports.run_text();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError)
      throw new EngineFailed(`${error.message}; perhaps the run needs more memory than a page may have`);
    throw error;
  }
  return read(exports.answer_at(), exports.answer_len());
}
