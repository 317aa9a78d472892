import { type Static, Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import {
  configIdParameter,
  freshnessAt,
  librariesParameter,
  MAX_LIBRARIES,
  NO_PARAMETERS,
  optionalMasterchainSeqno,
} from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import { bytesField, hashField, TvmCell, tvmCell, typeName, v2Object } from '#api/v2/ton-objects.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { fromHex, toBase64 } from '#kernel/bytes.js';

const ConfigInfo = v2Object(
  'ConfigInfo',
  { '@type': typeName('configInfo'), config: TvmCell },
  { description: 'A configuration parameter, or the whole configuration.' },
);
type ConfigInfo = Static<typeof ConfigInfo>;

const LibraryEntry = v2Object('LibraryEntry', {
  '@type': typeName('smc.libraryEntry'),
  hash: hashField('Hash of the library cell.'),
  data: bytesField('Bag of cells with the library.'),
});

const LibraryResult = v2Object(
  'LibraryResult',
  {
    '@type': typeName('smc.libraryResult'),
    result: Type.Array(LibraryEntry, { description: 'Existing libraries, ordered by hash.' }),
  },
  { description: 'Public libraries of the masterchain.' },
);
type LibraryResult = Static<typeof LibraryResult>;

const TAG = 'Configuration';

const getConfigParam = v2Endpoint({
  name: 'getConfigParam',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'One parameter of the configuration',
  description:
    'The cell of a configuration parameter, now or as of an earlier masterchain block; without bytes when the configuration ' +
    'does not have it. Its number is `config_id`; `param` is an alias.',
  params: Type.Object(
    {
      config_id: configIdParameter('Number of the parameter.', [0]),
      param: configIdParameter('Alias of `config_id`.'),
      seqno: optionalMasterchainSeqno,
    },
    { additionalProperties: false },
  ),
  check: ({ config_id, param }) => {
    if ((config_id === undefined) !== (param === undefined)) return;
    const problem = 'only one of config_id or param should be specified';
    throw httpErrors['bad-parameter']({ parameter: 'config_id', problem });
  },
  result: ConfigInfo,
  statuses: [404, 422, 504],
  price: () => PRICE.block,
  freshness: freshnessAt,
  handle: async ({ config_id, param, seqno }, { network: { chain }, read }): Promise<ConfigInfo> => {
    const number = (config_id ?? param) as number;
    const { params } = await chain.configParams([number], { ...read, at: seqno ?? 'head' });
    return { '@type': 'configInfo', config: tvmCell(params.get(number) ?? null) };
  },
});

const getConfigAll = v2Endpoint({
  name: 'getConfigAll',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'The whole configuration',
  description:
    'All configuration parameters, now or as of an earlier masterchain block: the root of the dictionary, `Hashmap 32 ^Cell`.',
  params: Type.Object({ seqno: optionalMasterchainSeqno }, { additionalProperties: false }),
  result: ConfigInfo,
  statuses: [404, 422, 504],
  price: () => PRICE.proofs,
  freshness: freshnessAt,
  handle: async ({ seqno }, { network: { chain }, read }): Promise<ConfigInfo> => {
    const { root } = await chain.config({ ...read, at: seqno ?? 'head' });
    return { '@type': 'configInfo', config: tvmCell(root) };
  },
});

const getLibraries = v2Endpoint({
  name: 'getLibraries',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'Libraries by their hashes',
  description:
    'The cells that library references stand for, from the public libraries of the masterchain now. Up to ' +
    `${MAX_LIBRARIES} at once; those that do not exist are left out.`,
  params: Type.Object({ libraries: Type.Optional(librariesParameter) }, { additionalProperties: false }),
  result: LibraryResult,
  statuses: [422, 504],
  price: () => PRICE.account,
  freshness: 'head',
  handle: async ({ libraries: hashes = [] }, { network: { chain }, read }): Promise<LibraryResult> => {
    if (hashes.length === 0) return { '@type': 'smc.libraryResult', result: [] };
    const found = await chain.libraries(hashes, read);
    const result = [...found.libraries]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([hash, cell]) => ({
        '@type': 'smc.libraryEntry' as const,
        hash: toBase64(fromHex(hash) as Uint8Array),
        data: toBase64(serializeBoc(cell)),
      }));
    return { '@type': 'smc.libraryResult', result };
  },
});

const WorkerState = Type.Object(
  {
    ls_index: Type.Integer({ description: 'Index of the liteserver in the configuration.' }),
    id: Type.String({ description: 'Name of the liteserver.' }),
    is_working: Type.Boolean({ description: 'Whether it answers and is not behind.' }),
    is_archival: Type.Boolean({ description: 'Whether it has the whole history.' }),
    is_enabled: Type.Boolean({ description: 'Whether it is used.' }),
    last_block: Type.Integer({ description: 'Seqno of its newest masterchain block.' }),
  },
  { additionalProperties: false },
);

const getWorkerState = v2Endpoint({
  name: 'getWorkerState',
  verbs: GET_OR_POST,
  tag: 'Nodes',
  unpublished: true,
  summary: 'State of the liteservers',
  description: 'By index of the liteserver: whether it answers, and its newest block.',
  params: NO_PARAMETERS,
  result: Type.Record(Type.String(), WorkerState),
  statuses: [],
  freshness: 'none',
  handle: async (_params, { network }) =>
    Object.fromEntries(
      network.servers().map(({ name, alive, archival, seqno }, index) => [
        String(index),
        {
          ls_index: index,
          id: name,
          is_working: alive,
          is_archival: archival,
          is_enabled: true,
          last_block: seqno,
        },
      ]),
    ),
});

/** Configuration and libraries, in the order of the published document. */
export const configurationEndpoints: readonly AnyEndpoint<V2Context>[] = [getConfigParam, getConfigAll, getLibraries];

/** Methods about the liteservers of the network. */
export const nodeEndpoints: readonly AnyEndpoint<V2Context>[] = [getWorkerState];
