import { keyOfName } from '#domain/contracts/content-keys.js';
import {
  loadAccount,
  loadPlainAddress,
  type NativeAccount,
  type NativeContract,
  type NativeJettonMaster,
  type NativeJettonWallet,
  stateInitHash,
  storeAddress,
} from '#domain/contracts/native-contract.js';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { buildDictionary } from '#formats/cells/dict-build.js';
import { openCell } from '#formats/cells/slice.js';
import { grams } from '#formats/tlb/codec/primitives.js';

/** Where the wallets of all these masters live. */
const BASECHAIN = 0;

/** `balance:Grams owner:MsgAddress jetton:MsgAddress`, as a wallet begins: without jettons. */
function emptyWallet(owner: Address, jetton: Address): Builder {
  return storeAddress(storeAddress(new Builder().storeUint(0, 4), owner), jetton);
}

/** Jettons of the first kinds (TEP-74), discoverable ones (TEP-89) as well. */
const master: NativeJettonMaster = {
  kind: 'jetton_master',
  data: ({ data }) => {
    const { wallet_code, content, ...rest } = loadMaster(data);
    return { ...rest, mintable: true, jetton_content: content, jetton_wallet_code: wallet_code };
  },
  walletAddress: ({ address, data }, owner) => {
    const { wallet_code } = loadMaster(data);
    const wallet = emptyWallet(owner, address).storeRef(wallet_code).endCell();
    return Address.ofParts(BASECHAIN, stateInitHash(wallet_code, wallet));
  },
};

/** `total_supply:Grams admin_address:MsgAddress content:^Cell wallet_code:^Cell` */
function loadMaster(data: Cell) {
  const slice = openCell(data);
  const total_supply = grams.load(slice);
  const admin_address = loadPlainAddress(slice);
  const content = slice.loadRef();
  const wallet_code = slice.loadRef();
  slice.end();
  return { total_supply, admin_address, content, wallet_code };
}

/** `balance:Grams owner:MsgAddress jetton:MsgAddress wallet_code:^Cell` */
const wallet: NativeJettonWallet = {
  kind: 'jetton_wallet',
  data: ({ data }) => {
    const slice = openCell(data);
    const balance = grams.load(slice);
    const owner = loadAccount(slice);
    const jetton = loadAccount(slice);
    const jetton_wallet_code = slice.loadRef();
    slice.end();
    return { balance, owner, jetton, jetton_wallet_code };
  },
  isClaimed: () => null,
};

/** How the later kinds differ among themselves. */
interface GovernedKind {
  /** Bits before the balance of a wallet. */
  readonly statusBits: 0 | 4;
  /** Of a mintless one. */
  readonly withMerkleRoot: boolean;
  walletAddress(owner: Address, jetton: Address, code: Cell, merkleRoot: Uint8Array): Address;
}

interface GovernedMaster {
  readonly total_supply: bigint;
  readonly admin_address: Address | null;
  readonly merkle_root: Uint8Array;
  readonly wallet_code: Cell;
  readonly metadata_uri: Cell;
}

/**
 * `total_supply:Grams admin_address:MsgAddress next_admin_address:MsgAddress` and, of a mintless one,
 * `merkle_root:bits256`; then `wallet_code:^Cell metadata_uri:^Cell`
 */
