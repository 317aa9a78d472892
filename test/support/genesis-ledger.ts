import type { Cell } from '#formats/cells/cell.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { isTernError } from '#kernel/tern-error.js';
import { toLiteError } from '#localnet/liteserver/errors.js';
import type { Ledger, LedgerBlock } from '#localnet/liteserver/ledger.js';
import type { LiteContext } from '#localnet/liteserver/lite-handler.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Unix seconds that tests take for now. */
export const NOW = 1_800_000_000;

/** The first nine masterchain blocks of mainnet, with the head at one of them. */
export function genesisLedger(head = 9): ReplayLedger {
  return keptReplay(vectorPath('mainnet-genesis'), { to: 9, head });
}

export function contextOf(ledger: Ledger): LiteContext {
  return { ledger, unixTime: () => NOW };
}

/** Masterchain (or, with 0, basechain) block of a seqno. */
export function blockAt(ledger: Ledger, seqno: number, workchain = -1): LedgerBlock {
  return ledger.lookup({ workchain, shard: 1n << 63n, by: 'seqno', seqno })!;
}

/** The same ledger with other states: what proofs say of them would not hold, what is listed from them does. */
export function withStates(ledger: Ledger, change: (state: ShardStateUnsplit) => ShardStateUnsplit): Ledger {
  const states = new Map<LedgerBlock, Cell>();
  return {
    zerostate: ledger.zerostate,
    get head() {
      return ledger.head;
    },
    block: (id) => ledger.block(id),
    lookup: (query) => ledger.lookup(query),
    hasWorkchain: (workchain) => ledger.hasWorkchain(workchain),
    keyBlockUpTo: (seqno) => ledger.keyBlockUpTo(seqno),
    keyBlockFrom: (seqno) => ledger.keyBlockFrom(seqno),
    zerostateFile: (id) => ledger.zerostateFile(id),
    signatures: (block) => ledger.signatures(block),
    onHead: (listener) => ledger.onHead(listener),
    state: (block) => {
      const known = states.get(block);
      if (known !== undefined) return known;
      const changed = encodeCell(ShardStateUnsplit, change(decodeCell(ShardStateUnsplit, ledger.state(block))));
      states.set(block, changed);
      return changed;
    },
  };
}

/** `code message` of what a client is told, when `run` throws. */
export function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!isTernError(error)) throw error;
    const { code, message } = toLiteError(error);
    return `${code} ${message}`;
  }
  return 'no error';
}

/** An id that no ledger knows. */
export function strangeId(id: BlockId): BlockId {
  return { ...id, root_hash: id.root_hash.map((byte) => byte ^ 0xff) };
}
