// What is to be seen at each instant.

import { type Link, type Node, type Run, type Series, before, growth, largest, links, nodes, pauses, series } from "./data";

/** The network at an instant; arrays by port. */
export interface Instant {
  time: number;
  /** Of the longest queue of the run; NaN: not sampled. */
  filled: Float64Array;
  /** Of what the link could have carried since the last sample; NaN: not sampled. */
  used: Float64Array;
  paused: boolean[];
  /** Packets since the last sample. */
  dropped: Float64Array;
}

export class Film {
  readonly nodes: Node[];
  readonly links: Link[];
  readonly queues: Series | null;
  readonly carried: Series | null;
  readonly flows: Series | null;
  /** What the slider stops at. */
  readonly times: Float64Array;
  readonly longest: number;
  /** By link: how far it stands aside of others between the same nodes. */
  readonly aside: number[];
  private readonly used = new Map<number, Float64Array>();
  private readonly stops: Map<number, [number, number][]>;

  constructor(readonly run: Run) {
    this.nodes = nodes(run);
    this.links = links(run);
    this.queues = series(run.tables.queues, "port");
    this.carried = series(run.tables.links, "port");
    this.flows = series(run.tables.controllers, "flow");
    this.times = (this.queues ?? this.carried ?? this.flows)?.times ?? new Float64Array();
    this.longest = 0;
    for (const { bytes } of this.queues?.of.values() ?? []) this.longest = Math.max(this.longest, largest(bytes));
    for (const [port, { bytes, capacity }] of this.carried?.of ?? [])
      // A packet counts when all of it has left: between close samples that may be more than fits.
      this.used.set(port, growth(this.carried!.times, bytes, capacity).map((share) => Math.min(share, 1)));
    this.stops = pauses(run);
    const same = new Map<string, number[]>();
    this.links.forEach(({ a, b }, link) => {
      const key = [a, b].sort((x, y) => x - y).join("-");
      same.set(key, [...(same.get(key) ?? []), link]);
    });
    this.aside = this.links.map(() => 0);
    for (const some of same.values()) some.forEach((link, n) => (this.aside[link] = n - (some.length - 1) / 2));
  }

  /** How busy a port was between samples. */
  utilisation(port: number): Float64Array | undefined {
    return this.used.get(port);
  }

  /** Whether a port is paused at an instant. */
  isPaused(port: number, time: number): boolean {
    return (this.stops.get(port) ?? []).some(([began, ended]) => began <= time && time < ended);
  }

  at(time: number): Instant {
    const ports = 2 * this.links.length;
    const [filled, used, dropped] = [0, 1, 2].map(() => new Float64Array(ports).fill(NaN));
    if (this.queues) {
      const n = before(this.queues.times, time);
      for (const [port, { bytes, dropped: lost }] of this.queues.of) {
        if (n < 0) continue;
        filled[port] = this.longest ? bytes[n] / this.longest : 0;
        dropped[port] = lost ? lost[n] - (n > 0 ? lost[n - 1] : 0) : 0;
      }
    }
    if (this.carried) {
      const n = before(this.carried.times, time);
      for (const [port, share] of this.used) if (n >= 0) used[port] = share[n];
    }
    const paused = Array.from({ length: ports }, (_, port) => this.isPaused(port, time));
    return { time, filled, used, paused, dropped };
  }
}