function loadGovernedMaster(data: Cell, withMerkleRoot: boolean): GovernedMaster {
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

/** What the master makes of its metadata: content with the keys `uri` and, if it has some, `decimals`. */
function governedContent(metadata: Cell, decimals: Cell | null): Cell {
  const uri = new Builder().storeUint(0, 8).storeSlice(openCell(metadata)).endCell();
  const entries: [Uint8Array, Builder][] = [[URI, new Builder().storeRef(uri)]];
  if (decimals !== null) entries.push([DECIMALS, new Builder().storeRef(decimals)]);
  const root = buildDictionary(256, entries);
  return new Builder()
    .storeUint(0, 8)
    .storeBit(true)
    .storeRef(root as Cell)
    .endCell();
}

const URI = keyOfName('uri');
const DECIMALS = keyOfName('decimals');

function governedMaster(kind: GovernedKind, decimals: string | null): NativeJettonMaster {
  const decimalsCell =
    decimals === null ? null : new Builder().storeUint(0, 8).storeBytes(new TextEncoder().encode(decimals)).endCell();
  return {
    kind: 'jetton_master',
    data: ({ data }) => {
      const { total_supply, admin_address, metadata_uri, wallet_code } = loadGovernedMaster(data, kind.withMerkleRoot);
      const jetton_content = governedContent(metadata_uri, decimalsCell);
      return { total_supply, mintable: true, admin_address, jetton_content, jetton_wallet_code: wallet_code };
    },
    walletAddress: ({ address, data }, owner) => {
      const { wallet_code, merkle_root } = loadGovernedMaster(data, kind.withMerkleRoot);
      return kind.walletAddress(owner, address, wallet_code, merkle_root);
    },
  };
}

/**
 * `balance:Grams owner:MsgAddress jetton:MsgAddress`, before it `status:uint4` where there is one, after it
 * `merkle_root:bits256 salt:uint10` of a mintless one. Its code is that of the account.
 */
function governedWallet(kind: GovernedKind): NativeJettonWallet {
  return {
    kind: 'jetton_wallet',
    data: ({ code, data }) => {
      const { balance, owner, jetton } = loadGovernedWallet(kind, data);
      return { balance, owner, jetton, jetton_wallet_code: code };
    },
    isClaimed: ({ data }: NativeAccount) =>
      kind.withMerkleRoot ? (loadGovernedWallet(kind, data).status & 1) === 1 : null,
  };
}

function loadGovernedWallet({ statusBits, withMerkleRoot }: GovernedKind, data: Cell) {
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
const governed: GovernedKind = {
  statusBits: 4,
  withMerkleRoot: false,
  walletAddress: (owner, jetton, code) => {
    const data = new Builder().storeUint(0, 4).storeBuilder(emptyWallet(owner, jetton)).endCell();
    return Address.ofParts(BASECHAIN, stateInitHash(code, data));
  },
};

/** Bits of the address of a wallet that are those of its owner, so that both are in one shard. */
const SHARD_DEPTH = 8;

const sharded: GovernedKind = {
  statusBits: 0,
  withMerkleRoot: false,
  walletAddress: (owner, jetton, code) => {
    const hash = stateInitHash(code, emptyWallet(owner, jetton).endCell(), SHARD_DEPTH).slice();
    hash[0] = owner.hash[0] as number;
    return Address.ofParts(BASECHAIN, hash);
  },
};

/** Salts that are tried to get the first four bits of the address as near to those of the owner as they can be. */
const SALTS = 33;

const mintless: GovernedKind = {
  statusBits: 4,
  withMerkleRoot: true,
  walletAddress: (owner, jetton, code, merkleRoot) => {
    const wanted = (owner.hash[0] as number) >> 4;
    let best = 16;
    let address: Uint8Array = owner.hash;
    for (let salt = 0; salt < SALTS && best > 0; salt++) {
      const wallet = new Builder().storeUint(0, 4).storeBuilder(emptyWallet(owner, jetton)).storeBytes(merkleRoot);
      const hash = stateInitHash(code, wallet.storeUint(salt, 10).endCell());
      const distance = ((hash[0] as number) >> 4) ^ wanted;
      if (distance >= best) continue;
      best = distance;
      address = hash;
    }
    return Address.ofParts(BASECHAIN, address);
  },
};

/** Masters and wallets by the hash of their code, in lower-case hexadecimal. */
export const NATIVE_JETTONS: readonly (readonly [hash: string, contract: NativeContract])[] = [
  ['e0b78e8e9112a385aeb509c98324333a4f9e5cebfacc5042b95c72373c4d7d39', master],
  ['f95ba0330b38cdf3459b1e811e5fc6fa6cfee566d7b764455c0468140365a737', master],
  ['9a0f98dd6fbf225eef8165e4e64417ee931f7eea000653439e7b5dcdc0644cd6', master],
  ['4adf48135cb575adbaed476799c87ff2904269b1f949ada4d0479e9104b6f217', wallet],
  ['beb0683ebeb8927fe9fc8ec0a18bc7dd17899689825a121eab46c5a3a860d0ce', wallet],
  // Notcoin
  ['f83d05490af7c9cc58019488c7b253c9492d49c25d12d09383e52e81537e343a', governedMaster(governed, '9')],
  ['ba2918c8947e9b25af9ac1b883357754173e5812f807a3d6e642a14709595395', governedWallet(governed)],
  // Stablecoins
  ['18d5b6e780ff0bb451254c2c760d09d6e485638cd1407abb97078752c3c1c9ee', governedMaster(governed, '6')],
  ['8f452d7a4dfd74066b682365177259ed05734435be76b5fd4bd5d8af2b7c3d68', governedWallet(governed)],
  // Version 2.0
  ['6eb01cd370f25445b7c9b598928e444009c31737334835a956b90bdd92228895', governedMaster(sharded, '9')],
  ['346250c205f56acfb6afa6fe7b76550805d256c6d8e47dd4f94ff672b47d19d3', governedWallet(sharded)],
  // Mintless (TEP-177)
  ['84d0ae717efd23eecceb3a565e25fc5fb2e066f03bcf3672a7dd69aefa389db2', governedMaster(mintless, null)],
  ['0f1ad3d8a46bd283321dde639195fb72602e9b31b1727fecc25e2edc10966df4', governedWallet(mintless)],
];
