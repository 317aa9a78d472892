import type { LiteserverStatus, V2Network } from '#api/v2/context.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import type { ReadAt } from '#services/chain/read-context.js';
import type { ContractReads } from '#services/emulation/contract-reads.js';

/** A network whose newest block is one of the past, for methods about accounts and contracts. */
export class PinnedNetwork implements V2Network {
  readonly chain: ChainReads;
  readonly contracts: ContractReads;
  /** The newest block that the chain really has. */
  readonly last: number;
  #seqno: number;

  constructor(chain: ChainReads, contracts: ContractReads, last: number) {
    this.last = last;
    this.#seqno = last;
    this.chain = {
      account: (address, options) => chain.account(address, { ...options, ...this.#at(options) }),
      send: (body, options) => chain.send(body, options),
    } as ChainReads;
    this.contracts = {
      runGetMethod: (address, method, stack, options) =>
        contracts.runGetMethod(address, method, stack, { ...options, ...this.#at(options) }),
      tokenData: (address, options) => contracts.tokenData(address, { ...options, ...this.#at(options) }),
      resolveDns: (resolver, name, depth, options) =>
        contracts.resolveDns(resolver, name, depth, { ...options, ...this.#at(options) }),
      estimateFee: (question, options) => contracts.estimateFee(question, { ...options, ...this.#at(options) }),
      explainRefusal: (message, text, options) =>
        contracts.explainRefusal(message, text, { ...options, ...this.#at(options) }),
    };
  }

  /** What is taken for the newest block; later ones than there are mean the last. */
  set seqno(seqno: number) {
    this.#seqno = Math.min(seqno, this.last);
  }

  servers(): readonly LiteserverStatus[] {
    return [{ name: 'recording', alive: true, archival: true, seqno: this.#seqno }];
  }

  now(): number {
    return 1_800_000_000_000;
  }

  #at({ at = 'head' }: ReadAt = {}): ReadAt {
    return { at: at === 'head' ? this.#seqno : at };
  }
}
