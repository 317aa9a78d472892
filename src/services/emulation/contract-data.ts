import { type ContractView, nullOnContractError, type ViewedContract } from '#domain/contracts/contract-view.js';
import { ALL_CATEGORIES as ALL_RECORDS, dnsresolve } from '#domain/contracts/dns-domain.js';
import {
  type DnsRecords,
  decodeDomainName,
  dnsAnswerOf,
  encodeDomainName,
  NEXT_RESOLVER_CATEGORY,
  readDnsEntries,
  readDnsRecord,
} from '#domain/contracts/dns-records.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import type { GetMethod } from '#domain/contracts/get-method.js';
import { nativeCodeOf } from '#domain/contracts/interface-registry.js';
import { jettonMaster } from '#domain/contracts/interfaces/jetton-master.js';
import { jettonWallet } from '#domain/contracts/interfaces/jetton-wallet.js';
import { nftCollection } from '#domain/contracts/interfaces/nft-collection.js';
import { nftItem, readNftContent, readNftFields } from '#domain/contracts/interfaces/nft-item.js';
import { libraryHashOf, type NativeAccount, type NativeCode, runNatively } from '#domain/contracts/native-code.js';
import { type NftItemData, readDomainContent, type TokenData } from '#domain/contracts/token-data.js';
import { WALLET_LIKE_CODES } from '#domain/contracts/wallet.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { printPosition } from '#formats/proofs/block-id.js';
import type { VmStack } from '#formats/tlb/vm-stack.js';
import { vmInt, vmSlice } from '#formats/tlb/vm-stack.js';
import { concatBytes, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { AccountStateRead } from '#services/chain/accounts.js';
import type { ReadAt } from '#services/chain/read-context.js';
import type { GetMethodRead, TokenRead } from '#services/emulation/contract-reads.js';
import { contractsErrors } from '#services/emulation/errors.js';

interface TokenInterface {
  readonly codes: readonly NativeCode[];
  readonly read: (view: ContractView, contract: ViewedContract) => Promise<TokenData>;
}

/** In the order of detection: the first match is used. */
const TOKEN_INTERFACES: readonly TokenInterface[] = [
  {
    codes: jettonMaster.codes,
    read: async (view, contract) => {
      const { address } = contract;
      return { contract_type: 'jetton_master', address, ...(await jettonMaster.read(view, contract)) };
    },
  },
  {
    codes: jettonWallet.codes,
    read: async (view, contract) => {
      const { address } = contract;
      return { contract_type: 'jetton_wallet', address, ...(await jettonWallet.read(view, contract)) };
    },
  },
  {
    codes: nftCollection.codes,
    read: async (view, contract) => {
      const { address } = contract;
      return { contract_type: 'nft_collection', address, ...(await nftCollection.read(view, contract)) };
    },
  },
  { codes: nftItem.codes, read: readNftItem },
];

/** The content of an item that is a DNS domain consists of its records. */
async function readNftItem(view: ContractView, item: ViewedContract): Promise<NftItemData> {
  const { address } = item;
  const fields = await readNftFields(view, item);
  const { init, index, collection_address, owner_address } = fields;
  const content = (await readDomainContent(view, item, collection_address)) ?? (await readNftContent(view, fields));
  return { contract_type: 'nft_item', address, init, index, collection_address, owner_address, content };
}

/** The interfaces that a code may implement. */
function interfacesOf(code: Cell): readonly TokenInterface[] {
  const hash = toHex(libraryHashOf(code) ?? code.hash());
  const known = TOKEN_INTERFACES.filter(({ codes }) => codes.some(({ hashes }) => hashes.includes(hash)));
  return known.length > 0 ? known : TOKEN_INTERFACES;
}

/**
 * Reads the data of a token contract. A jetton wallet is verified with its master (`get_wallet_address`), an NFT item with its
 * collection (`get_nft_address_by_index`). Everything is read at one masterchain block.
 *
 * @throws contracts/no-workchain; errors of the reads
 */
export async function readTokenData(address: Address, reads: ContractStateReads, options: ReadAt): Promise<TokenRead> {
  const first = await reads.account(address, options);
  const { block } = first;
  if (first.shard_utime === null) {
    throw contractsErrors['no-workchain']({ workchain: address.workchain, block: printPosition(block) });
  }
  const account = nativeAccountOf(address, first);
  if (account === null || WALLET_LIKE_CODES.has(toHex(account.code.hash()))) return { block, token: null };
  const view = new ContractsAtBlock(reads, { ...options, at: block });
  const contract = { address, account };
  for (const { read } of interfacesOf(account.code)) {
    const token = await nullOnContractError(() => read(view, contract));
    if (token !== null) return { block, token };
  }
  return { block, token: null };
}

/** Reads required for tokens and domains, at the block of the options. */
export interface ContractStateReads {
  runGetMethod(address: Address, method: string, stack: VmStack, options: ReadAt): Promise<GetMethodRead>;
  account(address: Address, options: ReadAt): Promise<AccountStateRead>;
  /** The masterchain library with a hash; null when it is not published. */
  library(hash: Uint8Array, options: ReadAt): Promise<Cell | null>;
}

/** Code and data of an active account; null otherwise. */
export function nativeAccountOf(address: Address, { account }: AccountStateRead): NativeAccount | null {
  if (account?.kind !== 'account' || account.storage.state.kind !== 'account_active') return null;
  const { code, data } = account.storage.state.state_init;
  return code === null || data === null ? null : { address, code, data };
}

/** Errors for contracts that cannot be run, as opposed to failed runs. */
const NOTHING_TO_RUN = /^(contracts\/no-workchain|tvm\/refused)$/;

/** Contracts at one block. */
export class ContractsAtBlock implements ContractView {
  readonly #reads: ContractStateReads;
  readonly #options: ReadAt;
  readonly #contracts = new Map<string, Promise<ViewedContract>>();
  readonly #natives = new Map<NativeAccount, Promise<NativeCode | null>>();

  constructor(reads: ContractStateReads, options: ReadAt) {
    this.#reads = reads;
    this.#options = options;
  }

  contract(address: Address): Promise<ViewedContract> {
    const key = address.toRaw();
    const known = this.#contracts.get(key) ?? this.#read(address);
    this.#contracts.set(key, known);
    return known;
  }

  async #read(address: Address): Promise<ViewedContract> {
    return { address, account: nativeAccountOf(address, await this.#reads.account(address, this.#options)) };
  }

  async runGetMethod<Arguments extends readonly unknown[], Result>(
    { address, account }: ViewedContract,
    method: GetMethod<Arguments, Result>,
    ...given: Arguments
  ): Promise<Result> {
    if (account !== null) {
      const native = runNatively(await this.#nativeCode(account), account, method, given);
      if (native !== null) return native.result;
    }
    const { exit_code, stack } = await this.#run(address, method.name, method.stack(...given));
    if (exit_code === 0 || exit_code === 1) return method.parse(stack);
    throw contractDataErrors['method-failed']({ address: address.toRaw(), method: method.name, exit_code });
  }

  async #run(address: Address, method: string, stack: VmStack): Promise<GetMethodRead> {
    try {
      return await this.#reads.runGetMethod(address, method, stack, this.#options);
    } catch (error) {
      if (!isTernError(error) || !NOTHING_TO_RUN.test(error.code)) throw error;
      throw contractDataErrors['method-not-run']({ address: address.toRaw(), method, problem: error.message });
    }
  }

  #nativeCode(account: NativeAccount): Promise<NativeCode | null> {
    const known = this.#natives.get(account) ?? this.#readNativeCode(account);
    this.#natives.set(account, known);
    return known;
  }

  /** A contract whose library is not published cannot run, whatever its data contains. */
  async #readNativeCode({ code }: NativeAccount): Promise<NativeCode | null> {
    const native = nativeCodeOf(code);
    const library = native === null ? null : libraryHashOf(code);
    const published = library === null || (await this.#reads.library(library, this.#options)) !== null;
    return published ? native : null;
  }
}

/** Selects the records of all categories. */
const ALL_CATEGORIES = vmInt(0);

/**
 * Resolves a name (TEP-81), following next-resolver records at most `depth` times. When the depth is exhausted, the result is
 * the next-resolver record. All resolvers are called at one masterchain block.
 *
 * @throws contract-data/domain-name for an invalid name; contract-data/method-failed when a resolver is not deployed or
 *   fails, contract-data/method-result when its result is invalid; errors of the reads
 */
export async function resolveDns(
  resolver: Address,
  name: string,
  depth: number,
  reads: Pick<ContractStateReads, 'runGetMethod'>,
  options: ReadAt,
): Promise<DnsRecords> {
  let current = resolver;
  let rest = encodeDomainName(name);
  let at = options.at;
  for (let left = depth; ; left--) {
    const stack = [vmSlice(new Builder().storeBytes(rest).endCell()), ALL_CATEGORIES];
    const read = await reads.runGetMethod(
      current,
      'dnsresolve',
      stack,
      at === undefined ? options : { ...options, at },
    );
    at = read.block;
    const { exit_code } = read;
    if (exit_code !== 0 && exit_code !== 1) {
      throw contractDataErrors['method-failed']({ address: current.toRaw(), method: 'dnsresolve', exit_code });
    }
    const { taken: consumed, value } = dnsAnswerOf(read.stack, rest.length);
    if (consumed === 0 || value === null) return { resolver: current, name: decodeDomainName(rest), entries: [] };
    if (consumed === rest.length) {
      return { resolver: current, name: decodeDomainName(rest), entries: readDnsEntries(value) };
    }
    const record = readDnsRecord(value);
    if (left <= 0 || record.kind !== 'dns_next_resolver') {
      const part = decodeDomainName(rest.subarray(0, consumed));
      return { resolver: current, name: part, entries: [{ category: NEXT_RESOLVER_CATEGORY, record }] };
    }
    const after = afterPart(rest, consumed);
    if (after.length >= rest.length) {
      const problem = 'returns the next resolver without consuming a part of the name';
      throw contractDataErrors['method-result']({ method: 'dnsresolve', problem });
    }
    rest = after;
    current = record.resolver;
  }
}

/** Resolvers asked for one name at most. */
const MOST_RESOLVERS = 16;

/**
 * The contracts that resolve a name (TEP-81), label by label: the given resolver, then each next one. The last one has the records of
 * the name, is not deployed, or does not know the name.
 *
 * @throws contract-data/domain-name for an invalid name; errors of the reads
 */
export async function dnsResolvers(resolver: Address, name: string, view: ContractView): Promise<Address[]> {
  const resolvers = [resolver];
  let rest = encodeDomainName(name);
  while (resolvers.length < MOST_RESOLVERS) {
    const current = rest;
    const answer = await nullOnContractError(async () =>
      view.runGetMethod(await view.contract(resolvers.at(-1)!), dnsresolve, current, ALL_RECORDS),
    );
    if (answer === null || answer.value === null || answer.taken === 0 || answer.taken >= rest.length) break;
    const { value } = answer;
    const record = await nullOnContractError(async () => readDnsRecord(value));
    const after = afterPart(rest, answer.taken);
    if (record?.kind !== 'dns_next_resolver' || after.length >= rest.length) break;
    resolvers.push(record.resolver);
    rest = after;
  }
  return resolvers;
}

/** The unresolved rest of a name. Resolvers may or may not consume the zero byte after a label: the rest starts with one. */
function afterPart(name: Uint8Array, consumed: number): Uint8Array {
  const rest = name.subarray(consumed);
  return rest[0] === 0 ? rest : concatBytes(new Uint8Array(1), rest);
}
