import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { configIdParameter, libraries, MAX_LIBRARIES, optionalMasterchainSeqno } from '#api/v2/parameters.js';
import { ConfigInfo, LibraryResult } from '#api/v2/schemas/configuration.js';
import { tvmCell } from '#api/v2/serialize/ton-objects.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { fromHex, toBase64 } from '#kernel/bytes/bytes.js';

const READ = ['GET', 'POST'] as const;
const TAG = 'Configuration';

const getConfigParam = v2Endpoint({
  name: 'getConfigParam',
  verbs: READ,
  tag: TAG,
  summary: 'One parameter of the configuration',
  description:
    'The cell of a parameter of the configuration of the network, now or after an earlier masterchain block; without ' +
    'bytes when the configuration does not have it. Its number is `config_id`; `param` is another name of that.',
  params: Type.Object(
    {
      config_id: configIdParameter('Number of the parameter.', [0]),
      param: configIdParameter('Another name of `config_id`.'),
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
  freshness: ({ seqno }) => (seqno === undefined ? 'head' : 'forever'),
  handle: async ({ config_id, param, seqno }, { network: { chain }, read }): Promise<ConfigInfo> => {
    const number = (config_id ?? param) as number;
    const { params } = await chain.configParams([number], { ...read, at: seqno ?? 'head' });
    return { '@type': 'configInfo', config: tvmCell(params.get(number) ?? null) };
  },
});

const getConfigAll = v2Endpoint({
  name: 'getConfigAll',
  verbs: READ,
  tag: TAG,
  summary: 'The whole configuration',
  description:
    'All parameters of the configuration of the network, now or after an earlier masterchain block: the root of the ' +
    'dictionary, `Hashmap 32 ^Cell`.',
  params: Type.Object({ seqno: optionalMasterchainSeqno }, { additionalProperties: false }),
  result: ConfigInfo,
  statuses: [404, 422, 504],
  freshness: ({ seqno }) => (seqno === undefined ? 'head' : 'forever'),
  handle: async ({ seqno }, { network: { chain }, read }): Promise<ConfigInfo> => {
    const { root } = await chain.config({ ...read, at: seqno ?? 'head' });
    return { '@type': 'configInfo', config: tvmCell(root) };
  },
});

const getLibraries = v2Endpoint({
  name: 'getLibraries',
  verbs: READ,
  tag: TAG,
  summary: 'Libraries by their hashes',
  description:
    'The cells that library references stand for, as accounts of the masterchain publish them now. Up to ' +
    `${MAX_LIBRARIES} at once; what does not exist is left out.`,
  params: Type.Object({ libraries: Type.Optional(libraries) }, { additionalProperties: false }),
  result: LibraryResult,
  statuses: [422, 504],
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

/** Configuration and libraries, in the order of the published document. */
export const configurationEndpoints: readonly AnyEndpoint<V2Context>[] = [getConfigParam, getConfigAll, getLibraries];
