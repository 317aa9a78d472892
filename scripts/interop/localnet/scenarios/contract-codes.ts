import { readFileSync } from 'node:fs';
import { Cell } from '@ton/core';
import { vectorPath } from '#test/support/vector-files.js';

/** The code of a contract of `vectors/scenarios`. */
export function codeOf(name: string): Cell {
  return Cell.fromBoc(readFileSync(vectorPath(`scenarios/${name}.boc`)))[0]!;
}

/** The code of a contract of `data/localnet`. */
export function localnetCode(name: 'highload-wallet-v3' | 'multisig' | 'multisig-order'): Cell {
  return Cell.fromBoc(readFileSync(new URL(`../../../../data/localnet/${name}.boc`, import.meta.url)))[0]!;
}

/** Code of the highload wallet v3, which @ton/ton does not have. */
export function highloadCode(): Cell {
  return localnetCode('highload-wallet-v3');
}
