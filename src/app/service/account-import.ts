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
  readonly #importAccount: ImportAccount;
  readonly #waitForHead: (seqno: number, options: ReadAt) => Promise<unknown>;

  /** @param waitForHead resolves when the head that is read has this seqno */
  constructor(
    contracts: ContractReads,
    importAccount: ImportAccount,
    waitForHead: (seqno: number, options: ReadAt) => Promise<unknown>,
  ) {
    this.#contracts = contracts;
    this.#importAccount = importAccount;
    this.#waitForHead = waitForHead;
  }

  runGetMethod(
    address: Address,
    method: string | number,
    stack: VmStack,
    options: ReadAt = {},
  ): Promise<GetMethodRead> {
    return this.#withImport(address, options, (readOptions) =>
      this.#contracts.runGetMethod(address, method, stack, readOptions),
    );
  }

  tokenData(address: Address, options: ReadAt = {}): Promise<TokenRead> {
    return this.#withImport(address, options, (readOptions) => this.#contracts.tokenData(address, readOptions));
  }

  resolveDns(resolver: Address, name: string, depth: number, options: ReadAt = {}): Promise<DnsRecords> {
    return this.#withImport(resolver, options, (readOptions) =>
      this.#contracts.resolveDns(resolver, name, depth, readOptions),
    );
  }

  estimateFee(request: FeeRequest, options: ReadAt = {}): Promise<FeeEstimate> {
    return this.#withImport(request.address, options, (readOptions) =>
      this.#contracts.estimateFee(request, readOptions),
    );
  }

  explainRefusal(message: Cell, nodeText: string, options: ReadAt = {}): Promise<SendDiagnosis> {
    return this.#withImport(null, options, (readOptions) =>
      this.#contracts.explainRefusal(message, nodeText, readOptions),
    );
  }

  async #withImport<T>(address: Address | null, options: ReadAt, read: (options: ReadAt) => Promise<T>): Promise<T> {
    if ((options.at ?? 'head') !== 'head') return read(options);
    if (address !== null) await this.#importAll([address], options);
    const tried = new Set<string>();
    for (let attempt = 1; ; attempt++) {
      const absent: Address[] = [];
      const outcome = await settled(read({ ...options, onAbsent: (each) => absent.push(each) }));
      const fresh = absent.filter((each) => !tried.has(each.toRaw()));
      for (const each of fresh) tried.add(each.toRaw());
      const imported = fresh.length > 0 && attempt < MAX_RETRIES && (await this.#importAll(fresh, options));
      if (!imported) return outcome();
    }
  }

  /** @returns whether any was imported; waits for a head that contains them */
  async #importAll(addresses: readonly Address[], options: ReadAt): Promise<boolean> {
    const seqnos = await Promise.all(addresses.map((address) => this.#importAccount(address)));
    const since = Math.max(...seqnos.map((seqno) => seqno ?? 0));
    if (since > 0) await this.#waitForHead(since, options);
    return since > 0;
  }
}

/** The result or the original error, which a missing account may have caused. */
async function settled<T>(reading: Promise<T>): Promise<() => T> {
  try {
    const value = await reading;
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
  readonly #pending = new Map<string, Promise<number | null>>();

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
    let pending = this.#pending.get(key);
    if (pending === undefined) {
      pending = this.#touch(key, address).finally(() => this.#pending.delete(key));
      this.#pending.set(key, pending);
    }
    return pending;
  }

  async #touch(key: string, address: Address): Promise<number | null> {
    const mined = await this.#node.touch(address);
    const seqno = mined?.block.seqno ?? null;
    if (this.#known.size >= MAX_KNOWN_ACCOUNTS) this.#known.clear();
    this.#known.set(key, seqno);
    return seqno;
  }
}
