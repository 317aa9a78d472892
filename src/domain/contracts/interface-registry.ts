import type { ContractInterface } from '#domain/contracts/contract-interface.js';
import { DNS_ROOTS, type DnsRoot } from '#domain/contracts/dns-domain.js';
import { DEDUST_FACTORY, dexPoolInterface } from '#domain/contracts/interfaces/dex-pool.js';
import { dnsItemInterface } from '#domain/contracts/interfaces/dns-item.js';
import { jettonMaster } from '#domain/contracts/interfaces/jetton-master.js';
import { jettonWallet } from '#domain/contracts/interfaces/jetton-wallet.js';
import { multisig } from '#domain/contracts/interfaces/multisig.js';
import { multisigOrder } from '#domain/contracts/interfaces/multisig-order.js';
import { nftAuction } from '#domain/contracts/interfaces/nft-auction.js';
import { nftCollection } from '#domain/contracts/interfaces/nft-collection.js';
import { nftItemInterface } from '#domain/contracts/interfaces/nft-item.js';
import { nftSale } from '#domain/contracts/interfaces/nft-sale.js';
import { nominatorPool } from '#domain/contracts/interfaces/nominator-pool.js';
import { telemintItem } from '#domain/contracts/interfaces/telemint-item.js';
import { vesting } from '#domain/contracts/interfaces/vesting.js';
import type { NativeCode } from '#domain/contracts/native-code.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { type Cell, CellType } from '#formats/cells/cell.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';
import { fromHex, toHex } from '#kernel/bytes.js';

/**
 * All kinds, in the order in which a contract is asked; `roots`: of the domains; `factory`: of the pools of DeDust, which is
 * another one on other networks.
 */
export function contractInterfaces(
  roots: readonly DnsRoot[],
  factory: Address = DEDUST_FACTORY,
): readonly ContractInterface[] {
  return [
    jettonMaster,
    jettonWallet,
    nftCollection,
    nftItemInterface(roots),
    dnsItemInterface(roots),
    nftSale,
    nftAuction,
    telemintItem,
    multisig,
    multisigOrder,
    vesting,
    nominatorPool,
    dexPoolInterface(factory),
  ] as readonly ContractInterface[];
}

/** All kinds, with the roots of domains that everybody knows. */
export const CONTRACT_INTERFACES: readonly ContractInterface[] = contractInterfaces(DNS_ROOTS);

/** By the hash of the code: what all kinds together know of it. */
const CODES: ReadonlyMap<string, NativeCode> = codesOf(CONTRACT_INTERFACES);

function codesOf(kinds: readonly ContractInterface[]): ReadonlyMap<string, NativeCode> {
  const all = new Map<string, NativeCode>();
  for (const code of kinds.flatMap(({ codes }) => codes)) {
    for (const hash of code.hashes) {
      const { answers, lacks } = all.get(hash) ?? { answers: [], lacks: [] };
      all.set(hash, {
        hashes: [hash],
        answers: [...answers, ...code.answers],
        lacks: [...(lacks ?? []), ...(code.lacks ?? [])],
      });
    }
  }
  return all;
}

/** The hash that a library reference stands for; null when the cell is none. */
export function libraryHashOf(code: Cell): Uint8Array | null {
  if (code.type !== CellType.libraryReference) return null;
  return code.bytes.subarray(code.dataOffset + 1, code.dataOffset + 33);
}

/**
 * What is known of a code; null when it is not known. A library reference is looked through: what is read then is right
 * only where the network has that library, since elsewhere the contract cannot run.
 */
export function nativeCodeOf(code: Cell): NativeCode | null {
  return CODES.get(toHex(libraryHashOf(code) ?? code.hash())) ?? null;
}

/** The ids of the get methods of each set of a kind, and its codes: their hashes, and those of library references to them. */
interface InterfaceMatcher {
  readonly kind: ContractInterface;
  readonly methods: readonly (readonly number[])[];
  readonly hashes: ReadonlySet<string>;
}

const LIBRARY_REFERENCE = 2;

function libraryReferenceTo(hash: string): string {
  const reference = new Builder().storeUint(LIBRARY_REFERENCE, 8).storeBytes(fromHex(hash) as Uint8Array);
  return toHex(reference.endExotic().hash());
}

function interfaceMatcher(kind: ContractInterface): InterfaceMatcher {
  const hashes = kind.codes.flatMap((code) => code.hashes);
  return {
    kind,
    methods: kind.methods.map((names) => names.map(methodIdOf)),
    hashes: new Set([...hashes, ...hashes.map(libraryReferenceTo)]),
  };
}

/** Tells which kinds a code can be of. */
export class CandidateInterfaces {
  readonly #recognisers: readonly InterfaceMatcher[];

  constructor(kinds: readonly ContractInterface[]) {
    this.#recognisers = kinds.map(interfaceMatcher);
  }

  /**
   * The kinds that a code can be of, in their order: those that know it, and those of which it has all get methods of a set.
   * A code whose get methods are not known can be of each kind that is told by get methods, unless a kind knows it.
   *
   * @param codeHash of the code, or of the library reference that stands for it: lower-case hexadecimal
   * @param methodIds null: the code has no table of methods that can be read
   */
  of(codeHash: string, methodIds: readonly number[] | null): readonly ContractInterface[] {
    const known = this.#recognisers.filter(({ hashes }) => hashes.has(codeHash));
    if (methodIds === null && known.length > 0) return known.map(({ kind }) => kind);
    const ids = methodIds === null ? null : new Set(methodIds);
    const fits = (methods: readonly number[]): boolean => ids === null || methods.every((id) => ids.has(id));
    return this.#recognisers
      .filter(({ methods, hashes }) => hashes.has(codeHash) || methods.some(fits))
      .map(({ kind }) => kind);
  }
}
