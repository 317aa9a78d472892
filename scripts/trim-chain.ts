// node --conditions=source --import tsx scripts/trim-chain.ts FOLDER SEQNO OUT
// Writes the first blocks of a recorded chain, as far as the masterchain block SEQNO, into the folder OUT: one archive
// pack, packed with Brotli, and the zerostates. Proof links of shard blocks are left out: a replay makes them itself.
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { brotliCompressSync, constants } from 'node:zlib';
import { fromHex } from '#kernel/bytes.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { writeArchivePack } from '#test/support/archive-pack.js';
import { parseChainName, readChain } from '#test/support/vector-files.js';

const [folder, to, out] = process.argv.slice(2);
if (folder === undefined || out === undefined) throw new Error('usage: trim-chain.ts FOLDER SEQNO OUT');

const ledger = openReplay(folder, { to: Number(to), head: null });
const entries = [...readChain(folder)].filter(({ name }) => {
  const parsed = parseChainName(name);
  if (parsed === null || parsed.kind === 'prooflink') return false;
  const { workchain, seqno } = parsed;
  const [root_hash, file_hash] = [fromHex(parsed.rootHash)!, fromHex(parsed.fileHash)!];
  return ledger.block({ workchain, shard: BigInt(`0x${parsed.shard}`), seqno, root_hash, file_hash }) !== null;
});
const pack = writeArchivePack(entries);
const packed = brotliCompressSync(pack, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: pack.length,
  },
});

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'blocks.pack.br'), packed);
for (const file of readdirSync(folder)) if (file.endsWith('.boc')) copyFileSync(join(folder, file), join(out, file));
