import { readFileSync } from 'node:fs';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';

/** Contracts whose code comes with the program, by the name of the file. */
export type ContractName =
  | 'wallet-v3r2'
  | 'wallet-v4r2'
  | 'wallet-v5r1'
  | 'highload-wallet-v3'
  | 'config-contract'
  | 'elector-contract';

const loaded = new Map<ContractName, Cell>();

/** The code of a contract of `data/localnet`; read once. */
export function contractCode(name: ContractName): Cell {
  let code = loaded.get(name);
  if (code === undefined) {
    const file = new URL(`../../../data/localnet/${name}.boc`, import.meta.url);
    code = parseBocRoot(new Uint8Array(readFileSync(file)));
    loaded.set(name, code);
  }
  return code;
}
