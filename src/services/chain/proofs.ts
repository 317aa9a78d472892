import { type BlockId, isMasterchain, printBlockId, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { type BlockLink, type BlockLinkForward, verifyBlockChain } from '#formats/proofs/block-proof.js';
import { proofsErrors } from '#formats/proofs/errors.js';
import { type ShardBlockLink, verifyShardBlockChain } from '#formats/proofs/shard-block.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import {
  LiteServerGetBlockProof,
  LiteServerGetShardBlockProof,
  type LiteServerPartialBlockProof,
  type LiteServerShardBlockProof,
} from '#formats/tl/lite-api.js';
import { TernError } from '#kernel/tern-error.js';
import type { BlockLookup } from '#services/chain/block-lookup.js';
import { chainErrors } from '#services/chain/errors.js';
import { copyBlockId, expectBlock, needOfBlock, needOfState, type ProvenBlock } from '#services/chain/proven-blocks.js';
import type {
  BlockAt,
  CheckedAnswer,
  ReadAt,
  ReadContext,
  ReadOptions,
  ReadResult,
} from '#services/chain/read-context.js';
import { fromTlBlockLink, type Trust } from '#services/chain/trust.js';

/** A proof of one masterchain block by another. */
export interface BlockProofRead extends ReadResult<readonly LiteServerPartialBlockProof[]> {
  readonly from: BlockId;
  /** The proven block, equal to `block`. */
  readonly to: BlockId;
  readonly links: readonly BlockLink[];
}

/** A proof of a shard block by a masterchain block. */
export interface ShardBlockProofRead extends ReadResult<LiteServerShardBlockProof> {
  /** A masterchain block that commits it. */
  readonly masterchain_block: BlockId;
  /** From the shard top in that masterchain block back to the shard block. */
  readonly links: readonly ShardBlockLink[];
}

/** The validator signatures of a masterchain block. */
export interface SignaturesRead extends ReadResult<readonly LiteServerPartialBlockProof[]> {
  readonly signatures: SignatureSet;
}

export interface BlockProofOptions extends ReadOptions {
  /** Build the proof only from the state of the newer block, so that the answer is deterministic. */
  readonly own_state?: boolean;
}

export interface ProofReaderModules {
  readonly trust: Trust;
  readonly blockIds: BlockLookup;
}

const HAS_TARGET = 1;
const OWN_STATE = 0x1000;

/** Maximum answers per proof, with 16 links each. */
const MAX_ANSWERS = 4096;

/** Reads verified proofs, for callers that check them again or pass them on. */
export class ProofReader {
  readonly #modules: ProofReaderModules;

  constructor(modules: ProofReaderModules) {
    this.#modules = modules;
  }

  /** The links from one masterchain block to another. */
  async blockProof(
    context: ReadContext,
    from: BlockAt,
    to: BlockAt,
    options: BlockProofOptions,
  ): Promise<BlockProofRead> {
    const { blockIds } = this.#modules;
    const source = await blockIds.resolve(context, from);
    const target = await blockIds.resolve(context, to);
    for (const { id } of [source, target]) {
      if (!isMasterchain(id)) throw chainErrors['masterchain-only']({ block: printPosition(id) });
    }
    const mode = HAS_TARGET | (options.own_state === true ? OWN_STATE : 0);
    const { links, answers } = await this.#links(context, source.id, target.id, mode);
    const { id, gen_utime } = target;
    return { block: id, gen_utime, from: source.id, to: id, links, proof: context.proof(answers) };
  }

