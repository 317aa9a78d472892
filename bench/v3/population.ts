import { accountKey, addressBytes } from '#drivers/store/keys.js';
import { Address } from '#formats/address/address.js';
import { sha256 } from '#formats/cells/digests.js';
import type { Templates, TraceTemplate } from './templates.js';

/** Of traces, how many are of a kind. About 3.1 transactions come to a trace. */
const MIX: Readonly<Record<TraceTemplate['kind'], number>> = { transfer: 0.6, jetton: 0.318, nft: 0.08, wide: 0.002 };
/** Accounts for each transaction, about. */
const ACCOUNTS_PER_TRANSACTION = 0.22;
const LEAST_OF_A_KIND = 100;
const encoder = new TextEncoder();

/** Numbers from 0 to 1 that are the same in each run. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Which traces there are. */
export class TraceMix {
  readonly #random: () => number;
  readonly #kinds: readonly (readonly [share: number, templates: readonly TraceTemplate[]])[];
  readonly meanNodes: number;

  constructor({ traces }: Templates, random: () => number) {
    this.#random = random;
    const kinds = Object.entries(MIX) as [TraceTemplate['kind'], number][];
    const present = kinds
      .map(([kind, share]) => [share, traces.filter((trace) => trace.kind === kind)] as const)
      .filter(([, templates]) => templates.length > 0);
    const all = present.reduce((sum, [share]) => sum + share, 0);
    this.#kinds = present.map(([share, templates]) => [share / all, templates]);
    this.meanNodes = this.#kinds.reduce((sum, [share, templates]) => sum + share * mean(templates), 0);
  }

  next(): TraceTemplate {
    let left = this.#random();
    for (const [share, templates] of this.#kinds) {
      left -= share;
      if (left < 0) return templates[Math.floor(this.#random() * templates.length)]!;
    }
    return this.#kinds[0]![1][0]!;
  }

  /** How often a kind of account has a part in a trace, on average. */
  draws(kinds: number): number[] {
    const draws = new Array<number>(kinds).fill(0);
    for (const [share, templates] of this.#kinds) {
      for (const { accounts } of templates) for (const kind of accounts) draws[kind]! += share / templates.length;
    }
    return draws;
  }
}

function mean(templates: readonly TraceTemplate[]): number {
  return templates.reduce((sum, { nodes }) => sum + nodes.length, 0) / templates.length;
}

/** All accounts there are, kind by kind; within a kind the first has most transactions, the n-th an n-th of that. */
export class Population {
  readonly #random: () => number;
  readonly #starts: number[] = [];
  readonly #sizes: number[] = [];
  readonly size: number;
  /** Account ids, 32 bytes each. */
  readonly ids: Uint8Array;
  readonly #keys: BigInt64Array;
  readonly #known: Uint8Array;

  constructor(mix: TraceMix, kinds: number, transactions: number, random: () => number) {
    this.#random = random;
    const draws = mix.draws(kinds);
    const all = draws.reduce((sum, count) => sum + count, 0);
    let size = 0;
    for (const count of draws) {
      const own = Math.max(LEAST_OF_A_KIND, Math.round((transactions * ACCOUNTS_PER_TRANSACTION * count) / all));
      this.#starts.push(size);
      this.#sizes.push(own);
      size += own;
    }
    this.size = size;
    this.ids = new Uint8Array(size * 32);
    this.#keys = new BigInt64Array(size);
    this.#known = new Uint8Array(size);
  }

  /** Distinct accounts for a trace. */
  choose(kinds: readonly number[]): number[] {
    const chosen: number[] = [];
    for (const kind of kinds) {
      const start = this.#starts[kind]!;
      const size = this.#sizes[kind]!;
      let rank = Math.floor(Math.exp(this.#random() * Math.log(size + 1))) - 1;
      while (chosen.includes(start + rank)) rank = (rank + 1) % size;
      chosen.push(start + rank);
      this.#make(start + rank);
    }
    return chosen;
  }

  keyOf(account: number): bigint {
    return this.#keys[account]!;
  }

  kindOf(account: number): number {
    let kind = this.#starts.length - 1;
    while (this.#starts[kind]! > account) kind--;
    return kind;
  }

  address(account: number): Uint8Array {
    this.#make(account);
    return addressBytes(Address.ofParts(0, this.ids.slice(account * 32, account * 32 + 32)));
  }

  #make(account: number): void {
    if (this.#known[account] === 1) return;
    this.#known[account] = 1;
    const id = sha256(encoder.encode(`account ${account}`));
    this.ids.set(id, account * 32);
    this.#keys[account] = accountKey(addressBytes(Address.ofParts(0, id)));
  }
}
