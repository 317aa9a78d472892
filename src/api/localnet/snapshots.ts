import { isAbsolute } from 'node:path';
import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import {
  EndingAnswer,
  ExportedAnswer,
  SnapshotAnswer,
  SnapshotsAnswer,
  snapshotJson,
  snapshotsJson,
} from '#api/localnet/answers.js';
import { LONG_OPERATION_MS, type LocalnetContext, localnetEndpoint } from '#api/localnet/context.js';
import { badParameterValue, paramsOf, snapshotName } from '#api/localnet/parameters.js';

const TAG = 'Snapshots';
const POST = ['POST'] as const;

const LONGEST_PATH = 4_096;

const BEGINS_ANEW =
  'Everything that follows the chain ends when this is answered, and begins anew: for a moment nothing listens here. The ' +
  'network is back when the status names another `chain`; the index is made again.';

const list = localnetEndpoint({
  name: 'snapshots',
  verbs: ['GET'],
  tag: TAG,
  summary: 'All snapshots',
  description: 'The states of the network that can be gone back to, in the order in which they were saved.',
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
  description: 'Keeps the chain as it is now under a name. A name that is taken is refused.',
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
  summary: 'Goes back to a snapshot',
  description: `Ends the chain and goes on from the snapshot, which stays. ${BEGINS_ANEW}`,
  params: paramsOf({ name: snapshotName }),
  result: EndingAnswer,
  statuses: [404, 504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ name }, { node }) => {
    const { chain } = await node.status();
    await node.loadSnapshot(name);
    return { chain };
  },
});

const remove = localnetEndpoint({
  name: 'snapshots/delete',
  verbs: POST,
  tag: TAG,
  summary: 'Deletes a snapshot',
  description: 'Deletes a snapshot, and answers which ones are left. The chain stays as it is.',
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
  summary: 'Begins anew',
  description: `Ends the chain and begins another one from a new zerostate. Snapshots stay. ${BEGINS_ANEW}`,
  params: paramsOf({}),
  result: EndingAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async (_, { node }) => {
    const { chain } = await node.status();
    await node.reset();
    return { chain };
  },
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
    'Writes all blocks up to the head into a folder, as archive packs of nodes, which `tern replay` and others read.',
  params: paramsOf({ folder }),
  result: ExportedAnswer,
  statuses: [504],
  freshness: 'none',
  deadlineMs: LONG_OPERATION_MS,
  handle: async ({ folder: path }, { node }) => ({ folder: path, blocks: (await node.exportTo(path)).blocks }),
});

/** Chains that are kept, gone back to, begun anew. */
export const snapshotEndpoints: readonly AnyEndpoint<LocalnetContext>[] = [
  list,
  save,
  load,
  remove,
  reset,
  exportChain,
];
