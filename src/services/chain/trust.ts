import type { LiteSource } from '#drivers/lite/lite-source.js';
import { type BlockHeader, stateHash, verifyBlockHeader } from '#formats/proofs/block-header.js';
import { type BlockId, MASTERCHAIN_SHARD, printBlockId, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { type BlockLink, type ProvenChain, verifyBlockChain } from '#formats/proofs/block-proof.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import {
  type LiteServerBlockLink,
  LiteServerGetBlockHeader,
  LiteServerGetBlockProof,
  type LiteServerPartialBlockProof,
  type LiteServerSignatureSet,
} from '#formats/tl/lite-api.js';
import { type Clock, pause } from '#kernel/clock.js';
import type { Logger } from '#kernel/logger.js';
import type { TernError } from '#kernel/tern-error.js';
import { chainErrors } from '#services/chain/errors.js';
import type { KeyBlockStore } from '#services/chain/key-blocks.js';
import {
  copyBlockId,
  expectBlock,
  lookupFrom,
  type ProvenBlock,
  type ProvenBlocks,
} from '#services/chain/proven-blocks.js';
import { type CheckedAnswer, isServersFailure, type ReadContext } from '#services/chain/read-context.js';

/** The newest proven masterchain block. */
export interface TrustedHead extends ProvenBlock {
  /** 0 for a zerostate. */
  readonly end_lt: bigint;
  /** `null` for a zerostate. */
  readonly header: BlockHeader | null;
  /** Hash of the state after it. */
  readonly state_hash: Uint8Array;
}

export interface TrustOptions {
  readonly zero_state: BlockId;
  readonly init_block: BlockId;
  readonly headMaxAgeMs: number;
}

export interface TrustModules {
  readonly source: LiteSource;
  readonly clock: Clock;
  readonly keyBlocks: KeyBlockStore;
  readonly proven: ProvenBlocks;
  readonly logger: Logger;
}

/** How long the proof of a newer block is waited for while the known one is not old. */
const PROOF_WAIT_MS = 30;

/** After `headMaxAgeMs`, the known block is used for so long while servers are slow. */
const GRACE_MS = 3_000;

/** Mode bit of a header: with the hashes of the state. */
const WITH_STATE_UPDATE = 1;

/** Maximum answers to prove one block: with 16 links each they cover 65,536 key blocks. */
const MAX_ANSWERS = 4096;

/**
 * The trusted blocks: the configured blocks, all key blocks proven from them, and the newest block, proven from the last key
 * block by validator signatures.
 */
