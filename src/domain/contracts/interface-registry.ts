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
import { knownHashOf, type NativeCode } from '#domain/contracts/native-code.js';
import { WALLET_LIKE_CODES } from '#domain/contracts/wallet.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { methodIdOf } from '#formats/tlb/vm-stack.js';
import { fromHex, toHex } from '#kernel/bytes.js';

/**
 * All contract interfaces, in the order in which a contract is tested for them.
 *
 * @param roots collections of domains
 * @param factory of DeDust pools, which differs by network
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

/** All interfaces, with the well-known collections of domains. */
export const CONTRACT_INTERFACES: readonly ContractInterface[] = contractInterfaces(DNS_ROOTS);

/** By code hash: the native readers of all interfaces. */
const CODES: ReadonlyMap<string, NativeCode> = codesOf(CONTRACT_INTERFACES);

function codesOf(interfaces: readonly ContractInterface[]): ReadonlyMap<string, NativeCode> {
  const all = new Map<string, NativeCode>();
  for (const code of interfaces.flatMap(({ codes }) => codes)) {
    for (const hash of code.hashes) {
      const known = all.get(hash);
      all.set(hash, {
        hashes: [hash],
        getMethods: [...(known?.getMethods ?? []), ...code.getMethods],
        missingMethods: [...(known?.missingMethods ?? []), ...(code.missingMethods ?? [])],
      });
    }
  }
  return all;
}

/**
 * Native readers of a code; null if it is unknown. Library references are resolved by their hash: the readers are right only on
 * networks that have the library, as the contract cannot run on others.
 */
export function nativeCodeOf(code: Cell): NativeCode | null {
  return CODES.get(knownHashOf(code)) ?? null;
}

/** An interface with the method ids of its sets, and the hashes of its codes and of library references to them. */
interface InterfaceMatcher {
  readonly contract: ContractInterface;
  readonly methods: readonly (readonly number[])[];
  readonly hashes: ReadonlySet<string>;
}

const LIBRARY_REFERENCE = 2;

function libraryReferenceTo(hash: string): string {
  const reference = new Builder().storeUint(LIBRARY_REFERENCE, 8).storeBytes(fromHex(hash) as Uint8Array);
  return toHex(reference.endExotic().hash());
}

function interfaceMatcher(contract: ContractInterface): InterfaceMatcher {
  const hashes = contract.codes.flatMap((code) => code.hashes);
  return {
    contract,
    methods: contract.methods.map((names) => names.map(methodIdOf)),
    hashes: new Set([...hashes, ...hashes.map(libraryReferenceTo)]),
  };
}

/** Finds the interfaces that a code may have. */
export class CandidateInterfaces {
  readonly #matchers: readonly InterfaceMatcher[];

  constructor(interfaces: readonly ContractInterface[]) {
    this.#matchers = interfaces.map(interfaceMatcher);
  }

  /**
   * The interfaces that a code may have, in their order: those that know the code, and those of which it has all get-methods of a
   * set. A code whose method ids are unknown may have each interface that has sets, unless an interface knows the code or it is that
   * of a wallet, which has none.
   *
   * @param codeHash of the code cell, which may be a library reference: lower-case hexadecimal
   * @param methodIds null: the code has no readable method dictionary
   */
  of(codeHash: string, methodIds: readonly number[] | null): readonly ContractInterface[] {
    const known = this.#matchers.filter(({ hashes }) => hashes.has(codeHash));
    if (methodIds === null && (known.length > 0 || WALLET_LIKE_CODES.has(codeHash))) {
      return known.map(({ contract }) => contract);
    }
    const ids = methodIds === null ? null : new Set(methodIds);
    const fits = (methods: readonly number[]): boolean => ids === null || methods.every((id) => ids.has(id));
    return this.#matchers
      .filter(({ methods, hashes }) => hashes.has(codeHash) || methods.some(fits))
      .map(({ contract }) => contract);
  }
}
