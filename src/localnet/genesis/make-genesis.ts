import { createHash } from 'node:crypto';
import { Address } from '#formats/address/address.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { computeValidatorGroup, validatorConfigOf } from '#formats/proofs/validators.js';
import {
  Account,
  AccountStorage,
  type ShardAccount,
  ShardAccounts,
  type StateInit,
  stateInitOf,
  storageUsed,
} from '#formats/tlb/account.js';
import { MASTERCHAIN, shardIdent, WHOLE_WORKCHAIN } from '#formats/tlb/block-id.js';
import { encodeCell, Lazy } from '#formats/tlb/codec/codec.js';
import { bytesKey, Dictionary } from '#formats/tlb/codec/dictionary.js';
import { type ConfigDictionary, configDictionary } from '#formats/tlb/config/config-params.js';
import { addCurrency, type CurrencyCollection, NO_CURRENCY, onlyGrams } from '#formats/tlb/currency.js';
import { OutMsgQueue, OutMsgQueueInfo, ProcessedInfo } from '#formats/tlb/out-msg-queue.js';
import { ShardHashes } from '#formats/tlb/shard-hashes.js';
import {
  LibDescr,
  McStateExtra,
  McStateInfo,
  OldMcBlocksInfo,
  ShardStateTotals,
  ShardStateUnsplit,
} from '#formats/tlb/shard-state.js';
import { CONFIG_ACCOUNT, ELECTOR_ACCOUNT, forkConfig, localNetworkConfig } from '#localnet/genesis/network-config.js';
import type { Zerostate } from '#localnet/ledger/block-bundle.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import {
  contractCode,
  type FundedWallet,
  fundedWallets,
  signingKey,
  walletContract,
} from '#localnet/wallets/wallet-contract.js';

/** The global id of local networks. */
const LOCAL_GLOBAL_ID = -217;

/** Nanotons in the config contract and in the elector. */
const SYSTEM_BALANCE = 10_000_000_000n;
const NO_BLOCK = 0xffff_ffff;
const SEED_BYTES = 32;
const BASECHAIN = 0;

export interface GenesisOptions {
  /** Unix seconds: the time of the zerostates. */
  readonly now: number;
  /** Generates the keys that are not given. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** int32; {@link LOCAL_GLOBAL_ID} when not given. */
  readonly globalId?: number;
  /** Ed25519 seed of the validator. */
  readonly validatorSeed?: Uint8Array;
  /** Ed25519 seed of the key that may change configuration parameters. */
  readonly configSeed?: Uint8Array;
  /** Logical time of the zerostates: all blocks are later. 0 when omitted. */
  readonly startLt?: bigint;
  /**
   * Root of the complete configuration (`Hashmap 32 ^Cell`) of the network that this one is a fork of. See `forkConfig`
   * for what is taken over.
   */
  readonly config?: Cell;
}

/** Creates the zerostates of a new network; deterministic when the keys are given. @throws fork/bad-config */
export function makeGenesis(options: GenesisOptions): Genesis {
  const { now, randomBytes, globalId = LOCAL_GLOBAL_ID, startLt = 0n } = options;
  const validatorSeed = options.validatorSeed ?? randomBytes(SEED_BYTES);
  const configSeed = options.configSeed ?? randomBytes(SEED_BYTES);
  const wallets = fundedWallets();
  const common = { now, globalId, startLt };

  const accountsOf = (workchain: number) =>
    wallets.filter((wallet) => wallet.address.workchain === workchain).map(walletAccount);
  const basechain = zerostate({ ...common, workchain: BASECHAIN, accounts: accountsOf(BASECHAIN), extra: null });
  const own = localNetworkConfig({
    now,
    validator: signingKey(validatorSeed).publicKey,
    minter: minterOf(wallets).address.hash,
    basechain: basechain.zerostate.id,
  });
  const config = options.config === undefined ? own : configDictionary(forkConfig(options.config, own.root as Cell));
  const accounts = [
    ...accountsOf(MASTERCHAIN),
    systemAccount(CONFIG_ACCOUNT, configContract(config, signingKey(configSeed).publicKey)),
    systemAccount(ELECTOR_ACCOUNT, electorContract()),
  ];
  const masterchain = zerostate({
    ...common,
    workchain: MASTERCHAIN,
    accounts,
    extra: (balance) => masterchainExtra(config, addCurrency(balance, basechain.balance)),
  });
  return { masterchain: masterchain.zerostate, workchains: [basechain.zerostate], validatorSeed, configSeed, wallets };
}

/** The funded wallet of the masterchain. */
function minterOf(wallets: readonly FundedWallet[]): FundedWallet {
  return wallets.find((wallet) => wallet.address.workchain === MASTERCHAIN) as FundedWallet;
}

function walletAccount({ version, address, seed, walletId, balance }: FundedWallet): ZerostateAccount {
  const { publicKey } = signingKey(seed);
  const { init } = walletContract({ version, publicKey, workchain: address.workchain, walletId });
  return { address, balance, init };
}

