import { describe, expect, it } from 'vitest';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { BLOCK_FILE, serializeBoc } from '#formats/cells/boc-serialize.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { toBase64 } from '#kernel/bytes.js';
import { isTernError } from '#kernel/tern-error.js';
import { openReplay } from '#localnet/replay/replay-ledger.js';
import { writeArchivePack } from '#test/support/archive-pack.js';
import { changeSignatures } from '#test/support/block-proof-files.js';
import { type Files, genesisEntries, genesisZerostates, inFolder } from '#test/support/recorded-files.js';
import { parseChainName } from '#test/support/vector-files.js';

type Entry = (typeof genesisEntries)[number];
const WHOLE = { to: 9, head: null };

function packOf(change: (entry: Entry, kind: string) => Entry | null = (entry) => entry): Files {
  const changed = genesisEntries.map((entry) => {
    const { kind, workchain, seqno } = parseChainName(entry.name)!;
    return change(entry, `${kind} ${workchain} ${seqno}`);
  });
  return { 'a.pack': writeArchivePack(changed.filter((entry) => entry !== null)) };
}

/** `code: message`, or the seqno of the head. */
function outcome(files: Files, range: { readonly to: number | null; readonly head: number | null } = WHOLE): string {
  return inFolder(files, (folder) => {
    try {
      return `head ${openReplay(folder, range).head?.id.seqno}`;
    } catch (error) {
      if (!isTernError(error)) throw error;
      return `${error.code}: ${error.message.replaceAll(folder, 'FOLDER')}`;
    }
  });
}

const good = { ...packOf(), ...genesisZerostates };

describe('a recorded chain', () => {
  it('is opened up to its last block, or an earlier one, in whatever files it is', () => {
    expect(outcome(good)).toBe('head 9');
    expect(outcome(good, { to: 4, head: null })).toBe('head 4');
    expect(outcome(good, { to: 4, head: 2 })).toBe('head 2');
    const lines = genesisEntries.map(({ data }) => JSON.stringify({ data: toBase64(data) })).join('\n');
    expect(outcome({ 'blocks.jsonl': lines, ...genesisZerostates })).toBe('head 9');
    const files = Object.fromEntries(genesisEntries.map(({ data }, i) => [`${i}.boc`, data]));
    expect(outcome({ ...files, ...genesisZerostates })).toBe('head 9');
    // Proofs are not needed: there are no links forward then.
    expect(
      outcome({ ...packOf((entry, kind) => (kind.startsWith('proof') ? null : entry)), ...genesisZerostates }),
    ).toBe('head 9');
  });

  it('is refused when the head is not in it', () => {
    expect(outcome(good, { to: 11, head: null })).toBe(
      'replay/no-such-head: --to is 11, but the recorded chain ends at masterchain block 10',
    );
    expect(outcome(genesisZerostates)).toBe('replay/no-blocks: FOLDER has no block of the masterchain');
  });

  it('is refused when blocks are missing', () => {
    const without = (name: string) =>
      outcome({ ...packOf((entry, kind) => (kind === name ? null : entry)), ...genesisZerostates });
    expect(without('block -1 5')).toBe(
      'replay/missing-block: FOLDER does not have block (-1,8000000000000000,5), which block (-1,8000000000000000,6) refers to',
    );
    expect(without('block 0 2')).toMatch(
      /^replay\/missing-block: FOLDER does not have block \(0,8000000000000000,2\), which block/,
    );
    expect(outcome(good, { to: null, head: null })).toMatch(
      /does not have block \(0,8000000000000000,11\), which block \(-1,.*,10\)/,
    );
  });
});