export class Trust {
  readonly #options: TrustOptions;
  readonly #modules: TrustModules;
  /** The configured block, then key blocks, each proven from the previous one. */
  #chain: BlockId[] | null = null;
  #loading: Promise<void> | null = null;
  #head: TrustedHead | null = null;
  #headSince = 0;
  /** Since when a newer block is to be proven; `null`: none is. */
  #dueSince: number | null = null;
  /** Proofs of the newest block under way, without those that wait for one that no server has. */
  #proofs = 0;
  /** What a server was refused for since the head was proven last; `null`: nothing. */
  #contradiction: TernError | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: TrustOptions, modules: TrustModules) {
    this.#options = options;
    this.#modules = modules;
  }

  /** The masterchain zerostate, which identifies the network. */
  get zerostate(): BlockId {
    return this.#options.zero_state;
  }

  /** The newest known block; `null` before the first read. */
  get known(): TrustedHead | null {
    return this.#head;
  }

  /**
   * The newest masterchain block: the known one while it is recent and no server claims a newer one. Otherwise a newer one is
   * proven. When servers take longer for that than {@link PROOF_WAIT_MS}, clients get the known one meanwhile, and do not wait.
   */
  async newest(context: ReadContext): Promise<TrustedHead> {
    const { source, clock } = this.#modules;
    const head = this.#head;
    if (head === null) return this.catchUp(context);
    const now = clock.now();
    const late = now - this.#headSince - this.#options.headMaxAgeMs;
    if (late <= 0 && source.headSeqno <= head.id.seqno) return head;
    if (late > GRACE_MS || context.client === undefined) return this.catchUp(context);
    this.#dueSince ??= now;
    const left = this.#dueSince + PROOF_WAIT_MS - now;
    if (left <= 0 && this.#proofs > 0) return head;
    const ended = new AbortController();
    const proof = this.catchUp(context).finally(() => ended.abort());
    // Whoever does not wait for it is not concerned by how it ends.
    proof.catch(() => {});
    await pause(left, clock, ended.signal);
    return ended.signal.aborted ? proof : head;
  }

  /**
   * Proves the newest block of a server from the last key block, and that it descends from the known head. The head never moves
   * back, nor to another branch: validators may have signed both.
   *
   * @param waitSeqno wait until a server has this block
   * @throws chain/other-branch when no server is on the branch of the known head
   */
  async catchUp(context: ReadContext, waitSeqno?: number): Promise<TrustedHead> {
    const counted = waitSeqno === undefined ? 1 : 0;
    this.#proofs += counted;
    try {
      return await this.#catchUp(context, waitSeqno);
    } catch (error) {
      if (this.#contradiction !== null && isServersFailure(error)) throw this.#contradiction;
      throw error;
    } finally {
      this.#proofs -= counted;
    }
  }

  async #catchUp(context: ReadContext, waitSeqno: number | undefined): Promise<TrustedHead> {
    const chain = await this.#loaded();
    const before = this.#head;
    let known = chain.at(-1)!;
    const proven: ProvenChain[] = [];
    for (let step = 0; step < MAX_ANSWERS; step++) {
      const { value } = await this.#step(context, known, waitSeqno);
      proven.push(value.chain);
      known = value.chain.to;
      if (!value.complete) continue;
      // Nothing is learnt from a server that is behind: its block is not proven to be on the branch of the head.
      if (before !== null && known.seqno < before.id.seqno) return this.#head ?? before;
      const head = await this.#headOf(context, known);
      if (before !== null) await this.#requireDescent(context, head, before);
      for (const each of proven) this.#learn(each);
      return this.#advance(head);
    }
    throw chainErrors['proof-rounds']({ bundles: MAX_ANSWERS, reached: printPosition(known) });
  }

  /**
   * Proves that a block descends from the known head: its header names it, or its state lists it. A server that gives another one
   * is on another branch.
   */
  async #requireDescent(context: ReadContext, { id, header }: TrustedHead, before: TrustedHead): Promise<void> {
    // The parent was compared when the header was verified.
    if (id.seqno <= before.id.seqno + 1 && header !== null) return;
    if (before.id.seqno === 0) return;
    await context.query({
      ...lookupFrom(id, { ...MASTERCHAIN_SHARD, by: 'seqno', seqno: before.id.seqno }, ({ header: found }) =>
        this.#requireKnown(found.id, before.id),
      ),
      need: { kind: 'block', seqno: id.seqno },
      isUrgent: true,
      verifiedAs: `ancestor ${printBlockId(before.id)}`,
    });
  }

  /** @throws chain/other-branch */
  #requireKnown(found: BlockId, known: BlockId): void {
    if (sameBlock(found, known)) return;
    this.#contradiction = chainErrors['other-branch']({ known: printBlockId(known), found: printBlockId(found) });
    throw this.#contradiction;
  }

  /** Compares the blocks of a verified chain with those proven before. @throws chain/other-branch */
  #requireSameBranch({ links, to }: ProvenChain): void {
    const { proven } = this.#modules;
    for (const id of [...links.map((link) => link.to), to]) {
      const known = proven.get(id);
      if (known !== null) this.#requireKnown(id, known.id);
    }
    const header = links.at(-1)?.header ?? null;
    if (header !== null && sameBlock(header.id, to)) this.#requireParent(header);
  }

  /** Compares the block before a block with the known head. @throws chain/other-branch */
  #requireParent({ prev }: BlockHeader): void {
    const head = this.#head?.id;
    for (const id of prev) if (id.seqno === head?.seqno) this.#requireKnown(id, head);
  }

  #step(
    context: ReadContext,
    known: BlockId,
    waitSeqno: number | undefined,
  ): Promise<CheckedAnswer<{ readonly chain: ProvenChain; readonly complete: boolean }, LiteServerPartialBlockProof>> {
    const head = this.#head;
    return context.query({
      fn: LiteServerGetBlockProof,
      query: { mode: 0, known_block: blockIdToTl(known), target_block: null },
      need: { kind: 'head' },
      isUrgent: true,
      verify: (answer) => {
        expectBlock(answer.from, known);
        const { complete, steps } = answer;
        if (!complete && steps.length === 0)
          throw chainErrors['incomplete-answer']({ problem: 'it contains no steps' });
        const chain = verifyBlockChain(known, copyBlockId(answer.to), steps.map(fromTlBlockLink));
        this.#requireSameBranch(chain);
        return { chain, complete };
      },
      headOf: ({ chain, complete }) => (complete ? chain.to.seqno : null),
      verifiedAs: `newest block after ${head === null ? 'none' : printBlockId(head.id)}`,
      ...(waitSeqno === undefined ? {} : { waitSeqno }),
    });
  }

  async #headOf(context: ReadContext, id: BlockId): Promise<TrustedHead> {
    if (id.seqno === 0) {
      return { id, gen_utime: null, mc_seqno: 0, end_lt: 0n, header: null, state_hash: id.root_hash };
    }
    const { header, state_hash } = await this.#header(context, id);
    const { gen_utime, end_lt } = header.info;
    return { id, gen_utime, mc_seqno: id.seqno, end_lt, header, state_hash };
  }

  async #header(
    context: ReadContext,
    id: BlockId,
  ): Promise<{ readonly header: BlockHeader; readonly state_hash: Uint8Array }> {
    const { value } = await context.query({
      fn: LiteServerGetBlockHeader,
      query: { id: blockIdToTl(id), mode: WITH_STATE_UPDATE },
      need: { kind: 'block', seqno: id.seqno },
      isUrgent: true,
      immutable: true,
      verifiedAs: 'newest header',
      verify: (answer) => {
        expectBlock(answer.id, id);
        const header = verifyBlockHeader(answer.header_proof, id);
        this.#requireParent(header);
        return { header, state_hash: stateHash(header).slice() };
      },
    });
    return value;
  }

  #advance(found: TrustedHead): TrustedHead {
    this.#modules.proven.add(found);
    if (this.#head === null || found.id.seqno >= this.#head.id.seqno) {
      this.#head = found;
      this.#headSince = this.#modules.clock.now();
      this.#dueSince = null;
      this.#contradiction = null;
    }
    return this.#head;
  }

  /** Records the blocks of a verified chain, and its new key blocks. */
  #learn({ links }: ProvenChain): void {
    const chain = this.#chain!;
    const fresh: BlockId[] = [];
    for (const { to, to_key_block, header } of links) {
      this.#modules.proven.add({ id: to, gen_utime: header?.info.gen_utime ?? null, mc_seqno: to.seqno });
      if (!to_key_block || to.seqno <= chain.at(-1)!.seqno) continue;
      chain.push(to);
      fresh.push(to);
    }
    const { keyBlocks } = this.#modules;
    if (fresh.length > 0) this.#writing = this.#writing.then(() => this.#store(() => keyBlocks.append(fresh)));
  }

  async #store(write: () => Promise<void>): Promise<void> {
    const { logger } = this.#modules;
    try {
      await write();
    } catch (error) {
      logger.warn('proven key blocks could not be stored; the next run will prove them again', {
        error: String(error),
      });
    }
  }

  /**
   * The newest trusted block before a masterchain block, from which its signatures can be requested; `null` when the block
   * is older than all trusted blocks.
   */
  async before(seqno: number): Promise<BlockId | null> {
    return (await this.#loaded()).findLast((block) => block.seqno < seqno) ?? null;
  }

  /** The configured block and all trusted key blocks. */
  async keyBlocks(): Promise<readonly BlockId[]> {
    return this.#loaded();
  }

  async #loaded(): Promise<BlockId[]> {
    if (this.#chain === null) {
      this.#loading ??= this.#load();
      try {
        await this.#loading;
      } finally {
        this.#loading = null;
      }
    }
    return this.#chain!;
  }

  async #load(): Promise<void> {
    const { zero_state, init_block } = this.#options;
    const { proven, keyBlocks } = this.#modules;
    this.#chain = [init_block, ...(await this.#since(init_block, await keyBlocks.load()))];
    for (const id of [zero_state, ...this.#chain]) proven.add({ id, gen_utime: null, mc_seqno: id.seqno });
  }

  /**
   * The stored key blocks after the configured block. If earlier runs proved past its position without it, a hard fork has
   * replaced that chain, and the stored key blocks are discarded.
   */
  async #since(init_block: BlockId, stored: readonly BlockId[]): Promise<readonly BlockId[]> {
    const at = stored.findIndex(({ seqno }) => seqno >= init_block.seqno);
    const newer = at < 0 ? [] : stored.slice(at);
    const [first] = newer;
    if (first !== undefined && sameBlock(first, init_block)) return newer.slice(1);
    const isBefore = at === 0 && first!.seqno > init_block.seqno;
    if (stored.length === 0 || isBefore) return newer;
    const { keyBlocks } = this.#modules;
    if (at < 0) await this.#store(() => keyBlocks.append([init_block]));
    else await this.#store(() => keyBlocks.replace([...stored.slice(0, at), init_block]));
    return [];
  }

  /** Waits until key blocks are on disk. */
  async close(): Promise<void> {
    await this.#writing;
  }
}

