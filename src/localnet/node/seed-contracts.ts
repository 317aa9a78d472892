import { createHash } from 'node:crypto';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { StateInit, stateInitOf } from '#formats/tlb/account.js';
import { MASTERCHAIN } from '#formats/tlb/block-id.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { bytesKey, Dictionary, uintKey } from '#formats/tlb/codec/dictionary.js';
import { cellRef } from '#formats/tlb/codec/primitives.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { fromHex } from '#kernel/bytes.js';
import { buildInternalMessage, commentBody } from '#localnet/wallets/create-transfer.js';
import { contractCode } from '#localnet/wallets/wallet-contract.js';

/* The contracts that a local network is seeded with, and the messages to them. Those of DNS are the ones of mainnet. */

const BASECHAIN = 0;
const COIN = 1_000_000_000n;

/** A contract as it is deployed. */
export interface SeedContract {
  readonly address: Address;
  readonly init: StateInit;
}

function contract(workchain: number, code: Cell, data: Cell): SeedContract {
  const init = stateInitOf(code, data);
  return { address: Address.ofParts(workchain, encodeCell(StateInit, init).hash()), init };
}

function storeAddress(builder: Builder, address: Address): Builder {
  MsgAddress.store(address, builder);
  return builder;
}

/** Content of the `.ton` collection of mainnet: the link to its metadata (TEP-64, off-chain). */
const COLLECTION_CONTENT = 'https://dns.ton.org/collection.json';
const OFF_CHAIN = 1;

/** The `.ton` collection: with the code and the data of mainnet it has the address of mainnet, by which clients know it. */
export function dnsCollection(): SeedContract {
  const content = new Builder().storeUint(OFF_CHAIN, 8).storeBytes(new TextEncoder().encode(COLLECTION_CONTENT));
  const data = new Builder().storeRef(content.endCell()).storeRef(contractCode('dns-item'));
  return contract(BASECHAIN, contractCode('dns-collection'), data.endCell());
}

/** The collection of Telegram usernames on mainnet, the resolver of `t.me`. */
const USERNAMES = fromHex('80d78a35f955a14b679faa887ff4cd5bfc0f43b4a4eea2a7e6927f3701b273c2')!;

/** The root of DNS, whose data is the resolver of `.ton`, that of `.t.me`, and a third one. */
export function rootResolver(): SeedContract {
  const { address } = dnsCollection();
  const data = new Builder();
  for (const resolver of [address, Address.ofParts(BASECHAIN, USERNAMES), address]) storeAddress(data, resolver);
  return contract(MASTERCHAIN, contractCode('dns-root'), data.endCell());
}

function domainText(label: string): Builder {
  return new Builder().storeBytes(new TextEncoder().encode(label));
}

/** The item of a second-level domain: `index:uint256 collection_address:MsgAddress`, where the index is the hash of a cell with the label. */
export function domainItem(label: string): SeedContract {
  const index = domainText(label).endCell().hash();
  const data = storeAddress(new Builder().storeBytes(index), dnsCollection().address);
  return contract(BASECHAIN, contractCode('dns-item'), data.endCell());
}

const ON_CHAIN = 0;
/** `dns_smc_address#9fd3 smc_addr:MsgAddressInt flags:(## 8)` */
const DNS_SMC_ADDRESS = 0x9fd3;

/**
 * Data of an item as after its auction: `index:uint256 collection_address:MsgAddress owner_address:MsgAddress content:^Cell
 * domain:^Cell auction:(Maybe ^Cell) last_fill_up_time:uint64`, with a record of the wallet.
 *
 * @param now Unix seconds: the domain stays its owner's for a year from then
 */
export function ownedDomainData(before: Cell, label: string, owner: Address, now: number): Cell {
  const record = storeAddress(new Builder().storeUint(DNS_SMC_ADDRESS, 16), owner).storeUint(0, 8).endCell();
  const category = new Uint8Array(createHash('sha256').update('wallet').digest());
  const records = Dictionary.of({ key: bytesKey(32), value: cellRef }, [[category, record]]);
  const content = new Builder().storeUint(ON_CHAIN, 8).storeBit(true).storeRef(records.root!);
  const head = openCell(before);
  const item = new Builder().storeBytes(head.loadBytes(32));
  MsgAddress.store(MsgAddress.load(head), item);
  return storeAddress(item, owner)
    .storeRef(content.endCell())
    .storeRef(domainText(label).endCell())
    .storeBit(false)
    .storeUint(BigInt(now), 64)
    .endCell();
}

