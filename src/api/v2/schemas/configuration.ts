import { type Static, Type } from '@sinclair/typebox';
import { bytesField, hashField, namedObject, TvmCell, typeName } from '#api/v2/schemas/ton-objects.js';

export const ConfigInfo = namedObject(
  'ConfigInfo',
  { '@type': typeName('configInfo'), config: TvmCell },
  { description: 'A part of the configuration of the network, or all of it.' },
);
export type ConfigInfo = Static<typeof ConfigInfo>;

const LibraryEntry = namedObject('LibraryEntry', {
  '@type': typeName('smc.libraryEntry'),
  hash: hashField('Hash of the library cell.'),
  data: bytesField('Bag of cells with the library.'),
});

export const LibraryResult = namedObject(
  'LibraryResult',
  {
    '@type': typeName('smc.libraryResult'),
    result: Type.Array(LibraryEntry, { description: 'Those that exist, in the order of their hashes.' }),
  },
  { description: 'Libraries that accounts of the masterchain publish.' },
);
export type LibraryResult = Static<typeof LibraryResult>;
