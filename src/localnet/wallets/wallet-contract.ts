import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import { encodeCell } from '#formats/tlb/codec/codec.js';
import { StateInit, stateInitOf } from '#formats/tlb/state-init.js';
import { type ContractName, contractCode } from '#localnet/wallets/contract-code.js';
import type { WalletVersion } from '#localnet/wallets/funded-wallets.js';

/** A wallet contract as it is deployed: seqno 0, nothing sent. */
export interface WalletContract {
  readonly version: WalletVersion;
  readonly address: Address;
  readonly init: StateInit;
  /** `wallet_id` of v5 (uint32), `subwallet_id` of the others. */
  readonly walletId: number;
}

/** What tells wallets of one version apart. */
export interface WalletOptions {
  readonly version: WalletVersion;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** 0 when not given. */
  readonly workchain?: number;
  /** As wallet programs have it by default when not given, see {@link defaultWalletId}. */
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
/** What the authors of highload-v3 propose. */
const HIGHLOAD_SUBWALLET = 0x10ad;
/** The global id that wallet programs take for v5 unless told otherwise. */
const MAINNET = -239;

/** Seconds for which a highload wallet remembers queries, and takes them after they were made. */
export const HIGHLOAD_TIMEOUT = 3600;

/** The number that wallet programs give to the first wallet of a key in a workchain. */
export function defaultWalletId(version: WalletVersion, workchain: number): number {
  if (version === 'highload-v3') return HIGHLOAD_SUBWALLET;
  if (version !== 'v5r1') return FIRST_SUBWALLET + workchain;
  // context: a set bit, workchain:int8, wallet version 0 (8 bits), number of the wallet 0 (15 bits); all XOR the global id
  const context = (1 << 31) | ((workchain & 0xff) << 23);
  return (context ^ MAINNET) >>> 0;
}

/** A wallet contract of a key. */
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