/** The message that starts the auction of a domain; the smallest bid of seven letters and more is 30 TON. */
export function dnsBid(label: string): Cell {
  return buildInternalMessage({ to: dnsCollection().address, value: 100n * COIN, body: commentBody(label) });
}

/** SETCP0; DROP; LDREF; DROP; 2 PUSHINT; SETLIBCODE: makes the cell in the body of a message a public library. */
const PUBLISHER = fromHex('ff0030d43072fb06')!;

/** The contract that keeps a library in the masterchain. */
export function libraryPublisher(library: Cell): SeedContract {
  const code = new Builder().storeBytes(PUBLISHER).endCell();
  return contract(MASTERCHAIN, code, new Builder().storeBytes(library.hash()).endCell());
}

/** The library with the code of orders of multisigs. */
export function orderLibrary(): Cell {
  return contractCode('multisig-order');
}

function addressDictionary(addresses: readonly Address[]): Cell | null {
  const values = addresses.map((address, i) => [i, address] as const);
  return Dictionary.of({ key: uintKey(8), value: MsgAddress }, values).root;
}

/** Approvals that an order of the multisig requires. */
export const MULTISIG_THRESHOLD = 2;

/**
 * A multisig of version 2: `next_order_seqno:uint256 threshold:uint8 signers:^(Hashmap 8 MsgAddressInt) signers_num:uint8
 * proposers:(HashmapE 8 MsgAddressInt) allow_arbitrary_order_seqno:Bool`.
 */
export function seedMultisig(signers: readonly Address[], proposer: Address): SeedContract {
  const data = new Builder()
    .storeUint(0n, 256)
    .storeUint(MULTISIG_THRESHOLD, 8)
    .storeRef(addressDictionary(signers)!)
    .storeUint(signers.length, 8)
    .storeBit(true)
    .storeRef(addressDictionary([proposer])!)
    .storeBit(false);
  return contract(BASECHAIN, contractCode('multisig'), data.endCell());
}

/** The first order of a multisig: `multisig_address:MsgAddress order_seqno:uint256`; its code is a library cell. */
export function seedOrder(of: Address): SeedContract {
  const code = new Builder().storeUint(2, 8).storeBytes(orderLibrary().hash()).endExotic();
  return contract(BASECHAIN, code, storeAddress(new Builder(), of).storeUint(0n, 256).endCell());
}

const NEW_ORDER = 0xf718510f;
const SEND_MESSAGE = 0xf1381e5b;
const PAY_FEES_SEPARATELY = 1;

/**
 * The message of the first proposer that creates the first order: 1 TON to an account.
 * @param expires Unix seconds
 */
export function newOrder(of: Address, to: Address, expires: number): Cell {
  const payment = buildInternalMessage({
    to,
    value: COIN,
    bounce: false,
    body: commentBody('by order of the multisig'),
  });
  const action = new Builder().storeUint(SEND_MESSAGE, 32).storeUint(PAY_FEES_SEPARATELY, 8).storeRef(payment);
  const actions = Dictionary.of({ key: uintKey(8), value: cellRef }, [[0, action.endCell()]]);
  const body = new Builder()
    .storeUint(NEW_ORDER, 32)
    .storeUint(0n, 64)
    .storeUint(0n, 256)
    .storeBit(false)
    .storeUint(0, 8)
    .storeUint(BigInt(expires), 48)
    .storeRef(actions.root!);
  return buildInternalMessage({ to: of, value: COIN, body: body.endCell() });
}

/** The message that deploys a contract. @param value nanotons */
export function deployMessage({ address, init }: SeedContract, value: bigint, body = EMPTY_CELL): Cell {
  return buildInternalMessage({ to: address, value, bounce: false, init, body });
}