function systemAccount(account: Uint8Array, init: StateInit): ZerostateAccount {
  return { address: Address.ofParts(MASTERCHAIN, account), balance: SYSTEM_BALANCE, init };
}

/**
 * Stores the configuration in its data, from which nodes read it after each of its transactions; has a tock
 * transaction.
 */
function configContract(config: ConfigDictionary, publicKey: Uint8Array): StateInit {
  // cfg_dict, seqno, public_key, vote_dict
  const data = new Builder()
    .storeRef(config.root as Cell)
    .storeUint(0, 32)
    .storeBytes(publicKey)
    .storeBit(false);
  return {
    ...stateInitOf(contractCode('config-contract'), data.endCell()),
    special: { tick: false, tock: true },
  };
}

/** Has no stakes; has a tick transaction. */
function electorContract(): StateInit {
  // elect, credits, past_elections, grams, active_id, active_hash
  const data = new Builder().storeUint(0, 3).storeUint(0, 4).storeUint(0, 32).storeUint(0, 256);
  return {
    ...stateInitOf(contractCode('elector-contract'), data.endCell()),
    special: { tick: true, tock: false },
  };
}

interface ZerostateParts {
  readonly now: number;
  readonly globalId: number;
  readonly startLt: bigint;
  readonly workchain: number;
  readonly accounts: readonly ZerostateAccount[];
  /** The masterchain part, given the balance of all accounts of the state. */
  readonly extra: ((balance: CurrencyCollection) => McStateExtra) | null;
}

function zerostate(parts: ZerostateParts): { readonly zerostate: Zerostate; readonly balance: CurrencyCollection } {
  const { now, globalId, startLt, workchain, extra } = parts;
  const accounts = ShardAccounts.of(
    parts.accounts.map((account) => [account.address.hash, zerostateAccount(account)] as const),
  );
  const { balance } = accounts.extra;
  const state = encodeCell(ShardStateUnsplit, {
    kind: 'shard_state',
    global_id: globalId,
    shard_id: shardIdent(workchain, WHOLE_WORKCHAIN),
    seq_no: 0,
    vert_seq_no: 0,
    gen_utime: now,
    gen_lt: startLt,
    min_ref_mc_seqno: NO_BLOCK,
    out_msg_queue_info: Lazy.ofValue(OutMsgQueueInfo, {
      out_queue: OutMsgQueue.of([]),
      proc_info: ProcessedInfo.of([]),
      extra: null,
    }),
    before_split: false,
    accounts: Lazy.ofValue(ShardAccounts, accounts),
    totals: Lazy.ofValue(ShardStateTotals, {
      overload_history: 0n,
      underload_history: 0n,
      total_balance: balance,
      total_validator_fees: NO_CURRENCY,
      libraries: noLibraries,
      master_ref: null,
    }),
    custom: extra === null ? null : Lazy.ofValue(McStateExtra, extra(balance)),
  });
  const bytes = serializeBoc(state, BLOCK_FILE);
  const id = {
    workchain,
    shard: WHOLE_WORKCHAIN,
    seqno: 0,
    root_hash: state.hash(),
    file_hash: new Uint8Array(createHash('sha256').update(bytes).digest()),
  };
  return { zerostate: { id, state, bytes }, balance };
}

const noLibraries = Dictionary.of({ key: bytesKey(32), value: LibDescr }, []);

function masterchainExtra(config: ConfigDictionary, globalBalance: CurrencyCollection): McStateExtra {
  const { hash } = computeValidatorGroup(validatorConfigOf(config), MASTERCHAIN_SHARD, 0);
  return {
    shard_hashes: ShardHashes.of([]),
    config: { config_addr: CONFIG_ACCOUNT, config },
    info: Lazy.ofValue(McStateInfo, {
      flags: 0,
      validator_info: { validator_list_hash_short: hash, catchain_seqno: 0, nx_cc_updated: true },
      prev_blocks: OldMcBlocksInfo.of([]),
      after_key_block: true,
      last_key_block: null,
      block_create_stats: null,
    }),
    global_balance: globalBalance,
  };
}

/** An account of the zerostate. */
interface ZerostateAccount {
  readonly address: Address;
  /** Nanotons. */
  readonly balance: bigint;
  readonly init: StateInit;
}

/** The entry in `ShardAccounts`: active, without transactions or storage payments. */
function zerostateAccount({ address, balance, init }: ZerostateAccount): ShardAccount {
  const storage: AccountStorage = {
    last_trans_lt: 0n,
    balance: onlyGrams(balance),
    state: { kind: 'account_active', state_init: init },
  };
  const account: Account = {
    kind: 'account',
    addr: address,
    storage_stat: {
      used: storageUsed(encodeCell(AccountStorage, storage)),
      storage_extra: { kind: 'storage_extra_none' },
      last_paid: 0,
      due_payment: null,
    },
    storage,
  };
  return { account: Lazy.ofValue(Account, account), last_trans_hash: new Uint8Array(32), last_trans_lt: 0n };
}
