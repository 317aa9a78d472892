import { contractDataErrors } from '#domain/contracts/errors.js';
import { loadAccount, loadPlainAddress, stateInitHash, storeAddress } from '#domain/contracts/native-data.js';
import type { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';

/** `balance:Grams owner:MsgAddress jetton:MsgAddress`, as a wallet begins: without jettons. */
function emptyWallet(owner: Address, jetton: Address): Builder {
  return storeAddress(storeAddress(new Builder().storeUint(0, 4), owner), jetton);
}

/** `total_supply:Grams admin_address:MsgAddress content:^Cell wallet_code:^Cell`: the first kinds (TEP-74, TEP-89). */
export function loadPlainMaster(data: Cell) {
  const slice = openCell(data);
  const total_supply = grams.load(slice);
  const admin_address = loadPlainAddress(slice);
  const content = slice.loadRef();
  const wallet_code = slice.loadRef();
  slice.end();
  return { total_supply, admin_address, content, wallet_code };
}

/** `balance:Grams owner:MsgAddress jetton:MsgAddress wallet_code:^Cell` */
export function loadPlainWallet(data: Cell) {
  const slice = openCell(data);
  const balance = grams.load(slice);
  const owner = loadAccount(slice);
  const jetton = loadAccount(slice);
  const wallet_code = slice.loadRef();
  slice.end();
  return { balance, owner, jetton, wallet_code };
}

/**
 * `balance:Grams owner:MsgAddress jetton:MsgAddress locked:Grams unlocked_at:uint48 wallet_code:^Cell`. What is locked is
 * told as part of the balance from that time on: with some, only the time of the question tells.
 */
export function loadStakedWallet(data: Cell) {
  const slice = openCell(data);
  const balance = grams.load(slice);
  const owner = loadAccount(slice);
  const jetton = loadAccount(slice);
  if (grams.load(slice) !== 0n) throw contractDataErrors['other-form']({ problem: 'a part of the balance is locked' });
  slice.skip(48);
  const wallet_code = slice.loadRef();
  slice.end();
  return { balance, owner, jetton, wallet_code };
}

/** Hash of the address of a wallet of the first kinds. */
export function plainWalletHash(owner: Address, jetton: Address, code: Cell): Uint8Array {
  return stateInitHash(code, emptyWallet(owner, jetton).storeRef(code).endCell());
}

/** How the later kinds differ among themselves. */
export interface GovernedForm {
  /** Bits before the balance of a wallet. */
  readonly statusBits: 0 | 4;
  /** Of a mintless one. */
  readonly withMerkleRoot: boolean;
  /** Hash of the address of a wallet. */
  walletHash(owner: Address, jetton: Address, code: Cell, merkleRoot: Uint8Array): Uint8Array;
}

/**
 * `total_supply:Grams admin_address:MsgAddress next_admin_address:MsgAddress` and, of a mintless one,
 * `merkle_root:bits256`; then `wallet_code:^Cell metadata_uri:^Cell`
 */
export function loadGovernedMaster({ withMerkleRoot }: GovernedForm, data: Cell) {
  const slice = openCell(data);
  const total_supply = grams.load(slice);
  const admin_address = loadPlainAddress(slice);
  loadPlainAddress(slice);
  const merkle_root = slice.loadBytes(withMerkleRoot ? 32 : 0);
  const wallet_code = slice.loadRef();
  const metadata_uri = slice.loadRef();
  slice.end();
  return { total_supply, admin_address, merkle_root, wallet_code, metadata_uri };
}

/**
 * `balance:Grams owner:MsgAddress jetton:MsgAddress`, before it `status:uint4` where there is one, after it
 * `merkle_root:bits256 salt:uint10` of a mintless one. Its code is that of the account.
 */
export function loadGovernedWallet({ statusBits, withMerkleRoot }: GovernedForm, data: Cell) {
  const slice = openCell(data);
  const status = slice.loadUint(statusBits);
  const balance = grams.load(slice);
  const owner = loadAccount(slice);
  const jetton = loadAccount(slice);
  if (withMerkleRoot) slice.skip(256 + 10);
  slice.end();
  return { status, balance, owner, jetton };
}

/** `status:uint4`, nothing else: Notcoin and its like, and the stablecoins. */
export const governed: GovernedForm = {
  statusBits: 4,
  withMerkleRoot: false,
  walletHash: (owner, jetton, code) =>
    stateInitHash(code, new Builder().storeUint(0, 4).storeBuilder(emptyWallet(owner, jetton)).endCell()),
};

/** Bits of the address of a wallet that are those of its owner, so that both are in one shard. */
const SHARD_DEPTH = 8;

/** Version 2.0. */
export const sharded: GovernedForm = {
  statusBits: 0,
  withMerkleRoot: false,
  walletHash: (owner, jetton, code) => {
    const hash = stateInitHash(code, emptyWallet(owner, jetton).endCell(), SHARD_DEPTH).slice();
    hash[0] = owner.hash[0] as number;
    return hash;
  },
};

/** Salts that are tried to get the first four bits of the address as near to those of the owner as they can be. */
const SALTS = 33;

/** TEP-177. */
export const mintless: GovernedForm = {
  statusBits: 4,
  withMerkleRoot: true,
  walletHash: (owner, jetton, code, merkleRoot) => {
    const wanted = (owner.hash[0] as number) >> 4;
    let best = 16;
    let found: Uint8Array = owner.hash;
    for (let salt = 0; salt < SALTS && best > 0; salt++) {
      const wallet = new Builder().storeUint(0, 4).storeBuilder(emptyWallet(owner, jetton)).storeBytes(merkleRoot);
      const hash = stateInitHash(code, wallet.storeUint(salt, 10).endCell());
      const distance = ((hash[0] as number) >> 4) ^ wanted;
      if (distance >= best) continue;
      best = distance;
      found = hash;
    }
    return found;
  },
};
