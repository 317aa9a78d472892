import type { ForkSpec } from '#app/config/fork-spec.js';
import { absoluteSource, type ForkRemote, openForkRemote } from '#app/service/fork-remote.js';
import type { Surroundings } from '#app/service/surroundings.js';
import { type BlockId, printPosition, sameBlock } from '#formats/proofs/block-id.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { ChainFork, readForkStart } from '#localnet/fork/chain-fork.js';
import { forkErrors } from '#localnet/fork/errors.js';
import { ForkAnswers } from '#localnet/fork/fork-answers.js';
import type { ForkQuestions, ForkStart } from '#localnet/fork/fork-source.js';
import { LateFork } from '#localnet/fork/late-fork.js';
import type { ChainOrigin } from '#localnet/ledger/chain-origin.js';
import type { ForkOrigin } from '#localnet/ledger/genesis.js';

export interface ForkOptions {
  /** What is to be forked; null when nothing was said. */
  readonly given: ForkSpec | null;
  /** Where the local chain is kept. */
  readonly folder: string;
  /** What the chain there began from; null where it is to begin. */
  readonly chain: ChainOrigin | null;
  /** For proven key blocks of the forked network. */
  readonly dataFolder: string;
}

/** The network that a local one is a fork of. */
export interface OpenFork {
  readonly origin: ForkOrigin;
  /** How the local chain is to begin; null where it goes on. */
  readonly start: ForkStart | null;
  /** To be answered for the local node. */
  readonly questions: ForkQuestions;
  close(): Promise<void>;
}

/** At a start that does not need the other network, it has so long until a warning says that it cannot be read. */
const LOOK_MS = 30_000;

/**
 * Opens what a local chain is a fork of: what is named where it begins, and afterwards what it began from. Only a chain
 * that begins needs the other network at once.
 *
 * @returns null for a chain that stands alone
 * @throws fork/other-origin; where it begins also fork/no-start, fork/bad-block, and as `openForkRemote`
 */
export async function openFork(options: ForkOptions, modules: Surroundings): Promise<OpenFork | null> {
  const { given, folder, chain, dataFolder } = options;
  const open = (source: string) => openForkRemote(source, dataFolder, modules);
  if (chain === null) return given === null ? null : begin(given, open);
  const { fork } = chain;
  if (given === null) return fork === null ? null : goOn(fork, fork.source, open, modules);
  const wanted = `a fork of ${nameOf(given)}`;
  if (fork === null) throw forkErrors['other-origin']({ folder, has: 'stands alone', wanted });
  const has = `is a fork of ${fork.source}, block ${fork.block.seqno}`;
  const differs = forkErrors['other-origin']({ folder, has, wanted });
  if (given.seqno !== null && given.seqno !== fork.block.seqno) throw differs;
  const source = absoluteSource(given.source);
  if (source !== fork.source) {
    const remote = await open(source);
    await remote.close();
    if (!sameBlock(remote.zero_state, fork.zero_state)) throw differs;
  }
  return goOn(fork, source, open, modules);
}

type Open = (source: string) => Promise<ForkRemote>;

async function begin(given: ForkSpec, open: Open): Promise<OpenFork> {
  const source = absoluteSource(given.source);
  const remote = await open(source);
  try {
    const start = await readForkStart(remote.chain, given.seqno, given.source);
    const origin = { source, zero_state: remote.zero_state, block: start.block };
    const questions = new ForkAnswers(new ChainFork({ block: start.block, source }, remote.chain));
    return { origin, start, questions, close: () => remote.close() };
  } catch (error) {
    await remote.close();
    throw error;
  }
}

function goOn(origin: ForkOrigin, source: string, open: Open, { logger }: Surroundings): OpenFork {
  const { block, zero_state } = origin;
  let remote: ForkRemote | null = null;
  let isClosed = false;
  const late = new LateFork({ block, source }, async () => {
    const opened = await open(source);
    if (isClosed || !sameBlock(opened.zero_state, zero_state)) {
      await opened.close();
      throw forkErrors['no-start']({ source, problem: isClosed ? 'it was closed' : 'it is another network now' });
    }
    remote = opened;
    return opened.chain;
  });
  const looking = look(late, block).catch((error: unknown) => {
    if (!isClosed) {
      logger.warn(
        'the forked network cannot be read now: accounts that were not touched before cannot be brought here',
        {
          source,
          block: printPosition(block),
          problem: isTernError(error) ? error.message : String(error),
        },
      );
    }
  });
  return {
    origin,
    start: null,
    questions: new ForkAnswers(late),
    close: async () => {
      isClosed = true;
      await remote?.close();
      await looking;
    },
  };
}

/** Sees whether the block is still there. */
async function look(late: LateFork, block: BlockId): Promise<void> {
  const chain = await late.opened();
  await chain.header({ at: block, deadlineMs: LOOK_MS });
}

function nameOf({ source, seqno }: ForkSpec): string {
  return seqno === null ? source : `${source}@${seqno}`;
}
