import { contentColumn, contractInterface } from '#domain/contracts/contract-interface.js';
import { contractDataErrors } from '#domain/contracts/errors.js';
import { type GetMethod, getMethod, MethodResult } from '#domain/contracts/get-method.js';
import {
  BASECHAIN,
  loadAccount,
  loadPlainAddress,
  type NativeCode,
  nativeGetMethod,
  stateInitHash,
  storeAddress,
} from '#domain/contracts/native-code.js';
import { readTokenContent, sha256KeyOf, type TokenContent } from '#domain/contracts/token-content.js';
import { Address } from '#formats/address/address.js';
import { Builder, EMPTY_CELL } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { openCell, Slice } from '#formats/cells/slice.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { grams } from '#formats/tlb/codec/primitives.js';
import { MsgAddress } from '#formats/tlb/msg-address.js';
import { vmSlice } from '#formats/tlb/vm-stack.js';

/** `balance:Grams owner:MsgAddress jetton:MsgAddress`, as a wallet begins: without jettons. */
function emptyWallet(owner: Address, jetton: Address): Builder {
  return storeAddress(storeAddress(new Builder().storeUint(0, 4), owner), jetton);
}

/** `total_supply:Grams admin_address:MsgAddress content:^Cell wallet_code:^Cell`: the first kinds (TEP-74, TEP-89). */
function loadPlainMaster(data: Cell) {
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
 * `balance:Grams owner:MsgAddress jetton:MsgAddress locked:Grams unlocked_at:uint48 wallet_code:^Cell`. The
 * get-method adds the locked amount to the balance from that time on, so the balance of such wallets depends on the time of the query.
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

/** Account id of a standard jetton wallet. */
function plainWalletHash(owner: Address, jetton: Address, code: Cell): Uint8Array {
  return stateInitHash(code, emptyWallet(owner, jetton).storeRef(code).endCell());
}

/** How the codes of governed jettons differ. */
export interface GovernedJettonLayout {
  /** Bits of `status` before the balance of a wallet. */
  readonly statusBits: 0 | 4;
  /** Mintless jettons (TEP-177). */
  readonly withMerkleRoot: boolean;
  /** Account id of a wallet. */
  walletHash(owner: Address, jetton: Address, code: Cell, merkleRoot: Uint8Array): Uint8Array;
}

/**
 * `total_supply:Grams admin_address:MsgAddress next_admin_address:MsgAddress` and, of a mintless one,
 * `merkle_root:bits256`; then `wallet_code:^Cell metadata_uri:^Cell`
 */
function loadGovernedMaster({ withMerkleRoot }: GovernedJettonLayout, data: Cell) {
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
export function loadGovernedWallet({ statusBits, withMerkleRoot }: GovernedJettonLayout, data: Cell) {
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
export const governedLayout: GovernedJettonLayout = {
  statusBits: 4,
  withMerkleRoot: false,
  walletHash: (owner, jetton, code) =>
    stateInitHash(code, new Builder().storeUint(0, 4).storeBuilder(emptyWallet(owner, jetton)).endCell()),
};

/** Leading bits that the address of a wallet shares with its owner, so that both are in one shard. */
const SHARD_DEPTH = 8;

/** Sharded jettons: version 2.0 of the standard code. */
export const shardedLayout: GovernedJettonLayout = {
  statusBits: 0,
  withMerkleRoot: false,
  walletHash: (owner, jetton, code) => {
    const hash = stateInitHash(code, emptyWallet(owner, jetton).endCell(), SHARD_DEPTH).slice();
    hash[0] = owner.hash[0] as number;
    return hash;
  },
};

/** Number of salts that are tried to bring the first four bits of the address close to those of the owner. */
const SALTS = 33;

/** Mintless jettons (TEP-177). */
export const mintlessLayout: GovernedJettonLayout = {
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

/** Results of `get_jetton_data` (TEP-74). */
interface JettonMasterFields {
  readonly total_supply: bigint;
  readonly mintable: boolean;
  /** Null: none. */
  readonly admin_address: Address | null;
  readonly jetton_content: Cell;
  readonly jetton_wallet_code: Cell;
}

/** A jetton with its parsed content. */
interface JettonMaster extends Omit<JettonMasterFields, 'jetton_content'> {
  readonly jetton_content: TokenContent;
}

/** `(int total_supply, int mintable, slice admin_address, cell jetton_content, cell jetton_wallet_code) get_jetton_data()` */
export const getJettonData = getMethod('get_jetton_data', (stack): JettonMasterFields => {
  const result = new MethodResult('get_jetton_data', stack, 5);
  return {
    total_supply: result.int(),
    mintable: result.int() !== 0n,
    admin_address: result.accountOrNull(),
    jetton_content: result.cell(),
    jetton_wallet_code: result.cell(),
  };
});

/** `slice get_wallet_address(slice owner_address)` */
export const getWalletAddress: GetMethod<readonly [owner: Address], Address> = {
  name: 'get_wallet_address',
  stack: (owner) => [vmSlice(encodeCell(MsgAddress, owner))],
  parse: (stack) => new MethodResult('get_wallet_address', stack, 1).account(),
};

/** Standard jettons (TEP-74), including discoverable ones (TEP-89). */
const plainMaster: NativeCode = {
  hashes: [
    'e0b78e8e9112a385aeb509c98324333a4f9e5cebfacc5042b95c72373c4d7d39',
    'f95ba0330b38cdf3459b1e811e5fc6fa6cfee566d7b764455c0468140365a737',
    '9a0f98dd6fbf225eef8165e4e64417ee931f7eea000653439e7b5dcdc0644cd6',
  ],
  getMethods: [
    nativeGetMethod(getJettonData, ({ data }) => {
      const { wallet_code, content, ...rest } = loadPlainMaster(data);
      return { ...rest, mintable: true, jetton_content: content, jetton_wallet_code: wallet_code };
    }),
    nativeGetMethod(getWalletAddress, ({ address, data }, owner) => {
      const { wallet_code } = loadPlainMaster(data);
      return Address.ofParts(BASECHAIN, plainWalletHash(owner, address, wallet_code));
    }),
  ],
};

const URI = sha256KeyOf('uri');
const DECIMALS = sha256KeyOf('decimals');

/**
 * The content that a governed master returns for its metadata: the keys `uri` and, for some codes, `decimals`. The edges of the
 * dictionary are always the same.
 */
function governedContent(decimals: Cell | null): (metadata: Cell) => Cell {
  const entries: [Uint8Array, Builder][] = [[URI, new Builder().storeRef(EMPTY_CELL)]];
  if (decimals !== null) entries.push([DECIMALS, new Builder().storeRef(decimals)]);
  const root = buildDictionary(256, entries) as Cell;
  return (metadata) => {
    const uri = new Builder().storeUint(0, 8).storeSlice(openCell(metadata)).endCell();
    return new Builder().storeUint(0, 8).storeBit(true).storeRef(withUri(root, uri)).endCell();
  };
}

/** The same dictionary with the empty cell replaced. */
function withUri(edge: Cell, uri: Cell): Cell {
  const builder = new Builder().storeBits(new Slice(edge).loadBits(edge.bits));
  for (let i = 0; i < edge.refCount; i++) {
    const ref = edge.ref(i);
    builder.storeRef(ref === EMPTY_CELL ? uri : ref.refCount > 0 ? withUri(ref, uri) : ref);
  }
  return builder.endCell();
}

function governedMaster(form: GovernedJettonLayout, decimals: string | null, hashes: readonly string[]): NativeCode {
  const decimalsCell =
    decimals === null ? null : new Builder().storeUint(0, 8).storeBytes(new TextEncoder().encode(decimals)).endCell();
  const contentOf = governedContent(decimalsCell);
  return {
    hashes,
    getMethods: [
      nativeGetMethod(getJettonData, ({ data }) => {
        const { total_supply, admin_address, metadata_uri, wallet_code } = loadGovernedMaster(form, data);
        const jetton_content = contentOf(metadata_uri);
        return { total_supply, mintable: true, admin_address, jetton_content, jetton_wallet_code: wallet_code };
      }),
      nativeGetMethod(getWalletAddress, ({ address, data }, owner) => {
        const { wallet_code, merkle_root } = loadGovernedMaster(form, data);
        return Address.ofParts(BASECHAIN, form.walletHash(owner, address, wallet_code, merkle_root));
      }),
    ],
  };
}

const notcoin = governedMaster(governedLayout, '9', [
  'f83d05490af7c9cc58019488c7b253c9492d49c25d12d09383e52e81537e343a',
]);
const stablecoin = governedMaster(governedLayout, '6', [
  '18d5b6e780ff0bb451254c2c760d09d6e485638cd1407abb97078752c3c1c9ee',
]);
const version2 = governedMaster(shardedLayout, '9', [
  '6eb01cd370f25445b7c9b598928e444009c31737334835a956b90bdd92228895',
]);
const mintlessMaster = governedMaster(mintlessLayout, null, [
  '84d0ae717efd23eecceb3a565e25fc5fb2e066f03bcf3672a7dd69aefa389db2',
]);

/** A jetton master (TEP-74). Its content must follow TEP-64. */
export const jettonMaster = contractInterface({
  name: 'jetton_master',
  methods: [[getJettonData.name]],
  codes: [plainMaster, notcoin, stablecoin, version2, mintlessMaster],
  async read(view, contract): Promise<JettonMaster> {
    const { jetton_content, ...fields } = await view.runGetMethod(contract, getJettonData);
    return { ...fields, jetton_content: readTokenContent(jetton_content) };
  },
  table: {
    name: 'jetton_masters',
    columns: {
      total_supply: 'numeric',
      mintable: 'boolean',
      admin: 'address?',
      content: 'jsonb',
      jetton_wallet_code_hash: 'bytea',
    },
  },
  row: ({ total_supply, mintable, admin_address, jetton_content, jetton_wallet_code }) => ({
    total_supply,
    mintable,
    admin: admin_address,
    content: contentColumn(jetton_content),
    jetton_wallet_code_hash: jetton_wallet_code.hash(),
  }),
});
