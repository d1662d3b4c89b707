// What is said of a run in words and numbers: its headline, its flows, a port.

import { before, numbers, portName } from "./data";
import type { Film } from "./film";
import { bytes, percent, plain, rate, seconds } from "./text";

export const escaped = (text: unknown) =>
  String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

/** (what, how much, whether it is bad) of the whole run. */
export function headline(film: Film): [string, string, boolean][] {
  const s = film.run.summary;
  const out: [string, string, boolean][] = [["simulated", seconds(s.simulated_seconds ?? NaN, 4), false]];
  const { completed, measured = 0, failed = 0, total = 0 } = s.flows ?? {};
  if (s.endless?.flows) out.push(["flows without end", `${s.endless.flows}: ${rate(s.endless.sum_gbps * 1e9)}`, false]);
  if (measured && total > (s.endless?.flows ?? 0)) {
    const of = total - (s.endless?.flows ?? 0);
    out.push(["flows complete", `${plain(Math.min(completed, of), 5)} of ${plain(of, 5)}`, completed < of]);
  }
  if (s.measured?.fct_us?.count) {
    const { p50, p99 } = s.measured.fct_us;
    out.push(["completion, median", seconds(p50 * 1e-6), false], ["99 % within", seconds(p99 * 1e-6), false]);
  }
  if (failed) out.push(["stuck for ever", plain(failed, 5), true]);
  for (const what of ["drops", "marks", "retransmissions", "timeouts"])
    if (s[what]) out.push([what, plain(s[what], 5), what === "drops" || what === "timeouts"]);
  if (s.pauses?.frames) out.push(["pauses", plain(s.pauses.frames, 5), false]);
  const stuck = (s.pauses?.deadlocks ?? []).filter((one: any) => one.ended_us == null).length;
  if (stuck) out.push(["deadlocks", plain(stuck), true]);
  if (s.bottleneck) {
    const { from, to, utilisation } = s.bottleneck;
    out.push(["busiest link", `${from} → ${to}, ${percent(utilisation)}`, false]);
  }
  return out;
}

/** One port at an instant. */
export function port(film: Film, n: number, time: number): string {
  const { rate_bps = [] } = film.run.tables.ports ?? {};
  const parts = [`${portName(film.run, n)}, ${rate(Number(rate_bps[n]))}`];
  const queue = film.queues?.of.get(n);
  const at = film.queues ? before(film.queues.times, time) : -1;
  if (queue && at >= 0) {
    parts.push(`${bytes(queue.bytes[at])} wait (${plain(queue.packets[at], 5)} packets)`);
    if (queue.dropped[at]) parts.push(`${plain(queue.dropped[at], 5)} dropped so far`);
    if (queue.marked[at]) parts.push(`${plain(queue.marked[at], 5)} marked so far`);
  } else parts.push("queue not sampled");
  const used = film.utilisation(n);
  const then = film.carried ? before(film.carried.times, time) : -1;
  if (used && then > 0) parts.push(`${percent(used[then])} used`);
  if (film.isPaused(n, time)) parts.push("paused");
  return parts.join(" · ");
}

/** Rows of the table of flows. */
const MOST_FLOWS = 200;

/** The flows that took longest for what they are first. */
export function flowTable(film: Film): string {
  const table = film.run.tables.flows;
  if (!table?.id?.length) return "";
  const names = film.nodes.map((node) => node.name);
  const [slow, took, size, start] = ["slowdown", "fct_ps", "size", "start_ps"].map((name) => numbers(table, name));
  const order = table.id.map((_, n) => n).sort((a, b) => (slow[b] || Infinity) - (slow[a] || Infinity) || a - b);
  const cells = (n: number) => [
    table.id[n],
    `${names[Number(table.src[n])]} → ${names[Number(table.dst[n])]}`,
    table.section[n],
    table.controller[n],
    Number.isNaN(size[n]) ? "endless" : bytes(size[n]),
    seconds(start[n] * 1e-12),
    seconds(took[n] * 1e-12),
    Number.isNaN(slow[n]) ? "–" : `${plain(slow[n])} ×`,
    table.throughput_bps[n] == null ? "–" : rate(Number(table.throughput_bps[n])),
    plain(Number(table.retransmissions[n]), 5),
    plain(Number(table.timeouts[n]), 5),
    table.status[n],
  ];
  const head = ["flow", "from → to", "section", "controller", "size", "start", "took", "slowdown", "throughput",
    "sent again", "timeouts", "status"];
  const rows = order.slice(0, MOST_FLOWS).map((n) => `<tr>${cells(n).map((c) => `<td>${escaped(c)}</td>`).join("")}</tr>`);
  const more = order.length > MOST_FLOWS ? `<p class="tw-soft">${plain(order.length - MOST_FLOWS, 6)} more.</p>` : "";
  return `<div class="tw-scroll"><table><thead><tr>${head.map((h) => `<th>${h}</th>`).join("")}</tr></thead>
    <tbody>${rows.join("")}</tbody></table></div>${more}`;
}
