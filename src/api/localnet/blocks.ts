import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { MinedAnswer, minedJson, StatusAnswer, statusJson } from '#api/localnet/answers.js';
import { LONG_OPERATION_MS, type LocalnetContext, localnetEndpoint, onceVisible } from '#api/localnet/context.js';
import { paramsOf, shardParameters } from '#api/localnet/parameters.js';
import { LAST_SECOND } from '#localnet/node/network-time.js';

const TAG = 'Blocks and time';
const POST = ['POST'] as const;

const MOST_BLOCKS = 10_000;

/** Ten years of 365 days. */
const MOST_SECONDS = 10 * 365 * 86_400;

const LEAST_BLOCK_TIME_MS = 50;
const MOST_BLOCK_TIME_MS = 3_600_000;

const mine = localnetEndpoint({
  name: 'mine',
  verbs: POST,
  tag: TAG,
  summary: 'Produces blocks at once',
  description:
    'Produces masterchain blocks, with a block of each shard, without waiting for the block time; also while paused.',
  params: paramsOf({
    blocks: Type.Optional(
      Type.Integer({ description: `How many, 1 to ${MOST_BLOCKS}.`, default: 1, minimum: 1, maximum: MOST_BLOCKS }),
    ),
  }),
  result: MinedAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ blocks = 1 }, context) => minedJson(await onceVisible(context.node.mine(blocks), context)),
});

/** Pausing and resuming block production. */
function pausing(name: 'pause' | 'resume', paused: boolean, summary: string, description: string) {
  return localnetEndpoint({
    name,
    verbs: POST,
    tag: TAG,
    summary,
    description,
    params: paramsOf({}),
    result: StatusAnswer,
    statuses: [],
    freshness: 'none',
    handle: async (_, { node }) => {
      await node.setPaused(paused);
      return statusJson(await node.status());
    },
  });
}

const pause = pausing(
  'pause',
  true,
  'Pauses block production',
  'From now on only methods of this API produce blocks. Sent messages wait.',
);

const resume = pausing('resume', false, 'Resumes block production', 'Ends a pause; without one it does nothing.');

const blockTime = localnetEndpoint({
  name: 'block-time',
  schemaName: 'BlockTime',
  verbs: POST,
  tag: TAG,
  summary: 'Produces blocks steadily',
  description: 'Produces a masterchain block each so many milliseconds from now on (`mining` becomes `steady`).',
  params: paramsOf({
    milliseconds: Type.Integer({
      description: `Milliseconds, ${LEAST_BLOCK_TIME_MS} to ${MOST_BLOCK_TIME_MS}.`,
      minimum: LEAST_BLOCK_TIME_MS,
      maximum: MOST_BLOCK_TIME_MS,
      examples: [400],
    }),
  }),
  result: StatusAnswer,
  statuses: [],
  freshness: 'none',
  handle: async ({ milliseconds }, { node }) => {
    await node.setBlockTime(milliseconds);
    return statusJson(await node.status());
  },
});

const mining = localnetEndpoint({
  name: 'mining',
  verbs: POST,
  tag: TAG,
  summary: 'When blocks are produced',
  description:
    '`auto`: a block as soon as a message waits, so that a transfer is final in milliseconds, and otherwise one every few ' +
    'seconds, which costs next to nothing. `steady`: a block per block time.',
  params: paramsOf({
    mode: Type.Union([Type.Literal('auto'), Type.Literal('steady')], {
      description: '`auto` or `steady`.',
      examples: ['auto'],
    }),
  }),
  result: StatusAnswer,
  statuses: [],
  freshness: 'none',
  handle: async ({ mode }, { node }) => {
    await node.setMining(mode);
    return statusJson(await node.status());
  },
});

const time = localnetEndpoint({
  name: 'time',
  verbs: POST,
  tag: TAG,
  summary: 'Moves the time forward, or lets the machine catch up',
  description:
    'Moves the clock of the network forward (`advance`), and produces a block at the new time. Clients that sign by the clock of ' +
    'their machine are then too early for contracts: sign with the time of the network (`now` of the status). A chain cannot ' +
    'go back; with `speed` the clock runs slower, or stands still, until the machine has caught up, and is as fast as the ' +
    'machine from then on. To return to an earlier time, load a snapshot.',
  params: paramsOf({
    advance: Type.Optional(
      Type.Integer({
        description: `Seconds, 1 to ${MOST_SECONDS} (ten years).`,
        minimum: 1,
        maximum: MOST_SECONDS,
        examples: [3_600],
      }),
    ),
    speed: Type.Optional(
      Type.Number({
        description:
          'Seconds that pass in the network per second of the machine, while the network is ahead: 0 stands still, 1 stays ahead.',
        minimum: 0,
        maximum: 1,
      }),
    ),
  }),
  check: ({ advance, speed }) => {
    if (advance === undefined && speed === undefined)
      throw httpErrors['missing-parameter']({ parameter: 'advance, speed' });
  },
  result: MinedAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async ({ advance = 0, speed }, context) => {
    const { node } = context;
    const { now } = await node.status();
    if (now + advance > LAST_SECOND) {
      const problem = `${advance} seconds lead behind ${LAST_SECOND}, the last time that a block can have`;
      throw httpErrors['bad-parameter']({ parameter: 'advance', problem });
    }
    if (speed !== undefined) await node.setClockSpeed(speed);
    return minedJson(await onceVisible(advance === 0 ? node.mine(1) : node.advanceTime(advance), context));
  },
});

const split = localnetEndpoint({
  name: 'shards/split',
  verbs: POST,
  tag: TAG,
  summary: 'Splits a shard',
  description: 'Splits a shard in two, and responds when both have blocks. That takes several blocks.',
  params: paramsOf(shardParameters),
  result: MinedAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ workchain = 0, shard }, context) =>
    minedJson(await onceVisible(context.node.split({ workchain, shard }), context)),
});

const merge = localnetEndpoint({
  name: 'shards/merge',
  verbs: POST,
  tag: TAG,
  summary: 'Merges a shard with its sibling',
  description:
    'Merges two sibling shards, either of which may be given, and responds when the merged shard has blocks. That takes ' +
    'several blocks.',
  params: paramsOf(shardParameters),
  result: MinedAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ workchain = 0, shard }, context) =>
    minedJson(await onceVisible(context.node.merge({ workchain, shard }), context)),
});

/** Methods about block production, time and shards. */
export const localnetBlockEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [
  mine,
  pause,
  resume,
  blockTime,
  mining,
  time,
  split,
  merge,
];