/** The newest masterchain block. Proven to be in the chain; that it is the newest is claimed by servers. */
export interface ChainHead {
  readonly block: BlockId;
  /** Unix seconds; `null` for the zerostate. */
  readonly gen_utime: number | null;
  readonly end_lt: bigint;
  /** `null` for the zerostate. */
  readonly header: BlockHeader | null;
  /** Hash of the state after the block. */
  readonly state_hash: Uint8Array;
}

export interface HeadReaderModules {
  readonly trust: Trust;
  readonly clock: Clock;
}

/** Servers refuse to wait for a block further ahead. */
const MAX_AHEAD = 100;

/** Minimum interval of unsuccessful waits, in case servers do not actually wait. */
const PAUSE_MS = 100;

/** Reads the newest block. */
export class HeadReader {
  readonly #modules: HeadReaderModules;

  constructor(modules: HeadReaderModules) {
    this.#modules = modules;
  }

  async head(context: ReadContext): Promise<ChainHead> {
    return chainHead(await this.#modules.trust.newest(context));
  }

  /** Waits until the newest block has at least this seqno, and returns it. @throws chain/deadline */
  async waitFor(context: ReadContext, seqno: number): Promise<ChainHead> {
    const { trust, clock } = this.#modules;
    for (;;) {
      const { known } = trust;
      if (known !== null && known.id.seqno >= seqno) return chainHead(known);
      const startedAt = clock.now();
      let reached = -1;
      try {
        reached = (await trust.catchUp(context, Math.min(seqno, (known?.id.seqno ?? 0) + MAX_AHEAD))).id.seqno;
      } catch (error) {
        if (!isServersFailure(error)) throw error;
      }
      if (reached <= (known?.id.seqno ?? -1))
        await this.#pause(Math.min(startedAt + PAUSE_MS - clock.now(), context.remainingMs()));
    }
  }

  async #pause(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => void this.#modules.clock.schedule(ms, resolve));
  }
}

