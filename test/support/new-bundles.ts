import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { isMasterchain } from '#formats/proofs/block-id.js';
import { signatureSetOf } from '#formats/proofs/block-proof.js';
import { BlockProof } from '#formats/tlb/block-proof.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes.js';
import type { NewBlock, NewBlockBundle } from '#localnet/ledger/block-bundle.js';
import type { Genesis } from '#localnet/ledger/genesis.js';
import { buildChain, type ChainBlock } from '#localnet/replay/recorded-chain.js';
import { type RecordedContent, readFolder, sortContent } from '#localnet/replay/recorded-folder.js';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';

/** A recorded chain, as if it were made just now. */
export interface NewBundles {
  readonly genesis: Genesis;
  /** The one of masterchain block 1 first. */
  readonly bundles: readonly NewBlockBundle[];
}

/** @param to seqno of the last masterchain block; null for all */
export function newBundles(folder: string, to: number | null = null): NewBundles {
  const content = sortContent(readFolder(folder));
  const { zerostates, masterchain, shards } = buildChain(content, to);
  const committed = new Map<number, NewBlock[]>();
  for (const block of shards)
    committed.set(block.mc_seqno, [...(committed.get(block.mc_seqno) ?? []), newBlock(block)]);
  const states = zerostates.map(({ id, bytes, root }) => ({ id, bytes, state: root }));
  const first = states.find(({ id }) => isMasterchain(id))!;
  return {
    genesis: {
      masterchain: first,
      workchains: states.filter((each) => each !== first),
      validatorSeed: new Uint8Array(32).fill(1),
      configSeed: new Uint8Array(32).fill(2),
      wallets: fundedWallets(),
    },
    bundles: masterchain.map((block) => ({
      shards: committed.get(block.mc_seqno) ?? [],
      masterchain: { ...newBlock(block), key_block: block.key_block },
      signatures: signaturesOf(content, block),
    })),
  };
}

function newBlock({ id, bytes, prev, gen_utime, end_lt, state }: ChainBlock): NewBlock {
  return { id, bytes, prev, gen_utime, end_lt, state, root: parseBocRoot(bytes) };
}

function signaturesOf(content: RecordedContent, { id }: ChainBlock) {
  const { bytes } = content.proofs.get(toHex(id.root_hash))!;
  return signatureSetOf(decodeCell(BlockProof, parseBocRoot(bytes)).signatures!.value);
}

/** Calls with a new empty folder, which is gone afterwards. */
export async function inNewFolder<T>(use: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tern-ledger-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
