// The network, drawn. Each half of a link is the direction that leaves its end: its colour shows how busy it is, the
// bar on it how long the queue is that waits there.

import cytoscape from "cytoscape";
import type { EdgeSingular, NodeSingular } from "cytoscape";
import { type Ground, mixed } from "./colours";
import { type Link, type Node, portName } from "./data";
import type { Instant, Film } from "./film";
import { laid } from "./layout";
import { plain } from "./text";

/** Of larger networks the curves alone are shown. */
export const MOST_LINKS = 800;
/** Of more hosts names are left out. */
const MOST_NAMES = 36;

export interface Drawing {
  show(at: Instant): void;
  paint(ground: Ground): void;
  fit(): void;
  destroy(): void;
}

export function draw(place: HTMLElement, film: Film, on: { look(port: number | null): void }): Drawing {
  const { nodes, links } = film;
  const hosts = nodes.filter((node) => node.kind === "host").length;
  const wide = place.clientWidth >= place.clientHeight;
  const graph = cytoscape({
    container: place,
    elements: elements(nodes, links, film, hosts <= MOST_NAMES),
    autoungrabify: false,
    userZoomingEnabled: false,
    boxSelectionEnabled: false,
    minZoom: 0.1,
    maxZoom: 4,
    pixelRatio: "auto",
  });
  const bars: (EdgeSingular | null)[] = [];
  const tips: NodeSingular[] = [];
  const halves: EdgeSingular[] = [];
  for (let port = 0; port < 2 * links.length; port++) {
    halves.push(graph.$id(`half${port}`) as unknown as EdgeSingular);
    tips.push(graph.$id(`tip${port}`) as unknown as NodeSingular);
    bars.push(graph.$id(`bar${port}`) as unknown as EdgeSingular);
  }
  let last: Instant | null = null;
  let colours: Ground;

  const stand = () => {
    const room = { x: Math.max(place.clientWidth - 70, 50), y: Math.max(place.clientHeight - 60, 50) };
    const places = laid(nodes, links, wide);
    graph.batch(() => places.forEach(([x, y], n) => graph.$id(`n${n}`).position({ x: x * room.x, y: y * room.y })));
    links.forEach((_, link) => join(link));
    graph.fit(graph.nodes(".real"), 26);
  };

  /** Middles follow their ends. Links between the same two nodes stand next to each other. */
  const join = (link: number) => {
    const { a, b } = links[link];
    const [p, q] = [graph.$id(`n${a}`).position(), graph.$id(`n${b}`).position()];
    const long = Math.hypot(q.x - p.x, q.y - p.y) || 1;
    const aside = film.aside[link] * 16;
    const middle = {
      x: (p.x + q.x) / 2 - (aside * (q.y - p.y)) / long,
      y: (p.y + q.y) / 2 + (aside * (q.x - p.x)) / long,
    };
    graph.$id(`mid${link}`).position(middle);
    for (const port of [2 * link, 2 * link + 1]) fill(port, last?.filled[port] ?? 0);
  };

  const fill = (port: number, share: number) => {
    const link = port >> 1;
    const end = graph.$id(`n${port % 2 === 0 ? links[link].a : links[link].b}`).position();
    const middle = graph.$id(`mid${link}`).position();
    const long = Math.hypot(middle.x - end.x, middle.y - end.y) || 1;
    const from = Math.min(14 / long, 0.5);
    const at = from + (1 - from) * share;
    tips[port].position({ x: end.x + (middle.x - end.x) * at, y: end.y + (middle.y - end.y) * at });
  };

  const show = (at: Instant) => {
    last = at;
    graph.batch(() => {
      for (let port = 0; port < halves.length; port++) {
        const [filled, used] = [at.filled[port], at.used[port]];
        const paused = at.paused[port];
        halves[port].style({
          "line-color": paused ? colours.pause : mixed(colours.idle, colours.busy, Number.isNaN(used) ? 0 : used),
          "line-style": paused ? "dashed" : "solid",
          width: 2 + (Number.isNaN(used) ? 0 : 2 * used),
        });
        bars[port]!.style({
          display: filled > 0.004 ? "element" : "none",
          "line-color": mixed(colours.queue, colours.full, filled || 0),
        });
        fill(port, Number.isNaN(filled) ? 0 : filled);
        const lost = at.dropped[port];
        tips[port].style({ label: lost > 0 ? `✕ ${plain(lost)}` : "" });
      }
    });
  };

  const paint = (ground: Ground) => {
    colours = ground;
    graph.style(sheet(ground) as any);
    if (last) show(last);
  };

  graph.on("drag", "node.real", (event) => {
    const n = Number(event.target.id().slice(1));
    links.forEach(({ a, b }, link) => (a === n || b === n) && join(link));
  });
  graph.on("mouseover tap", "edge", (event) => on.look(Number(event.target.data("port"))));
  graph.on("mouseout", "edge", () => on.look(null));
  graph.on("tap", (event) => event.target === graph && on.look(null));
  stand();
  return {
    show,
    paint,
    fit: () => {
      graph.resize();
      stand();
    },
    destroy: () => graph.destroy(),
  };
}

function elements(nodes: Node[], links: Link[], film: Film, named: boolean) {
  const out: cytoscape.ElementDefinition[] = nodes.map((node, n) => ({
    data: { id: `n${n}`, label: node.kind === "switch" || named ? node.name : "" },
    classes: `real ${node.kind}`,
  }));
  links.forEach(({ a, b }, link) => {
    out.push({ data: { id: `mid${link}` }, classes: "point", grabbable: false, selectable: false });
    for (const [port, end] of [[2 * link, a], [2 * link + 1, b]] as const) {
      const label = portName(film.run, port);
      out.push({ data: { id: `tip${port}` }, classes: "point", grabbable: false, selectable: false });
      out.push({ data: { id: `half${port}`, source: `n${end}`, target: `mid${link}`, port, label }, classes: "half" });
      out.push({ data: { id: `bar${port}`, source: `n${end}`, target: `tip${port}`, port }, classes: "bar" });
    }
  });
  return out;
}

function sheet(c: Ground) {
  return [
    {
      selector: "node.real",
      style: {
        width: 13, height: 13, "background-color": c.soft, label: "data(label)", color: c.soft, "font-size": 10,
        "text-valign": "bottom", "text-margin-y": 3, "text-background-color": c.paper,
        "text-background-opacity": 0.8, "text-background-padding": "1px", "z-index": 20,
      },
    },
    {
      selector: "node.switch",
      style: {
        shape: "round-rectangle", width: 22, height: 22, "background-color": c.ink, color: c.ink, "font-size": 11,
        "font-weight": "bold",
      },
    },
    {
      selector: "node.point",
      style: {
        width: 1, height: 1, "background-opacity": 0, events: "no", color: c.drop, "font-size": 11,
        "font-weight": "bold", "text-valign": "center", "text-halign": "right", "text-margin-x": 6, "z-index": 30,
        "text-background-color": c.paper, "text-background-opacity": 0.85, "text-background-padding": "1px",
      },
    },
    { selector: "edge", style: { "curve-style": "straight", "line-cap": "butt" } },
    { selector: "edge.half", style: { width: 2, "line-color": c.idle, "line-dash-pattern": [4, 3] } },
    { selector: "edge.bar", style: { width: 8, "line-color": c.queue, "line-cap": "round", "z-index": 10 } },
    { selector: "node:active, edge:active", style: { "overlay-opacity": 0.08 } },
  ];
}
