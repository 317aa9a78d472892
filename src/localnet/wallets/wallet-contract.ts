import { createHmac, createPrivateKey, createPublicKey, type KeyObject, pbkdf2Sync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { StateInit, stateInitOf } from '#formats/tlb/account.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { fromHex } from '#kernel/bytes.js';
import { walletsErrors } from '#localnet/wallets/errors.js';

/** A wallet contract as it is deployed: seqno 0, nothing sent. */
export interface WalletContract {
  readonly version: WalletVersion;
  readonly address: Address;
  readonly init: StateInit;
  /** `wallet_id` of v5 (uint32), `subwallet_id` of the others. */
  readonly walletId: number;
}

/** Parameters of a wallet contract. */
export interface WalletOptions {
  readonly version: WalletVersion;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 0 when omitted. */
  readonly workchain?: number;
  /** The default of wallet programs when omitted, see {@link defaultWalletId}. */
  readonly walletId?: number;
}

const CODE: Readonly<Record<WalletVersion, ContractName>> = {
  v3r2: 'wallet-v3r2',
  v4r2: 'wallet-v4r2',
  v5r1: 'wallet-v5r1',
  'highload-v3': 'highload-wallet-v3',
};

/** `subwallet_id` of v3 and v4 in the basechain: the first bytes of a zerostate's hash of mainnet. */
const FIRST_SUBWALLET = 698983191;
/** Proposed by the authors of highload-v3. */
const HIGHLOAD_SUBWALLET = 0x10ad;
/** The global id that wallet programs use for v5 by default. */
const MAINNET = -239;

/** Seconds for which a highload wallet remembers queries and accepts them after their creation. */
export const HIGHLOAD_TIMEOUT = 3600;

/** The default wallet id of a key in a workchain. */
function defaultWalletId(version: WalletVersion, workchain: number): number {
  if (version === 'highload-v3') return HIGHLOAD_SUBWALLET;
  if (version !== 'v5r1') return FIRST_SUBWALLET + workchain;
  // context: a set bit, workchain:int8, wallet version 0 (8 bits), number of the wallet 0 (15 bits); all XOR the global id
  const context = (1 << 31) | ((workchain & 0xff) << 23);
  return (context ^ MAINNET) >>> 0;
}

/** The wallet contract of a key. */
export function walletContract(options: WalletOptions): WalletContract {
  const { version, publicKey, workchain = 0, walletId = defaultWalletId(version, workchain) } = options;
  const init = stateInitOf(contractCode(CODE[version]), initialData(version, walletId, publicKey).endCell());
  const address = Address.ofParts(workchain, encodeCell(StateInit, init).hash());
  return { version, address, init, walletId };
}

function initialData(version: WalletVersion, walletId: number, publicKey: Uint8Array): Builder {
  const data = new Builder();
  switch (version) {
    case 'v3r2': // seqno, subwallet_id, public_key
      return data.storeUint(0, 32).storeUint(walletId, 32).storeBytes(publicKey);
    case 'v4r2': // the same, plugins
      return data.storeUint(0, 32).storeUint(walletId, 32).storeBytes(publicKey).storeBit(false);
    case 'v5r1': // is_signature_allowed, seqno, wallet_id, public_key, extensions
      return data.storeBit(true).storeUint(0, 32).storeUint(walletId, 32).storeBytes(publicKey).storeBit(false);
    case 'highload-v3': // public_key, subwallet_id, old_queries, queries, last_clean_time, timeout
      return data
        .storeBytes(publicKey)
        .storeUint(walletId, 32)
        .storeBit(false)
        .storeBit(false)
        .storeUint(0, 64)
        .storeUint(HIGHLOAD_TIMEOUT, 22);
  }
}

/** Wallet versions, named as in @ton/ton. */
export type WalletVersion = 'v3r2' | 'v4r2' | 'v5r1' | 'highload-v3';

/** A wallet with coins in the zerostate. Its key is public: it is the same in every local network. */
export interface FundedWallet {
  readonly version: WalletVersion;
  readonly address: Address;
  /** 24 mnemonic words; `null` for the faucet. */
  readonly mnemonic: readonly string[] | null;
  /** Ed25519 seed, 32 bytes. */
  readonly seed: Uint8Array;
  /** `wallet_id` of v5, `subwallet_id` of the others. */
  readonly walletId: number;
  /** Nanotons in the zerostate. */
  readonly balance: bigint;
}

/** Nanotons of all accounts together in the zerostates. */
export const TOTAL_SUPPLY = 5_000_000_000_000_000_000n;
/** Nanotons in each wallet but the faucet. */
export const WALLET_BALANCE = 1_000_000_000_000_000n;

/** An entry of `data/localnet/wallets.json`; the seed can be derived from the mnemonic, but that is slow. */
interface StoredWallet {
  readonly version: WalletVersion;
  readonly workchain: number;
  readonly mnemonic: string | null;
  readonly seed: string;
}

let known: readonly FundedWallet[] | null = null;

/**
 * The wallets of all local networks: the faucet, a highload-v3 with nearly all coins; two each of v3r2, v4r2 and v5r1;
 * and a v3r2 in the masterchain that extra currencies are minted to.
 */
export function fundedWallets(): readonly FundedWallet[] {
  known ??= readWallets();
  return known;
}

function readWallets(): readonly FundedWallet[] {
  const file = new URL('../../../data/localnet/wallets.json', import.meta.url);
  const stored = JSON.parse(readFileSync(file, 'utf8')) as readonly StoredWallet[];
  const ofFaucet = TOTAL_SUPPLY - WALLET_BALANCE * BigInt(stored.length - 1);
  return stored.map(({ version, workchain, mnemonic, seed: hex }) => {
    const seed = fromHex(hex) as Uint8Array;
    const { address, walletId } = walletContract({ version, workchain, publicKey: signingKey(seed).publicKey });
    const balance = mnemonic === null ? ofFaucet : WALLET_BALANCE;
    return { version, address, mnemonic: mnemonic?.split(' ') ?? null, seed, walletId, balance };
  });
}

/** Contracts whose code is included, by file name. */
export type ContractName =
  | 'wallet-v3r2'
  | 'wallet-v4r2'
  | 'wallet-v5r1'
  | 'highload-wallet-v3'
  | 'dns-root'
  | 'dns-collection'
  | 'dns-item'
  | 'multisig'
  | 'multisig-order'
  | 'config-contract'
  | 'elector-contract';

const loaded = new Map<ContractName, Cell>();

/** The code of a contract of `data/localnet`; read once. */
export function contractCode(name: ContractName): Cell {
  let code = loaded.get(name);
  if (code === undefined) {
    const file = new URL(`../../../data/localnet/${name}.boc`, import.meta.url);
    code = parseBocRoot(new Uint8Array(readFileSync(file)));
    loaded.set(name, code);
  }
  return code;
}

/** Prefix of the 32-byte seed in a PKCS #8 Ed25519 key. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const SEED_BYTES = 32;

/** An Ed25519 key. */
export interface SigningKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The signature of bytes, 64 bytes. */
  sign(data: Uint8Array): Uint8Array;
}

