import { readArchivePack } from '#localnet/replay/archive-pack.js';
import { buildChain } from '#localnet/replay/recorded-chain.js';
import { type RecordedBag, sortContent } from '#localnet/replay/recorded-folder.js';
import type { FuzzTarget } from '#test/fuzz/fuzz-target.js';
import { mutate } from '#test/fuzz/mutate.js';
import { writeArchivePack } from '#test/support/archive-pack.js';
import { genesisEntries, genesisZerostates } from '#test/support/recorded-files.js';
import { parseChainName } from '#test/support/vector-files.js';

const first = genesisEntries.filter(({ name }) => parseChainName(name)!.seqno <= 3);
const pack = writeArchivePack([
  ...first.map(({ data }) => ({ name: 'block', data })),
  ...Object.entries(genesisZerostates).map(([name, data]) => ({ name, data: data as Uint8Array })),
]);

/** A folder with one damaged pack: it opens, or is refused with an error. */
export const fuzzTarget: FuzzTarget = {
  name: 'replay-packs',
  make: (random) => mutate(pack, random, random.between(1, 3)),
  run: (input) => {
    const bags: RecordedBag[] = [];
    for (const { offset, data } of readArchivePack(input, 'a.pack')) {
      bags.push({ file: `entry at byte ${offset}`, name: null, bytes: data });
    }
    buildChain(sortContent({ folder: 'folder', bags, configs: [] }), 2);
  },
  allowed: (error) => error.code.startsWith('replay/'),
};
