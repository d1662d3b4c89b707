// Which curves are drawn of a run: the queues, the links, the flows, what was lost, how long flows took.

import { growth, largest, numbers, portName } from "./data";
import type { Film } from "./film";
import { BYTES, RATE, TIME, unit } from "./text";

export interface Line {
  name: string;
  values: ArrayLike<number>;
}

export interface Chart {
  id: string;
  title: string;
  /** "time", or what the other axis is. */
  x: string;
  /** What the numbers of the other axis are divided by. */
  scale?: number;
  xs: number[];
  lines: Line[];
  /** The end of the time axis, seconds. */
  end: number;
  /** Of the largest value: what values are divided by, and the axis' name. */
  y(most: number): [number, string];
  steps?: boolean;
}

/** Curves of one chart. */
const MOST = 6;

const sized = (units: [number, string][], what: string) => (most: number): [number, string] => {
  const [size, name] = unit(most, units);
  return [size, `${what} (${name})`];
};
const counted = (what: string) => (): [number, string] => [1, what];
const share = (what: string) => (): [number, string] => [0.01, `${what} (%)`];

export function charts(film: Film): Chart[] {
  const all = [queues(film), links(film), ...flows(film), losses(film), completions(film)];
  return all.filter((chart): chart is Chart => chart !== null && chart.lines.length > 0);
}

/** What has less of the largest is left out. */
const NEXT_TO_NOTHING = 0.02;

/** The most of some, by a number of theirs. */
function top<T>(some: Iterable<T>, by: (one: T) => number): T[] {
  const ranked = [...some].map((one) => ({ one, rank: by(one) })).sort((a, b) => b.rank - a.rank).slice(0, MOST);
  return ranked.filter(({ rank }) => rank > 0 && rank > NEXT_TO_NOTHING * ranked[0].rank).map(({ one }) => one);
}

const sum = (values: ArrayLike<number>) => {
  let all = 0;
  for (let n = 0; n < values.length; n++) if (Number.isFinite(values[n])) all += values[n];
  return all;
};

function overTime(film: Film, times: Float64Array): Pick<Chart, "x" | "xs" | "end"> {
  return { x: "time", xs: Array.from(times), end: Math.max(film.run.summary.simulated_seconds ?? 0, times.at(-1) ?? 0) };
}

function queues(film: Film): Chart | null {
  if (!film.queues) return null;
  const longest = top(film.queues.of, ([, { bytes }]) => largest(bytes));
  const lines = longest.map(([port, { bytes }]) => ({ name: portName(film.run, port), values: bytes }));
  return { id: "queues", title: "Longest queues", ...overTime(film, film.queues.times), lines, y: sized(BYTES, "waiting") };
}

function links(film: Film): Chart | null {
  if (!film.carried) return null;
  const { times, of } = film.carried;
  const busiest = top(of, ([port]) => sum(film.utilisation(port)!));
  const used = ({ bytes, capacity }: Record<string, Float64Array>) => growth(times, bytes, capacity, few(times)).map((share) => Math.min(share, 1));
  const lines = busiest.map(([port, columns]) => ({ name: portName(film.run, port), values: used(columns) }));
  return { id: "links", title: "Busiest links", ...overTime(film, times), lines, y: share("used") };
}

/** Packets come in bursts: over a few samples there is a rate. */
const few = (times: Float64Array) => Math.ceil(times.length / 80);

/** What a flow is called: by its section of traffic, if that is its alone. */
export function flowName(film: Film, flow: number): string {
  const { section = [], id = [] } = film.run.tables.flows ?? {};
  const row = id.indexOf(flow);
  const mine = section[row];
  return mine && section.filter((one) => one === mine).length === 1 ? String(mine) : `flow ${flow}`;
}

function flows(film: Film): (Chart | null)[] {
  const sampled = film.flows;
  if (!sampled) return [];
  const some = [...sampled.of].slice(0, MOST + 2).map(([flow, columns]) => ({ name: flowName(film, flow), columns }));
  const base = overTime(film, sampled.times);
  const lines = (values: (columns: Record<string, Float64Array>) => ArrayLike<number> | undefined) =>
    some.map(({ name, columns }) => ({ name, values: values(columns) ?? [] })).filter(({ values }) => sum(values) > 0);
  const arrived = lines((c) => c.arrived && growth(sampled.times, c.arrived, undefined, few(sampled.times)).map((bytesPerSecond) => 8 * bytesPerSecond));
  return [
    { id: "rates", title: "Throughput of flows", ...base, lines: arrived, y: sized(RATE, "arrived") },
    { id: "windows", title: "Windows of flows", ...base, lines: lines((c) => c.window), y: sized(BYTES, "window") },
    {
      id: "rtts", title: "Round trips of flows", ...base,
      lines: lines((c) => c.srtt_ps?.map((ps) => ps * 1e-12)), y: sized(TIME, "smoothed"),
    },
  ];
}

function losses(film: Film): Chart | null {
  if (!film.queues) return null;
  const all = (column: string) => {
    const out = new Float64Array(film.queues!.times.length);
    for (const columns of film.queues!.of.values()) columns[column]?.forEach((v, n) => (out[n] += v || 0));
    return out;
  };
  const lines = [
    { name: "dropped", values: all("dropped") },
    { name: "marked", values: all("marked") },
  ].filter(({ values }) => largest(values) > 0);
  return { id: "losses", title: "Packets dropped and marked so far", ...overTime(film, film.queues.times), lines, y: counted("packets") };
}

/** What part of the flows of each section took at most so long. */
function completions(film: Film): Chart | null {
  const table = film.run.tables.flows ?? {};
  const took = numbers(table, "fct_ps").map((ps) => ps * 1e-12);
  const section = (table.section ?? []).map(String);
  const groups = new Map<string, number[]>();
  took.forEach((time, n) => {
    if (!Number.isFinite(time)) return;
    if (!groups.has(section[n])) groups.set(section[n], []);
    groups.get(section[n])!.push(time);
  });
  const some = [...groups].filter(([, times]) => times.length > 1).slice(0, MOST);
  const [size, name] = unit(largest(some.flatMap(([, times]) => times)), TIME);
  const xs = [0, ...new Set(some.flatMap(([, times]) => times))].sort((a, b) => a - b);
  const lines = some.map(([name, times]) => {
    times.sort((a, b) => a - b);
    let done = 0;
    const values = xs.map((x) => {
      while (done < times.length && times[done] <= x) done++;
      return done / times.length;
    });
    return { name, values };
  });
  return {
    id: "completions", title: "How long flows took", x: `completion time (${name})`, scale: size, xs, lines, end: 0,
    y: share("of flows"), steps: true,
  };
}
