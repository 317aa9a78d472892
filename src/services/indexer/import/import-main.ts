// A thread that imports accounts of state files, over a database connection of its own.
import { DNS_ROOTS } from '#domain/contracts/dns-domain.js';
import { CandidateInterfaces, contractInterfaces } from '#domain/contracts/interface-registry.js';
import { FileSource } from '#drivers/state-files/byte-source.js';
import { openStateFile } from '#drivers/state-files/state-file.js';
import { Database } from '#drivers/store/database.js';
import { parseAddress } from '#formats/address/address.js';
import { systemClock } from '#kernel/clock.js';
import { forwardedLogger, WorkerSide } from '#kernel/worker-side.js';
import { ContractCodes, PublishedLibraryCache } from '#services/indexer/contracts/contract-accounts.js';
import { indexerErrors } from '#services/indexer/errors.js';
import { ImportBatchBuilder } from '#services/indexer/import/import-batch.js';
import type { ImportThreadContract } from '#services/indexer/import/import-protocol.js';
import { RangeImporter } from '#services/indexer/import/import-range.js';
import { StateLookup } from '#services/indexer/import/state-accounts.js';

const side = new WorkerSide<ImportThreadContract>({
  unexpected: (problem, cause) => indexerErrors.unexpected({ problem }, cause),
});
const { url, mc_seqno, files: given, dnsRoots } = side.start;

void side.serve(async () => {
  const clock = systemClock;
  const database = await Database.open({ url, writeConnections: 1, readConnections: 1 }, { clock });
  const sources = given.map(({ path }) => new FileSource(path));
  const files = given.map((each, i) => ({ ...each, file: openStateFile(sources[i]!) }));
  const lookup = new StateLookup(files);
  const libraries = new PublishedLibraryCache({ library: (hash) => side.host.library(hash) }, clock);
  const roots = dnsRoots.map(({ collection, zone }) => ({ zone, collection: parseAddress(collection).address }));
  const kindsOf = rememberedKinds(new CandidateInterfaces(contractInterfaces([...DNS_ROOTS, ...roots])));
  const codes = new ContractCodes(libraries);
  const logger = forwardedLogger(side.notify);
  const builder = new ImportBatchBuilder(mc_seqno, { lookup, codes, libraries, kindsOf, logger });
  const importer = new RangeImporter({
    ...{ database, builder },
    onWritten: (accounts, position) => side.notify.written(accounts, position),
  });
  return {
    ready: undefined,
    methods: {
      importRange: async ({ file, shard, row }) => {
        const before = lookup.bytesRead;
        const read = await importer.run({ file: files[file]!, shard }, row);
        return read + lookup.bytesRead - before;
      },
    },
    close: async () => {
      await database.close();
      for (const source of sources) source.close();
    },
  };
});

/** Codes whose interfaces are remembered. */
const MAX_KINDS = 100_000;

/** The interfaces that codes may have, each found once. */
function rememberedKinds(kinds: CandidateInterfaces): CandidateInterfaces['of'] {
  const known = new Map<string, ReturnType<CandidateInterfaces['of']>>();
  return (codeHash, methodIds) => {
    let found = known.get(codeHash);
    if (found === undefined) {
      found = kinds.of(codeHash, methodIds);
      if (known.size === MAX_KINDS) known.clear();
      known.set(codeHash, found);
    }
    return found;
  };
}
