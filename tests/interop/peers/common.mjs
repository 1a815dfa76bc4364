// What the two programs on the TypeScript SDK share. They run outside the folder of their modules, which
// INTEROP_MODULES names; INTEROP_SCENARIO has the constants of tests/interop/scenario.py.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Readable, Writable } from "node:stream";

const need = createRequire(`${process.env.INTEROP_MODULES}/`);

export const load = async (name) => import(pathToFileURL(need.resolve(name)));
export const acp = await load("@agentclientprotocol/sdk");
export const scenario = JSON.parse(process.env.INTEROP_SCENARIO);
export const asIs = (params) => params;

export function stdioStream(output, input) {
  return acp.ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
}

// A promise and what settles it.
export function signal() {
  let set;
  const wait = new Promise((resolve) => (set = resolve));
  return { wait, set };
}