/** The key that is made from a seed of 32 bytes. @throws wallets/seed-length */
export function signingKey(seed: Uint8Array): SigningKey {
  const key = privateKey(seed);
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(-SEED_BYTES)),
    sign: (data) => new Uint8Array(sign(null, data, key)),
  };
}

function privateKey(seed: Uint8Array): KeyObject {
  if (seed.length !== SEED_BYTES) throw walletsErrors['seed-length']({ length: seed.length });
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

const PBKDF2_ITERATIONS = 100_000;
/** A mnemonic is valid when this many iterations give a hash that starts with a zero byte. */
const CHECK_ITERATIONS = Math.floor(PBKDF2_ITERATIONS / 256);
const HASH_BYTES = 64;

/**
 * Derives the Ed25519 seed, 32 bytes, from a mnemonic without password. Takes some tenths of a second.
 * @throws wallets/not-a-mnemonic
 */
export function seedOfMnemonic(words: readonly string[]): Uint8Array {
  const entropy = createHmac('sha512', words.join(' ')).update('').digest();
  const check = pbkdf2Sync(entropy, 'TON seed version', CHECK_ITERATIONS, HASH_BYTES, 'sha512');
  if (check[0] !== 0) throw walletsErrors['not-a-mnemonic']({ words: words.length });
  return new Uint8Array(
    pbkdf2Sync(entropy, 'TON default seed', PBKDF2_ITERATIONS, HASH_BYTES, 'sha512').subarray(0, 32),
  );
}