function chainHead({ id, gen_utime, end_lt, header, state_hash }: TrustedHead): ChainHead {
  return { block: id, gen_utime, end_lt, header, state_hash };
}

/** Converts a `liteServer.BlockLink` of a block proof. */
export function fromTlBlockLink(link: LiteServerBlockLink): BlockLink {
  const { to_key_block, dest_proof } = link;
  const base = { to_key_block, from: copyBlockId(link.from), to: copyBlockId(link.to), dest_proof };
  if (link.kind === 'liteServer.blockLinkBack') {
    return { kind: 'back', ...base, proof: link.proof, state_proof: link.state_proof };
  }
  return {
    kind: 'forward',
    ...base,
    config_proof: link.config_proof,
    signatures: fromTlSignatureSet(link.signatures),
  };
}

/** Converts a `liteServer.SignatureSet` with unsigned numbers. */
function fromTlSignatureSet(set: LiteServerSignatureSet): SignatureSet {
  const validator_set_hash = set.validator_set_hash >>> 0;
  const { signatures } = set;
  if (set.kind === 'liteServer.signatureSet.ordinary') {
    return { kind: 'ordinary', validator_set_hash, catchain_seqno: set.catchain_seqno >>> 0, signatures };
  }
  const { session_id, slot, candidate } = set;
  const catchain_seqno = set.cc_seqno >>> 0;
  return { kind: 'simplex', validator_set_hash, catchain_seqno, signatures, session_id, slot, candidate };
}
