import { join } from 'node:path';
import { parseAddress } from '#formats/address/address.js';
import { verifyZerostateFile } from '#formats/proofs/block-header.js';
import { type BlockId, isMasterchain, MASTERCHAIN_SHARD, type Shard } from '#formats/proofs/block-id.js';
import { shardHex } from '#formats/tlb/block-id.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import type { Zerostate } from '#localnet/ledger/block-bundle.js';
import { ledgerErrors } from '#localnet/ledger/errors.js';
import { readNeeded, writeWhole } from '#localnet/ledger/ledger-files.js';
import { currentChain } from '#localnet/ledger/snapshots.js';
import type { FundedWallet } from '#localnet/wallets/wallet-contract.js';

/** The zerostates of a chain, and its keys. */
export interface Genesis {
  readonly masterchain: Zerostate;
  /** The zerostate of each workchain in config parameter 12. */
  readonly workchains: readonly Zerostate[];
  /** Ed25519 seed of the one validator. */
  readonly validatorSeed: Uint8Array;
  /** Ed25519 seed of the key that may change configuration parameters. */
  readonly configSeed: Uint8Array;
  /** Wallets with coins; the first one is the faucet. */
  readonly wallets: readonly FundedWallet[];
  /** Set when the chain is a fork. */
  readonly fork?: ForkOrigin;
}

/** The network and block that a chain is a fork of. */
export interface ForkOrigin {
  /** As named by the user; paths are absolute. */
  readonly source: string;
  /** The masterchain zerostate of that network, which identifies it. */
  readonly zero_state: BlockId;
  /** The masterchain block after which the chain is local. */
  readonly block: BlockId;
}

/** Format version of all files of a chain: increase it with each incompatible change. */
const VERSION = 1;

export const GENESIS_FILE = 'genesis.json';

interface StoredZerostate {
  readonly workchain: number;
  readonly shard: string;
  readonly root_hash: string;
  readonly file_hash: string;
}

interface StoredWallet {
  readonly version: FundedWallet['version'];
  readonly address: string;
  readonly mnemonic: string | null;
  readonly seed: string;
  readonly wallet_id: number;
  readonly balance: string;
}

/** A block of the masterchain. */
interface StoredBlock {
  readonly seqno: number;
  readonly root_hash: string;
  readonly file_hash: string;
}

interface StoredFork {
  readonly source: string;
  readonly zero_state: StoredBlock;
  readonly block: StoredBlock;
}

interface StoredGenesis {
  readonly version: number;
  readonly zerostates: readonly StoredZerostate[];
  readonly validator_seed: string;
  readonly config_seed: string;
  readonly wallets: readonly StoredWallet[];
  readonly fork?: StoredFork;
}

/** File name of a zerostate. */
export function zerostateName({ workchain, shard }: Shard): string {
  return `zerostate_${workchain}_${shardHex(shard)}.boc`;
}

/**
 * Writes `genesis.json` with the keys, and a file for each zerostate.
 * @throws ledger/unwritable
 */
export function writeGenesis(folder: string, genesis: Genesis): void {
  const zerostates = [genesis.masterchain, ...genesis.workchains];
  for (const { id, bytes } of zerostates) writeWhole(join(folder, zerostateName(id)), bytes);
  const stored: StoredGenesis = {
    version: VERSION,
    zerostates: zerostates.map(({ id }) => ({
      workchain: id.workchain,
      shard: shardHex(id.shard),
      root_hash: toHex(id.root_hash),
      file_hash: toHex(id.file_hash),
    })),
    validator_seed: toHex(genesis.validatorSeed),
    config_seed: toHex(genesis.configSeed),
    wallets: genesis.wallets.map(({ version, address, mnemonic, seed, walletId, balance }) => ({
      version,
      address: address.toRaw(),
      mnemonic: mnemonic?.join(' ') ?? null,
      seed: toHex(seed),
      wallet_id: walletId,
      balance: String(balance),
    })),
    ...(genesis.fork === undefined ? {} : { fork: storedFork(genesis.fork) }),
  };
  writeWhole(join(folder, GENESIS_FILE), `${JSON.stringify(stored, null, 2)}\n`);
}

/**
 * Reads the genesis of a chain. @throws ledger/damaged, ledger/missing-file, ledger/other-version, ledger/unreadable
 */
