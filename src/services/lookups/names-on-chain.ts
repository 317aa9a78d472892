import { type ContractView, nullOnContractError } from '#domain/contracts/contract-view.js';
import type { DnsRoot } from '#domain/contracts/dns-domain.js';
import { getWalletAddress } from '#domain/contracts/interfaces/jetton-master.js';
import { getNftAddressByIndex } from '#domain/contracts/interfaces/nft-collection.js';
import { Address } from '#formats/address/address.js';
import { openCell } from '#formats/cells/slice.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { LruByBytes } from '#kernel/lru-by-bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { ChainReads } from '#services/chain/chain-reads.js';
import { dnsResolvers } from '#services/emulation/contract-data.js';
import type { ContractViews } from '#services/emulation/contract-reads.js';

export interface NamesOnChainModules {
  readonly chain: Pick<ChainReads, 'configParams'>;
  readonly contracts: ContractViews;
}

/** Block, deadline and signal of a read. */
export interface NameLimits {
  readonly at: BlockId;
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  /** A get-method is run. */
  readonly onRun: () => void;
}

interface KnownName {
  readonly addresses: readonly Address[];
  readonly seqno: number;
}

/** Names whose addresses are remembered, and for how many masterchain blocks: contracts may be changed. */
const NAMES_BYTES = 4 * 2 ** 20;
const NAME_BYTES = 400;
const NAME_MC_BLOCKS = 256;

/** Configuration parameter with the account id of the root resolver, in the masterchain. */
const DNS_ROOT_PARAM = 4;

/** The addresses of contracts that are named by others: read by get-methods on proven states. */
export class NamesOnChain {
  readonly #dnsRoots: readonly DnsRoot[];
  readonly #modules: NamesOnChainModules;
  readonly #known = new LruByBytes<KnownName>(NAMES_BYTES);

  constructor(dnsRoots: readonly DnsRoot[], modules: NamesOnChainModules) {
    this.#dnsRoots = dnsRoots;
    this.#modules = modules;
  }

  /** The wallet of an owner, by the master, and the master; the master alone where it is none. */
  jettonWallet(jetton: Address, owner: Address, limits: NameLimits): Promise<readonly Address[]> {
    return this.#name(`jetton ${jetton.toRaw()} ${owner.toRaw()}`, limits, async () => {
      const view = this.#view(limits);
      const wallet = await nullOnContractError(async () =>
        view.runGetMethod(await view.contract(jetton), getWalletAddress, owner),
      );
      return wallet === null ? [jetton] : [jetton, wallet];
    });
  }

  /** The item of a collection with an index, and the collection. */
  nftItem(collection: Address, index: bigint, limits: NameLimits): Promise<readonly Address[]> {
    return this.#name(`item ${collection.toRaw()} ${index}`, limits, async () => {
      const view = this.#view(limits);
      const item = await nullOnContractError(async () =>
        view.runGetMethod(await view.contract(collection), getNftAddressByIndex, index),
      );
      return item === null ? [collection] : [collection, item];
    });
  }

  /** The contracts that resolve a domain, from the root resolver of the chain and from the collection of its zone; label by label. */
  domain(name: string, limits: NameLimits): Promise<readonly Address[]> {
    return this.#name(`domain ${name}`, limits, async () => {
      const view = this.#view(limits);
      const begins = this.#dnsRoots
        .filter(({ zone }) => name.toLowerCase().endsWith(`.${zone}`))
        .map(({ zone, collection }) => ({ resolver: collection, rest: name.slice(0, -zone.length - 1) }));
      const root = await this.#dnsRoot(limits);
      if (root !== null) begins.push({ resolver: root, rest: name });
      try {
        const found = await Promise.all(begins.map(({ resolver, rest }) => dnsResolvers(resolver, rest, view)));
        return found.flat();
      } catch (error) {
        // There is no domain of that name.
        if (isTernError(error, 'contract-data/domain-name')) return [];
        throw error;
      }
    });
  }

  #view(limits: NameLimits): ContractView {
    const view = this.#modules.contracts.contractsAt(limits);
    return {
      contract: (address) => view.contract(address),
      runGetMethod: (contract, method, ...given) => {
        limits.onRun();
        return view.runGetMethod(contract, method, ...given);
      },
    };
  }

  async #dnsRoot(limits: NameLimits): Promise<Address | null> {
    const { params } = await this.#modules.chain.configParams([DNS_ROOT_PARAM], limits);
    const cell = params.get(DNS_ROOT_PARAM);
    return cell === undefined ? null : Address.ofParts(-1, openCell(cell).loadBytes(32));
  }

  async #name(key: string, { at }: NameLimits, find: () => Promise<readonly Address[]>): Promise<readonly Address[]> {
    const known = this.#known.get(key);
    if (known !== undefined && at.seqno - known.seqno < NAME_MC_BLOCKS) return known.addresses;
    const addresses = await find();
    this.#known.set(key, { addresses, seqno: at.seqno }, NAME_BYTES);
    return addresses;
  }
}
