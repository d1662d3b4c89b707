// Where nodes stand, in a unit square: hosts around a lone switch; else switches in layers by how far the nearest host
// is; those of the top layer on a circle where they form a mesh or a ring of their own. As `networkplot.py` has it.

import type { Link, Node } from "./data";

export type Place = [number, number];

export function laid(nodes: Node[], links: Link[], wide: boolean): Place[] {
  const near: number[][] = nodes.map(() => []);
  for (const { a, b } of links) {
    near[a].push(b);
    near[b].push(a);
  }
  const level: number[] = nodes.map((node) => (node.kind === "host" ? 0 : -1));
  let front = nodes.map((_, n) => n).filter((n) => level[n] === 0);
  while (front.length) {
    const coming: number[] = [];
    for (const n of front)
      for (const other of near[n])
        if (level[other] < 0) {
          level[other] = level[n] + 1;
          coming.push(other);
        }
    front = coming;
  }
  for (const n of level.keys()) if (level[n] < 0) level[n] = 1;
  const top = Math.max(...level);
  const inner = [...level.keys()].filter((n) => level[n] === top);
  const meshed = inner.reduce((sum, n) => sum + near[n].filter((other) => level[other] === top).length, 0) / 2;
  const lone = top === 1 && inner.length === 1 && nodes.length > 3;
  if (top > 0 && (meshed > 3 || lone)) return square(circle(inner, near, level));
  if (inner.length === 2 && top === 1) return square(facing(inner, near, level));
  const places = square(layers(nodes, near, level, top));
  return wide ? places : places.map(([x, y]) => [y, x]);
}

/** Two switches side by side, each with its hosts behind it. */
function facing(inner: number[], near: number[][], level: number[]): Place[] {
  const places: Place[] = level.map(() => [0, 0]);
  inner.forEach((one, side) => {
    places[one] = [side === 0 ? 1 : 2, 0];
    const hosts = [...new Set(near[one])].filter((n) => level[n] === 0);
    hosts.forEach((host, n) => (places[host] = [side * 3, n - (hosts.length - 1) / 2]));
  });
  return places;
}

function layers(nodes: Node[], near: number[][], level: number[], top: number): Place[] {
  const places: Place[] = nodes.map(() => [NaN, NaN]);
  let right = 0;
  for (const n of level.keys()) {
    if (level[n] !== 1) continue;
    const hosts = [...level.keys()].filter((host) => level[host] === 0 && near[host][0] === n);
    hosts.forEach((host, k) => (places[host] = [right + k, 0]));
    const room = Math.max(hosts.length, 1);
    places[n] = [right + (room - 1) / 2, -1];
    right += room + 0.6;
  }
  for (const n of level.keys()) if (level[n] === 0 && Number.isNaN(places[n][0])) places[n] = [right++, 0];
  const room = Math.max(right - 1.6, 1);
  for (let height = 2; height <= top; height++) {
    const row = [...level.keys()].filter((n) => level[n] === height);
    row.forEach((n, k) => (places[n] = [(room * (k + 0.5)) / row.length, -height]));
  }
  return places;
}

function circle(inner: number[], near: number[][], level: number[]): Place[] {
  const places: Place[] = level.map(() => [NaN, NaN]);
  const turns = inner.map((_, n) => (2 * Math.PI * n) / inner.length);
  const middle = inner.length === 1 ? 0 : 1;
  inner.forEach((n, k) => (places[n] = [middle * Math.sin(turns[k]), -middle * Math.cos(turns[k])]));
  let front = inner.map((n, k) => ({ n, turn: turns[k], room: (2 * Math.PI) / inner.length }));
  for (let radius = middle + 0.5; front.length; radius += 0.5) {
    const coming: typeof front = [];
    for (const { n, turn, room } of front) {
      const outer = [...new Set(near[n])].filter((b) => Number.isNaN(places[b][0]) && level[b] < level[n]);
      outer.forEach((b, k) => {
        const share = inner.length === 1 ? k / outer.length : ((k + 0.5) / outer.length - 0.5) * 0.8;
        const at = turn + room * share;
        places[b] = [radius * Math.sin(at), -radius * Math.cos(at)];
        coming.push({ n: b, turn: at, room: room / outer.length });
      });
    }
    front = coming;
  }
  return places.map(([x, y]) => (Number.isNaN(x) ? [0, middle + 1] : [x, y]));
}

function square(places: Place[]): Place[] {
  const [xs, ys] = [places.map((p) => p[0]), places.map((p) => p[1])];
  const scale = (values: number[], value: number) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return high > low ? (value - low) / (high - low) : 0.5;
  };
  return places.map(([x, y]) => [scale(xs, x), scale(ys, y)]);
}
