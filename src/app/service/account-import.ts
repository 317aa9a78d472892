import type { DnsRecords } from '#domain/contracts/dns-records.js';
import type { Address } from '#formats/address/address.js';
import type { Cell } from '#formats/cells/cell.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { isTernError } from '#kernel/tern-error.js';
import type { RunningNode } from '#localnet/node/local-node.js';
import type { ReadAt } from '#services/chain/read-context.js';
import type {
  ContractReads,
  FeeEstimate,
  FeeRequest,
  GetMethodRead,
  SendDiagnosis,
  TokenRead,
} from '#services/emulation/contract-reads.js';

/** Imports an account into a fork; see `ChainModules`. */
export type ImportAccount = (address: Address) => Promise<number | null>;

/** Upper bound of retries; real chains of contracts (jetton wallet, master, …) are shorter. */
const MAX_RETRIES = 8;

/**
 * {@link ContractReads} of a fork. A read at the head imports the accounts that it needs: the account itself before the read,
 * and further accounts found missing during the read. Then the read is repeated at a head that contains them.
 */
export class ForkedContractReads implements ContractReads {
  readonly #contracts: ContractReads;
  readonly #bring: ImportAccount;
  readonly #waitForHead: (seqno: number, options: ReadAt) => Promise<unknown>;

  /** @param waitForHead resolves when the head that is read has this seqno */
  constructor(
    contracts: ContractReads,
    bring: ImportAccount,
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

  estimateFee(question: FeeRequest, options: ReadAt = {}): Promise<FeeEstimate> {
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
      const came = fresh.length > 0 && round < MAX_RETRIES && (await this.#await(fresh, options));
      if (!came) return outcome();
    }
  }

  /** @returns whether any was imported; waits for a head that contains them */
  async #await(addresses: readonly Address[], options: ReadAt): Promise<boolean> {
    const seqnos = await Promise.all(addresses.map((address) => this.#bring(address)));
    const since = Math.max(...seqnos.map((seqno) => seqno ?? 0));
    if (since > 0) await this.#waitForHead(since, options);
    return since > 0;
  }
}

/** The result or the original error, which a missing account may have caused. */
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

/** Maximum number of cached accounts. */
const MAX_KNOWN_ACCOUNTS = 65_536;

/**
 * Imports accounts of a fork before their first read. An imported account is not requested again.
 */
export class ForkAccountImporter {
  readonly #node: Pick<RunningNode, 'touch'>;
  /** Masterchain seqno since which an account exists; null when it exists on neither network. */
  readonly #known = new Map<string, number | null>();
  readonly #touching = new Map<string, Promise<number | null>>();

  constructor(node: Pick<RunningNode, 'touch'>) {
    this.#node = node;
  }

  /**
   * @returns masterchain seqno since which the account exists; null when it does not exist
   * @throws fork/unreachable
   */
  async importAccount(address: Address): Promise<number | null> {
    const key = address.toRaw();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    let touching = this.#touching.get(key);
    if (touching === undefined) {
      touching = this.#touch(key, address).finally(() => this.#touching.delete(key));
      this.#touching.set(key, touching);
    }
    return touching;
  }

  async #touch(key: string, address: Address): Promise<number | null> {
    const mined = await this.#node.touch(address);
    const seqno = mined?.block.seqno ?? null;
    if (this.#known.size >= MAX_KNOWN_ACCOUNTS) this.#known.clear();
    this.#known.set(key, seqno);
    return seqno;
  }
}