export function readGenesis(folder: string): Genesis {
  const file = join(folder, GENESIS_FILE);
  const stored = readStored(file);
  try {
    const zerostates = stored.zerostates.map((each) => readZerostate(folder, file, each));
    const masterchain = zerostates.find(({ id }) => isMasterchain(id));
    if (masterchain === undefined) throw badFile(file, 'it names no zerostate of the masterchain');
    return {
      masterchain,
      workchains: zerostates.filter((each) => each !== masterchain),
      validatorSeed: bytes32(file, stored.validator_seed),
      configSeed: bytes32(file, stored.config_seed),
      wallets: stored.wallets.map((each) => readWallet(file, each)),
      ...(stored.fork === undefined ? {} : { fork: readFork(file, stored.fork) }),
    };
  } catch (error) {
    if (isTernError(error) && error.code.startsWith('ledger/')) throw error;
    throw badFile(file, error instanceof Error ? error.message : String(error), error);
  }
}

function readStored(file: string): StoredGenesis {
  const text = new TextDecoder().decode(readNeeded(file, 'it says how the chain begins'));
  let stored: unknown;
  try {
    stored = JSON.parse(text);
  } catch (error) {
    throw badFile(file, `it is no JSON (${(error as Error).message})`, error);
  }
  const version = (stored as { readonly version?: unknown } | null)?.version;
  if (typeof version !== 'number') throw badFile(file, 'it has no version');
  if (version !== VERSION) throw ledgerErrors['other-version']({ file, found: String(version), known: VERSION });
  return stored as StoredGenesis;
}

function readZerostate(folder: string, file: string, stored: StoredZerostate): Zerostate {
  const id: BlockId = {
    workchain: stored.workchain,
    shard: BigInt(`0x${stored.shard}`),
    seqno: 0,
    root_hash: bytes32(file, stored.root_hash),
    file_hash: bytes32(file, stored.file_hash),
  };
  const path = join(folder, zerostateName(id));
  const bytes = readNeeded(path, 'the chain begins with this zerostate');
  try {
    return { id, bytes, state: verifyZerostateFile(bytes, id) };
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw badFile(path, error.message, error);
  }
}

function readWallet(file: string, stored: StoredWallet): FundedWallet {
  return {
    version: stored.version,
    address: parseAddress(stored.address).address,
    mnemonic: stored.mnemonic?.split(' ') ?? null,
    seed: bytes32(file, stored.seed),
    walletId: stored.wallet_id,
    balance: BigInt(stored.balance),
  };
}

function storedFork({ source, zero_state, block }: ForkOrigin): StoredFork {
  return { source, zero_state: storedBlock(zero_state), block: storedBlock(block) };
}

function storedBlock({ seqno, root_hash, file_hash }: BlockId): StoredBlock {
  return { seqno, root_hash: toHex(root_hash), file_hash: toHex(file_hash) };
}

function readFork(file: string, { source, zero_state, block }: StoredFork): ForkOrigin {
  if (typeof source !== 'string') throw badFile(file, 'it does not name the network that it is a fork of');
  return { source, zero_state: readBlock(file, zero_state), block: readBlock(file, block) };
}

function readBlock(file: string, { seqno, root_hash, file_hash }: StoredBlock): BlockId {
  return { ...MASTERCHAIN_SHARD, seqno, root_hash: bytes32(file, root_hash), file_hash: bytes32(file, file_hash) };
}

function bytes32(file: string, hex: string): Uint8Array {
  const bytes = fromHex(hex);
  if (bytes?.length !== 32) throw badFile(file, `${hex} is not 32 bytes in hex`);
  return bytes;
}

function badFile(file: string, problem: string, cause?: unknown): Error {
  return ledgerErrors.damaged({ file, offset: 0, problem }, cause);
}

/** What a stored chain started from. */
export interface ChainOrigin {
  /** `null` when it is not a fork. */
  readonly fork: ForkOrigin | null;
}

/**
 * What the chain in a folder started from; `null` when there is no chain.
 * @throws ledger/damaged, ledger/missing-file, ledger/other-version, ledger/unreadable
 */
export function chainOrigin(folder: string): ChainOrigin | null {
  const chain = currentChain(folder);
  return chain === null ? null : { fork: readGenesis(chain.path).fork ?? null };
}
