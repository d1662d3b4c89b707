// crates/playground as WebAssembly, gzip in base64: vite.config.ts makes it.
declare module "virtual:engine" {
  const packed: string;
  export default packed;
}
