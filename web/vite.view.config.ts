// The view alone, one module: what the wheel carries for notebooks and reports (python/thalweg/view/view.js).

import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { defineConfig } from "vite";

const SOURCES = "src/view";

/** Of all that the module is made of: a test compares it, so that what is committed is what the sources say. */
function sources(): string {
  const hash = createHash("sha256");
  const files = readdirSync(SOURCES).sort().map((name) => `${SOURCES}/${name}`);
  for (const file of [...files, "package-lock.json", "vite.view.config.ts"]) {
    hash.update(`${file}\n`);
    hash.update(readFileSync(file));
  }
  return hash.digest("hex");
}

const licence = (name: string): string => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf-8").trim()}`;

const BANNER = `/*! thalweg's view of a run, made by \`make view\` from web/.
sources sha256:${sources()}

${["cytoscape", "uplot"].map(licence).join("\n\n")}
*/`;

export default defineConfig({
  build: {
    outDir: "../python/thalweg/view",
    emptyOutDir: false,
    target: "es2022",
    // No library in Vite's sense: of those it leaves the white space.
    rollupOptions: {
      input: `${SOURCES}/view.ts`,
      preserveEntrySignatures: "strict",
      output: { format: "es", entryFileNames: "view.js", postBanner: BANNER },
    },
    modulePreload: false,
  },
});
