// A run as the engine and Python hand it over (crates/playground/src/drawn.rs, python/thalweg/animation.py), and the
// series that are made of its tables.

export type Column = (number | string | boolean | null)[];
export type Table = Record<string, Column>;

export interface Run {
  tables: Record<string, Table>;
  summary: Record<string, any>;
  scenario: string;
}

/** What was sampled of several things (ports, flows) at the same instants. Where something was not sampled: NaN. */
export interface Series {
  /** Seconds, rising. */
  times: Float64Array;
  /** By number of the port or flow, by column. */
  of: Map<number, Record<string, Float64Array>>;
}

export interface Link {
  a: number;
  b: number;
}

export interface Node {
  name: string;
  kind: string;
}

const PS = 1e-12;

export const numbers = (table: Table, column: string): number[] =>
  ((table[column] ?? []) as (number | null)[]).map((value) => value ?? NaN);

export function nodes(run: Run): Node[] {
  const { name = [], kind = [] } = run.tables.nodes ?? {};
  return name.map((one, n) => ({ name: String(one), kind: String(kind[n]) }));
}

/** Link l is port 2l from its first node, and 2l + 1 from its second. */
export function links(run: Run): Link[] {
  const from = numbers(run.tables.ports ?? {}, "from");
  return from.filter((_, port) => port % 2 === 0).map((a, l) => ({ a, b: from[2 * l + 1] }));
}

/** What a port is called: by the ends of its link. */
export function portName(run: Run, port: number): string {
  const all = run.tables.nodes?.name ?? [];
  const { from = [], to = [] } = run.tables.ports ?? {};
  return `${all[Number(from[port])]} → ${all[Number(to[port])]}`;
}

/** A table of samples by its instants; `key` is the column of what was sampled. */
export function series(table: Table | undefined, key: string): Series | null {
  if (!table?.time_ps?.length) return null;
  const at = numbers(table, "time_ps");
  const whose = numbers(table, key);
  const instants = [...new Set(at)].sort((x, y) => x - y);
  const place = new Map(instants.map((time, n) => [time, n]));
  const columns = Object.keys(table).filter((name) => name !== "time_ps" && name !== key);
  const of: Series["of"] = new Map();
  for (const one of [...new Set(whose)].sort((x, y) => x - y)) {
    of.set(one, Object.fromEntries(columns.map((name) => [name, new Float64Array(instants.length).fill(NaN)])));
  }
  for (const name of columns) {
    const values = numbers(table, name);
    for (let row = 0; row < at.length; row++) of.get(whose[row])![name][place.get(at[row])!] = values[row];
  }
  return { times: Float64Array.from(instants, (time) => time * PS), of };
}

/** What was added in the last samples, so many, over what was added to `base` meanwhile (a column, or the seconds). */
export function growth(times: Float64Array, values: Float64Array, base = times, samples = 1): Float64Array {
  const out = new Float64Array(values.length).fill(NaN);
  for (let n = 1; n < values.length; n++) {
    let from = Math.max(n - samples, 0);
    while (from < n && Number.isNaN(values[from])) from++;
    if (base[n] > base[from]) out[n] = (values[n] - values[from]) / (base[n] - base[from]);
  }
  return out;
}

/** The last sample that is not later; -1: none. */
export function before(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time + 1e-15) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The pauses of each port, in seconds. One that stands has no end. */
export function pauses(run: Run): Map<number, [number, number][]> {
  const table = run.tables.pauses ?? {};
  const [port, began, ended] = ["port", "began_ps", "ended_ps"].map((name) => numbers(table, name));
  const out = new Map<number, [number, number][]>();
  port.forEach((p, n) => {
    if (!out.has(p)) out.set(p, []);
    out.get(p)!.push([began[n] * PS, Number.isNaN(ended[n]) ? Infinity : ended[n] * PS]);
  });
  return out;
}

export const largest = (values: Iterable<number>): number => {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
};

/** How long the run was, seconds. */
export const duration = (run: Run): number => run.summary.simulated_seconds ?? 0;