describe('zerostates', () => {
  const masterchain = genesisZerostates['zerostate-mc.boc'] as Uint8Array;
  const other = (change: Partial<ShardStateUnsplit>): Uint8Array => {
    const state = decodeCell(ShardStateUnsplit, parseBocRoot(masterchain));
    return serializeBoc(encodeCell(ShardStateUnsplit, { ...state, ...change }), BLOCK_FILE);
  };

  it('must be there', () => {
    const { 'zerostate-mc.boc': _, ...noMasterchain } = good;
    expect(outcome(noMasterchain)).toMatch(
      /^replay\/no-zerostate: FOLDER has no zerostate of workchain -1 with root hash 17a3a929/,
    );
    const { 'zerostate-basechain.boc': __, ...noBasechain } = good;
    expect(outcome(noBasechain)).toMatch(
      /^replay\/no-zerostate: FOLDER has no zerostate of workchain 0 with root hash/,
    );
  });

  it('must be those that the blocks name, the file included', () => {
    expect(outcome({ ...good, 'zerostate-mc.boc': other({ gen_utime: 1 }) })).toMatch(
      /^replay\/other-zerostate: the zerostate zerostate-mc\.boc has root hash \w{64}, but block \(-1,.*,1\) names 17a3a929/,
    );
    const repacked = serializeBoc(parseBocRoot(masterchain));
    expect(outcome({ ...good, 'zerostate-mc.boc': repacked })).toMatch(
      /^replay\/other-zerostate: the zerostate zerostate-mc\.boc has file hash \w{64}, but block \(-1,.*,1\) names 5e994fcf/,
    );
  });

  it('must be that of the configuration', () => {
    const config = (root_hash: string) => JSON.stringify({ validator: { zero_state: { root_hash } } });
    const hash = toBase64(parseBocRoot(masterchain).hash());
    expect(outcome({ ...good, 'global.config.json': config(hash) })).toBe('head 9');
    expect(outcome({ ...good, 'global.config.json': config('AAAA') })).toBe(
      `replay/other-zerostate: the zerostate zerostate-mc.boc has root_hash ${hash}, but validator.zero_state.root_hash of global.config.json names AAAA`,
    );
    expect(outcome({ ...good, 'global.config.json': 'null' })).toBe('head 9');
  });
});

describe('what is damaged', () => {
  const change = (name: string, edit: (entry: Entry) => Entry) =>
    outcome({ ...packOf((entry, kind) => (kind === name ? edit(entry) : entry)), ...genesisZerostates });

  it('is refused when a name and a content do not agree', () => {
    const renamed = change('block -1 3', (entry) => ({ ...entry, name: entry.name.replace(',3)', ',4)') }));
    expect(renamed).toMatch(
      /^replay\/other-name: a\.pack, entry at byte \d+ has block \(-1,8000000000000000,3\), but its name says \(-1,8000000000000000,4\)$/,
    );
    const otherFile = change('block -1 3', (entry) => ({ ...entry, data: serializeBoc(parseBocRoot(entry.data)) }));
    expect(otherFile).toMatch(/^replay\/other-name: .* has file hash \w{64}, but its name says \w{64}$/);
  });

  it('is refused with file and place when cells cannot be read', () => {
    const cut = change('block 0 3', (entry) => ({ ...entry, data: entry.data.subarray(0, 100) }));
    expect(cut).toMatch(/^replay\/bad-file: a\.pack, entry at byte \d+ is invalid: /);
    const flipped = change('block -1 3', (entry) => ({
      ...entry,
      data: entry.data.map((byte, i) => (i === 900 ? byte ^ 1 : byte)),
    }));
    expect(flipped).toMatch(/^replay\/(bad-file|other-name): a\.pack, entry at byte \d+ /);
  });

  it('is refused when the signatures of a block are not those of its validators', () => {
    const unsigned = change('proof -1 4', (entry) => ({
      ...entry,
      data: changeSignatures(entry.data, (set) => ({ ...set, sig_weight: set.sig_weight ^ 4n })),
    }));
    expect(unsigned).toMatch(
      /^replay\/wrong-signatures: the proof of block \(-1,8000000000000000,4\) \(a\.pack, entry at byte \d+\) is invalid: /,
    );
  });
});