  async #links(
    context: ReadContext,
    from: BlockId,
    to: BlockId,
    mode: number,
    isSigned = false,
  ): Promise<{ readonly links: readonly BlockLink[]; readonly answers: readonly LiteServerPartialBlockProof[] }> {
    const links: BlockLink[] = [];
    const answers: LiteServerPartialBlockProof[] = [];
    let reached = from;
    for (let step = 0; step < MAX_ANSWERS; step++) {
      const known = reached;
      const { value, answer } = await context.query({
        fn: LiteServerGetBlockProof,
        query: { mode, known_block: blockIdToTl(known), target_block: blockIdToTl(to) },
        need: needBetween(known, to, mode),
        immutable: true,
        verifiedAs: isSigned ? 'signed block proof' : 'block proof',
        verify: (found) => {
          expectBlock(found.from, known);
          const end = copyBlockId(found.to);
          const steps = found.steps.map(fromTlBlockLink);
          verifyBlockChain(known, end, steps);
          if (found.complete) expectBlock(found.to, to);
          else if (steps.length === 0) throw chainErrors['incomplete-answer']({ problem: 'it contains no steps' });
          if (isSigned && found.complete) signedLink(steps, to);
          return { end, steps };
        },
      });
      for (const step of value.steps) links.push(step);
      answers.push(answer);
      reached = value.end;
      if (sameBlock(reached, to)) return { links, answers };
    }
    throw chainErrors['proof-rounds']({ bundles: MAX_ANSWERS, reached: printPosition(reached) });
  }

  /** The validator signatures of a masterchain block. */
  async signatures(context: ReadContext, { at }: ReadAt): Promise<SignaturesRead> {
    const { trust, blockIds } = this.#modules;
    const block = await blockIds.resolveMasterchain(context, at);
    const { id, gen_utime } = block;
    const from = (await trust.before(id.seqno)) ?? (await blockIds.resolve(context, id.seqno - 1)).id;
    const { links, answers } = await this.#links(context, from, id, HAS_TARGET | OWN_STATE, true);
    const { signatures } = signedLink(links, id);
    return { block: id, gen_utime, signatures, proof: context.proof(answers) };
  }

  /** The links from a masterchain block to a shard block. The server chooses the masterchain block. */
  async shardBlockProof(context: ReadContext, { at }: ReadAt): Promise<ShardBlockProofRead> {
    const { blockIds } = this.#modules;
    const block = await blockIds.resolveBlock(context, at);
    const { id, gen_utime } = block;
    const refused: BlockId[] = [];
    for (;;) {
      const { value, answer } = await this.#shardLinks(context, block, refused);
      const { masterchain_block } = value;
      try {
        await blockIds.resolve(context, masterchain_block);
        return { block: id, gen_utime, ...value, proof: context.proof(answer) };
      } catch (error) {
        // A chain from a nonexistent block proves nothing. A server that repeats it fails the verification.
        const invented = error instanceof TernError && error.class === 'not-found';
        if (!invented || refused.length === MAX_REFUSED) throw error;
        refused.push(masterchain_block);
      }
    }
  }

  #shardLinks(
    context: ReadContext,
    block: ProvenBlock,
    refused: readonly BlockId[],
  ): Promise<CheckedAnswer<Pick<ShardBlockProofRead, 'masterchain_block' | 'links'>, LiteServerShardBlockProof>> {
    const { id } = block;
    return context.query({
      fn: LiteServerGetShardBlockProof,
      query: { id: blockIdToTl(id) },
      need: needOfBlock(block),
      verify: (found) => {
        const masterchain_block = copyBlockId(found.masterchain_id);
        if (refused.some((other) => sameBlock(other, masterchain_block))) {
          const expected = 'a masterchain block in the chain';
          throw proofsErrors['other-block']({ expected, found: printBlockId(masterchain_block) });
        }
        const links = found.links.map((link) => ({ id: copyBlockId(link.id), proof: link.proof }));
        verifyShardBlockChain(masterchain_block, id, links);
        return { masterchain_block, links };
      },
    });
  }
}

/** Number of invalid masterchain blocks from servers after which the read of a shard block proof fails. */
const MAX_REFUSED = 4;

/** A forward proof needs blocks at the time of the older end; a backward proof, or OWN_STATE, needs a state. */
function needBetween(from: BlockId, to: BlockId, mode: number) {
  const mc_seqno = Math.max(from.seqno, to.seqno);
  if (from.seqno > to.seqno || (mode & OWN_STATE) !== 0) return needOfState({ id: to, gen_utime: null, mc_seqno });
  return needOfBlock({ id: to, gen_utime: null, mc_seqno: Math.min(from.seqno, to.seqno) });
}

/** The last link of the proof of a block, which has its signatures. @throws chain/incomplete-answer */
function signedLink(links: readonly BlockLink[], to: BlockId): BlockLinkForward {
  const last = links.at(-1);
  if (last?.kind === 'forward') return last;
  throw chainErrors['incomplete-answer']({ problem: `the proof of ${printPosition(to)} contains no signatures` });
}
