import { beginCell, type Cell as CoreCell, Dictionary } from '@ton/core';
import { coreCell } from '#test/contract/against-chain/core.js';
import type { AccountView } from '#test/contract/against-chain/expected-account.js';
import type { Subject } from '#test/contract/against-chain/subject.js';

/** A parameter of the configuration at the head. */
export function parameter({ record }: Subject, number: number, seqno = record.head.id.seqno): CoreCell {
  const { config } = record.state(record.facts.masterchain[seqno]!.id).custom!.value.config;
  return coreCell(config.get(number)!);
}

export interface ForwardPrice {
  readonly lump: bigint;
  readonly bit: bigint;
  readonly cell: bigint;
}

/** Of the different cells below the root of a message. */
export function forwardFee({ lump, bit, cell }: ForwardPrice, roots: readonly CoreCell[]): bigint {
  const seen = new Map<string, number>();
  const visit = (one: CoreCell): void => {
    const hash = one.hash().toString('hex');
    if (seen.has(hash)) return;
    seen.set(hash, one.bits.length);
    for (const ref of one.refs) visit(ref);
  };
  for (const root of roots) visit(root);
  const bits = [...seen.values()].reduce((sum, each) => sum + each, 0);
  return lump + roundedUp(bit * BigInt(bits) + cell * BigInt(seen.size));
}

const roundedUp = (value: bigint): bigint => (value + 0xffffn) >> 16n;

/** What an account owes at a time; parameter 18 of all these chains has one set of prices. */
export function storageFee(subject: Subject, { account }: AccountView, now: number, masterchain: boolean): bigint {
  if (account === null || account.storageStats.lastPaid === 0) return 0n;
  const prices = parameter(subject, 18)
    .beginParse()
    .loadDictDirect(Dictionary.Keys.Uint(32), Dictionary.Values.BitString(296));
  if (prices.size !== 1) throw new RangeError('storage had several prices');
  const slice = beginCell().storeBits(prices.values()[0]!).endCell().beginParse();
  slice.skip(8 + 32);
  const [bit, cell, mcBit, mcCell] = [0, 1, 2, 3].map(() => slice.loadUintBig(64)) as [bigint, bigint, bigint, bigint];
  const { used, lastPaid } = account.storageStats;
  const each = masterchain ? used.bits * mcBit + used.cells * mcCell : used.bits * bit + used.cells * cell;
  return roundedUp(each * BigInt(Math.max(0, now - lastPaid)));
}

/** Nanotons for a unit of gas, parameter 20 or 21. */
export function gasPrice(subject: Subject, masterchain: boolean): number {
  const slice = parameter(subject, masterchain ? 20 : 21).beginParse();
  if (slice.preloadUint(8) === 0xd1) slice.skip(8 + 128);
  slice.skip(8);
  return Number(slice.loadUintBig(64)) / 65536;
}
