// The playground: one page, one file, with the engine in it. It works from any place, a folder of one's own included.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type Plugin, defineConfig } from "vite";

/** `make playground` names the module that cargo made. */
const ENGINE = process.env.THALWEG_ENGINE;

const engine: Plugin = {
  name: "engine",
  resolveId: (id) => (id === "virtual:engine" ? "\0engine" : undefined),
  load(id) {
    if (id !== "\0engine") return;
    if (!ENGINE) throw new Error("THALWEG_ENGINE names no module: `make playground` does all of it");
    return `export default "${gzipSync(readFileSync(ENGINE), { level: 9 }).toString("base64")}";`;
  },
};

/** Scripts and styles into the page itself. */
const inlined: Plugin = {
  name: "inlined",
  enforce: "post",
  generateBundle(_, bundle) {
    const page = bundle["index.html"];
    if (page?.type !== "asset") return;
    let html = String(page.source);
    for (const [name, one] of Object.entries(bundle)) {
      if (one === page) continue;
      const code = one.type === "chunk" ? one.code.replaceAll("</script", "<\\/script") : String(one.source);
      const tag = new RegExp(
        one.type === "chunk" ? `<script[^>]*src="[^"]*${name}"[^>]*></script>` : `<link[^>]*href="[^"]*${name}"[^>]*>`,
      );
      if (!tag.test(html)) throw new Error(`the page does not name ${name}`);
      html = html.replace(tag, () => (one.type === "chunk" ? `<script type="module">${code}</script>` : `<style>${code}</style>`));
      delete bundle[name];
    }
    page.source = html;
  },
};

export default defineConfig({
  base: "./",
  plugins: [engine, inlined],
  worker: { format: "iife" },
  build: {
    outDir: "dist",
    target: "es2022",
    modulePreload: false,
    chunkSizeWarningLimit: 8000,
    assetsInlineLimit: 0,
    rollupOptions: { output: { codeSplitting: false } },
  },
});
