import { expectSame } from '../../same-answer.js';
import type { JsonObject } from '../../tonlib-session.js';
import type { Sent } from './stage.js';

/** Compares the names that API v3 has for the opcodes of internal messages in a trace, each once. */
export function expectDecoded({ trace }: Sent, expected: readonly string[]): void {
  const transactions = Object.values(trace.transactions as JsonObject) as readonly JsonObject[];
  const names = transactions
    .map(({ in_msg }) => in_msg as JsonObject)
    .filter(({ source }) => typeof source === 'string')
    .map(({ decoded_opcode }) => decoded_opcode as string | undefined)
    .filter((name) => name !== undefined && name !== null);
  expectSame([...expected].sort(), [...new Set(names)].sort(), 'names of opcodes in API v3');
}
