import { describe, expect, it } from 'vitest';
import { verifyBlockFile, verifyBlockHeader, verifyZerostateFile } from '#formats/proofs/block-header.js';
import { printBlockId, printPosition } from '#formats/proofs/block-id.js';
import {
  type BlockLink,
  type BlockLinkBack,
  type BlockLinkForward,
  verifyBlockChain,
  verifyBlockLink,
} from '#formats/proofs/block-proof.js';
import { type BlockQuery, type LookupAnswer, verifyLookup } from '#formats/proofs/shard-block.js';
import { validatorConfigOf } from '#formats/proofs/validators.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import {
  bag,
  type GenesisBlock,
  genesisBlocks,
  headerProof,
  proofOf,
  zerostate,
  zerostateBytes,
  zerostateId,
} from '#test/support/genesis-chain.js';

const blocks = genesisBlocks(-1);
const at = (seqno: number): GenesisBlock => blocks[seqno]!;
const nothing = new Uint8Array(0);

const configProof = bag(
  proofOf(zerostate, (root) => void validatorConfigOf(decodeCell(ShardStateUnsplit, root).custom!.value.config.config)),
);
const prevBlocksProof = (from: GenesisBlock, seqno: number) =>
  bag(
    proofOf(
      from.state,
      (root) => void decodeCell(ShardStateUnsplit, root).custom!.value.info.value.prev_blocks.get(seqno),
    ),
  );

function forward(seqno: number): BlockLinkForward {
  const { id, signatures } = at(seqno);
  const dest_proof = bag(headerProof(at(seqno)));
  return {
    kind: 'forward',
    to_key_block: false,
    from: zerostateId,
    to: id,
    dest_proof,
    config_proof: configProof,
    signatures: signatures!,
  };
}

function back(from: number, to: number): BlockLinkBack {
  return {
    kind: 'back',
    // States remember the zerostate as a key block.
    to_key_block: to === 0,
    from: at(from).id,
    to: to === 0 ? zerostateId : at(to).id,
    dest_proof: to === 0 ? nothing : bag(headerProof(at(to))),
    proof: bag(headerProof(at(from))),
    state_proof: prevBlocksProof(at(from), to),
  };
}

describe('a file', () => {
  it('of a block or zerostate is proven by its hashes', () => {
    const { bytes, id } = at(3);
    expect(verifyBlockFile(bytes, id).prev.map(printPosition)).toEqual(['(-1,8000000000000000,2)']);
    expect(verifyZerostateFile(zerostateBytes, zerostateId).hash()).toEqual(zerostateId.root_hash);
    expect(errorCode(() => verifyBlockFile(bytes.subarray(1), id))).toBe('proofs/file-hash');
    expect(errorCode(() => verifyBlockFile(bytes, { ...id, root_hash: id.file_hash }))).toBe('proofs/root-hash');
    expect(errorCode(() => verifyBlockFile(bytes, { ...id, seqno: 4 }))).toBe('proofs/header');
    expect(errorCode(() => verifyZerostateFile(bytes, zerostateId))).toBe('proofs/file-hash');
    expect(errorCode(() => verifyZerostateFile(zerostateBytes, { ...zerostateId, root_hash: id.root_hash }))).toBe(
      'proofs/root-hash',
    );
  });

  it('is written about with the full id', () => {
    expect(printBlockId(at(3).id)).toMatch(/^\(-1,8000000000000000,3\):[0-9A-F]{64}:[0-9A-F]{64}$/);
  });

  it('is refused when the header is of another place', () => {
    const { id, root } = at(3);
    for (const [field, change] of Object.entries({
      workchain: { workchain: 0 },
      shard: { shard: 1n << 62n },
      seq_no: { seqno: 9 },
    })) {
      const error = errorOf(() =>
        verifyBlockHeader(bag(proofOf(root, (r) => void r.ref(0).touch())), { ...id, ...change }),
      );
      expect(error).toMatchObject({ code: 'proofs/header', data: { field } });
    }
  });
});

