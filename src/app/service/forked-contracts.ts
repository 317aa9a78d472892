import type { DnsRecords } from '#domain/contracts/dns-records.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import type { ReadAt } from '#services/chain/read-options.js';
import type {
  Contracts,
  FeeEstimate,
  FeeQuestion,
  GetMethodRead,
  SendDiagnosis,
  TokenRead,
} from '#services/contracts/contracts.js';

/** Brings an account to the network; see `ChainModules`. */
export type BringAccount = (address: Address) => Promise<number | null>;

/** A wallet asks its master, that its collection, that a resolver: chains of contracts end sooner. */
const MOST_ROUNDS = 8;

/**
 * Contracts of a network that does not have all of its accounts from the start. What is asked at the head brings the
 * accounts that it needs: the one that it is about before, and those that turn out to be missing on the way. Then it is
 * asked again, at a head that has them.
 */
export class ForkedContracts implements Contracts {
  readonly #contracts: Contracts;
  readonly #bring: BringAccount;
  readonly #waitForHead: (seqno: number, options: ReadAt) => Promise<unknown>;

  /** @param waitForHead resolves when the head that is read has this seqno */
  constructor(
    contracts: Contracts,
    bring: BringAccount,
    waitForHead: (seqno: number, options: ReadAt) => Promise<unknown>,
  ) {
    this.#contracts = contracts;
    this.#bring = bring;
    this.#waitForHead = waitForHead;
  }

  runGetMethod(
    address: Address,
    method: string | number,
    stack: VmStack,
    options: ReadAt = {},
  ): Promise<GetMethodRead> {
    return this.#ask(address, options, (how) => this.#contracts.runGetMethod(address, method, stack, how));
  }

  tokenData(address: Address, options: ReadAt = {}): Promise<TokenRead> {
    return this.#ask(address, options, (how) => this.#contracts.tokenData(address, how));
  }

  resolveDns(resolver: Address, name: string, depth: number, options: ReadAt = {}): Promise<DnsRecords> {
    return this.#ask(resolver, options, (how) => this.#contracts.resolveDns(resolver, name, depth, how));
  }

  estimateFee(question: FeeQuestion, options: ReadAt = {}): Promise<FeeEstimate> {
    return this.#ask(question.address, options, (how) => this.#contracts.estimateFee(question, how));
  }

  explainRefusal(message: Cell, nodeText: string, options: ReadAt = {}): Promise<SendDiagnosis> {
    return this.#ask(null, options, (how) => this.#contracts.explainRefusal(message, nodeText, how));
  }

  async #ask<T>(address: Address | null, options: ReadAt, ask: (options: ReadAt) => Promise<T>): Promise<T> {
    if ((options.at ?? 'head') !== 'head') return ask(options);
    if (address !== null) await this.#await([address], options);
    const tried = new Set<string>();
    for (let round = 1; ; round++) {
      const absent: Address[] = [];
      const outcome = await settled(ask({ ...options, onAbsent: (each) => absent.push(each) }));
      const fresh = absent.filter((each) => !tried.has(each.toRaw()));
      for (const each of fresh) tried.add(each.toRaw());
      const came = fresh.length > 0 && round < MOST_ROUNDS && (await this.#await(fresh, options));
      if (!came) return outcome();
    }
  }

  /** @returns whether one of them is here, so that a head is awaited that has them */
  async #await(addresses: readonly Address[], options: ReadAt): Promise<boolean> {
    const seqnos = await Promise.all(addresses.map((address) => this.#bring(address)));
    const since = Math.max(...seqnos.map((seqno) => seqno ?? 0));
    if (since > 0) await this.#waitForHead(since, options);
    return since > 0;
  }
}

/** The result, or the error as it was: an account that is missing may be the reason. */
async function settled<T>(asking: Promise<T>): Promise<() => T> {
  try {
    const value = await asking;
    return () => value;
  } catch (error) {
    if (!isTernError(error)) throw error;
    return () => {
      throw error;
    };
  }
}
