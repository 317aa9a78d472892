import { isAbsolute } from 'node:path';
import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import {
  EndingAnswer,
  ExportedAnswer,
  ExportedStatesAnswer,
  exportedStatesJson,
  MinedAnswer,
  minedJson,
  RecentAnswer,
  recentJson,
  SnapshotAnswer,
  SnapshotsAnswer,
  snapshotJson,
  snapshotsJson,
} from '#api/localnet/answers.js';
import { LONG_OPERATION_MS, type LocalnetContext, localnetEndpoint, onceVisible } from '#api/localnet/context.js';
import { badParameterValue, paramsOf, snapshotName } from '#api/localnet/parameters.js';
import { localnetErrors } from '#localnet/node/errors.js';
import type { LocalNode } from '#localnet/node/local-node.js';

const TAG = 'Snapshots';
const POST = ['POST'] as const;

const LONGEST_PATH = 4_096;

const RESTARTS =
  'Everything that follows the chain restarts: until the response the other APIs answer 503, and afterwards the index is rebuilt. ' +
  'When it fails, the response says why, and the network goes on with the chain that it has. One such call at a time: another one gets 409.';

/** Of methods that replace the chain. */
const REPLACES = {
  statuses: [409, 504],
  errorStatuses: { [localnetErrors['other-command'].code]: 409 },
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
} as const;

/** The chain that `replace` ended, and the one that took its place. */
async function replaced(node: LocalNode, replace: () => Promise<void>) {
  // A network that does not run has no status.
  const before = await node.status().catch(() => null);
  await replace();
  return { chain: before?.chain ?? null, new_chain: (await node.status()).chain };
}

const snapshot = localnetEndpoint({
  name: 'snapshot',
  verbs: POST,
  tag: TAG,
  summary: 'Remembers the state of all accounts',
  description:
    'Remembers the state of all accounts in memory, for `revert`, as test runners need it. The 64 newest ones are kept until the ' +
    'network is restarted. Messages that wait are delivered first.',
  params: paramsOf({}),
  result: RecentAnswer,
  statuses: [504],
  freshness: 'none',
  handle: async (_, context) => recentJson(await onceVisible(context.node.snapshot(), context)),
});

const revert = localnetEndpoint({
  name: 'revert',
  verbs: POST,
  tag: TAG,
  summary: 'Gives all accounts a former state',
  description:
    'Gives all accounts (code, data, balance, libraries, also the configuration) the state that `snapshot` remembered, within some ' +
    'milliseconds; any number of times. Accounts that did not exist are removed, and messages that wait are dropped. The chain ' +
    'goes on: the change is a block with a transaction for each account, seqnos, logical times and the clock do not go back, ' +
    'and lists of transactions keep what happened in between. `snapshots/load` begins another chain instead.',
  params: paramsOf({
    id: Type.String({ description: 'As `snapshot` returned it.', pattern: '^[0-9]{1,15}$', examples: ['1'] }),
  }),
  result: MinedAnswer,
  statuses: [404, 504],
  freshness: 'none',
  handle: async ({ id }, context) => minedJson(await onceVisible(context.node.revert(id), context)),
});

const list = localnetEndpoint({
  name: 'snapshots',
  verbs: ['GET'],
  tag: TAG,
  summary: 'All snapshots',
  description: 'The snapshots that can be loaded, in the order in which they were saved.',
  params: paramsOf({}),
  result: SnapshotsAnswer,
  statuses: [],
  freshness: 'none',
  handle: async (_, { node }) => snapshotsJson(await node.snapshots()),
});

const save = localnetEndpoint({
  name: 'snapshots/save',
  verbs: POST,
  tag: TAG,
  summary: 'Saves a snapshot',
  description: 'Saves the current chain under a name. A name in use is refused.',
  params: paramsOf({ name: snapshotName }),
  result: SnapshotAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ name }, { node }) => snapshotJson(await node.saveSnapshot(name)),
});

const load = localnetEndpoint({
  name: 'snapshots/load',
  verbs: POST,
  tag: TAG,
  summary: 'Loads a snapshot',
  description: `Ends the chain and continues from the snapshot, which stays. ${RESTARTS}`,
  params: paramsOf({ name: snapshotName }),
  result: EndingAnswer,
  ...REPLACES,
  statuses: [404, ...REPLACES.statuses],
  handle: ({ name }, { node }) => replaced(node, () => node.loadSnapshot(name)),
});

const remove = localnetEndpoint({
  name: 'snapshots/delete',
  verbs: POST,
  tag: TAG,
  summary: 'Deletes a snapshot',
  description: 'Deletes a snapshot, and returns the remaining ones. The chain is not changed.',
  params: paramsOf({ name: snapshotName }),
  result: SnapshotsAnswer,
  statuses: [404],
  freshness: 'none',
  handle: async ({ name }, { node }) => {
    await node.deleteSnapshot(name);
    return snapshotsJson(await node.snapshots());
  },
});

const reset = localnetEndpoint({
  name: 'reset',
  verbs: POST,
  tag: TAG,
  summary: 'Resets the network',
  description: `Ends the chain and starts another one from a new zerostate. Snapshots stay. ${RESTARTS}`,
  params: paramsOf({}),
  result: EndingAnswer,
  ...REPLACES,
  handle: (_, { node }) => replaced(node, () => node.reset()),
});

const folder = Type.Transform(
  Type.String({
    description: 'The whole path of a folder on the machine that Tern runs on; it must not be there yet, or be empty.',
    minLength: 1,
    maxLength: LONGEST_PATH,
    examples: ['/tmp/my-chain'],
  }),
)
  .Decode((path) => {
    if (isAbsolute(path) && !path.includes('\0')) return path;
    throw badParameterValue(`${JSON.stringify(path.slice(0, 100))} is not the whole path of a folder`);
  })
  .Encode((path) => path);

const exportChain = localnetEndpoint({
  name: 'export',
  verbs: POST,
  tag: TAG,
  summary: 'Writes the chain into a folder',
  description:
    'Writes all blocks up to the head into a folder, as archive packages of nodes, which `tern replay` and others read.',
  params: paramsOf({ folder }),
  result: ExportedAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ folder: path }, { node }) => ({ folder: path, blocks: (await node.exportTo(path)).blocks }),
});

const exportState = localnetEndpoint({
  name: 'export-state',
  verbs: POST,
  tag: TAG,
  summary: 'Writes the states at the head into a folder',
  description:
    'Writes the states of all shards after the newest masterchain block into a folder, as nodes write persistent states. `tern index --state` and nodes read them.',
  params: paramsOf({
    folder,
    split_depth: Type.Integer({
      description:
        'Length of the account prefixes by which states of the basechain are divided into a header and parts; 0 for whole states.',
      minimum: 0,
      maximum: 6,
      default: 0,
    }),
  }),
  result: ExportedStatesAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ folder: path, split_depth }, { node }) =>
    exportedStatesJson(path, await node.exportStatesTo(path, split_depth)),
});

/** Methods that save, load and reset the chain. */
export const snapshotEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [
  snapshot,
  revert,
  list,
  save,
  load,
  remove,
  reset,
  exportChain,
  exportState,
];