describe('a chain of links', () => {
  it('leads from the zerostate to a signed block, and back to older ones', () => {
    const chain = verifyBlockChain(zerostateId, at(4).id, [forward(8), back(8, 6), back(6, 4)]);
    expect(chain.links.map((link) => link.to.seqno)).toEqual([8, 6, 4]);
    expect(chain.key_block).toBeNull();
    expect(verifyBlockChain(at(8).id, zerostateId, [back(8, 0)]).links[0]!.header).toBeNull();
    expect(verifyBlockChain(at(8).id, at(8).id, [])).toMatchObject({ links: [] });
  });

  it('is refused when links do not join, naming the link', () => {
    const error = errorOf(() => verifyBlockChain(zerostateId, at(4).id, [forward(8), back(7, 4)]));
    expect(error).toMatchObject({ code: 'proofs/link-start', path: 'links[1]' });
    expect(errorCode(() => verifyBlockChain(at(1).id, at(8).id, [forward(8)]))).toBe('proofs/link-start');
    expect(errorCode(() => verifyBlockChain(zerostateId, at(9).id, [forward(8)]))).toBe('proofs/chain-end');
    expect(errorCode(() => verifyBlockChain(zerostateId, at(9).id, []))).toBe('proofs/chain-end');
    expect(errorCode(() => verifyBlockChain({ ...zerostateId, workchain: 0 }, at(9).id, []))).toBe(
      'proofs/not-masterchain',
    );
  });

  it.each<[string, string, BlockLink]>([
    ['two blocks of one height', 'proofs/same-height', { ...forward(8), from: at(8).id }],
    ['a forward link backward', 'proofs/link-direction', { ...forward(7), from: at(8).id }],
    ['a backward link forward', 'proofs/link-direction', { ...back(8, 4), from: at(4).id, to: at(8).id }],
    ['a key block that is none', 'proofs/key-block-flag', { ...forward(8), to_key_block: true }],
    ['another header of the target', 'proofs/root-hash', { ...forward(8), dest_proof: bag(headerProof(at(7))) }],
    [
      'a start that is no key block',
      'proofs/no-key-block',
      { ...forward(8), from: at(7).id, config_proof: bag(headerProof(at(7))) },
    ],
    [
      'another zerostate',
      'proofs/root-hash',
      { ...forward(8), from: { ...zerostateId, root_hash: at(8).id.root_hash } },
    ],
    ['no configuration', 'proofs/incomplete', { ...forward(8), config_proof: bag(proofOf(zerostate, () => {})) }],
    ['signatures of another block', 'proofs/signature-invalid', { ...forward(8), signatures: forward(7).signatures }],
    [
      'no signatures',
      'proofs/signature-count',
      { ...forward(8), signatures: { ...forward(8).signatures, signatures: [] } },
    ],
    ['another header of the start', 'proofs/root-hash', { ...back(8, 4), proof: bag(headerProof(at(7))) }],
    ['the state of another block', 'proofs/state-hash', { ...back(8, 4), state_proof: prevBlocksProof(at(7), 4) }],
    [
      'a state that does not show the target',
      'proofs/incomplete',
      { ...back(8, 4), state_proof: bag(proofOf(at(8).state, () => {})) },
    ],
    [
      'a file hash that is not remembered',
      'proofs/old-block',
      { ...back(8, 4), to: { ...at(4).id, file_hash: at(5).id.file_hash } },
    ],
    [
      'a zerostate that is not remembered',
      'proofs/old-block',
      { ...back(8, 0), to: { ...zerostateId, root_hash: at(5).id.root_hash } },
    ],
    ['a zerostate that is called no key block', 'proofs/key-block-flag', { ...back(8, 0), to_key_block: false }],
    ['no proofs at all', 'proofs/malformed', { ...back(8, 4), dest_proof: nothing }],
  ])('is refused with %s', (_, code, link) => {
    expect(errorCode(() => verifyBlockLink(link))).toBe(code);
  });
});

describe('a block that was looked for', () => {
  const query: BlockQuery = { workchain: -1, shard: 1n << 63n, by: 'seqno', seqno: 5 };
  const answer: LookupAnswer = {
    id: at(5).id,
    mc_block_id: at(5).id,
    client_mc_state_proof: bag(headerProof(at(9))),
    mc_block_proof: prevBlocksProof(at(9), 5),
    shard_links: [],
    header: bag(headerProof(at(5))),
    prev_header: bag(headerProof(at(4))),
  };
  const infoOf = (seqno: number) => verifyBlockHeader(bag(headerProof(at(seqno))), at(seqno).id).info;
  const known = at(9).id;

  it('is proven by seqno, lt and time', () => {
    const { end_lt, gen_utime } = infoOf(5);
    const before = infoOf(4);
    const base = { workchain: -1, shard: 1n << 63n };
    for (const good of [
      query,
      { ...base, by: 'lt', lt: end_lt },
      { ...base, by: 'lt', lt: before.end_lt + 1n },
      { ...base, by: 'utime', utime: gen_utime },
      { ...base, by: 'utime', utime: before.gen_utime + 1 },
    ] as const) {
      expect(verifyLookup(known, good, answer).id.seqno).toBe(5);
    }
    for (const bad of [
      { ...query, seqno: 6 },
      { ...base, by: 'lt', lt: end_lt + 1n },
      { ...base, by: 'lt', lt: before.end_lt },
      { ...base, by: 'utime', utime: gen_utime + 1 },
      { ...base, by: 'utime', utime: before.gen_utime - 1 },
      { ...query, workchain: 0 },
    ] as const) {
      expect(errorCode(() => verifyLookup(known, bad, answer))).toBe('proofs/lookup-target');
    }
  });

  it('is refused at the link that breaks', () => {
    const codeOf = (change: Partial<LookupAnswer>, by: BlockQuery = query) =>
      errorCode(() => verifyLookup(known, by, { ...answer, ...change }));
    expect(codeOf({ mc_block_id: at(6).id })).toBe('proofs/incomplete');
    expect(codeOf({ client_mc_state_proof: bag(headerProof(at(8))) })).toBe('proofs/root-hash');
    expect(codeOf({ mc_block_proof: prevBlocksProof(at(8), 5) })).toBe('proofs/state-hash');
    expect(codeOf({ id: at(6).id })).toBe('proofs/chain-end');
    expect(codeOf({ header: bag(headerProof(at(6))) })).toBe('proofs/root-hash');
    const byLt: BlockQuery = { workchain: -1, shard: 1n << 63n, by: 'lt', lt: infoOf(5).end_lt };
    expect(codeOf({ prev_header: bag(headerProof(at(3))) }, byLt)).toBe('proofs/root-hash');
    expect(codeOf({ prev_header: nothing }, byLt)).toBe('proofs/malformed');
    expect(errorCode(() => verifyLookup({ ...known, workchain: 0 }, query, answer))).toBe('proofs/not-masterchain');
  });
});
