import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { PubEd25519, TcpMessage, TcpPing, TcpPong } from '#formats/tl/adnl.js';
import {
  ConsensusCandidateHashData,
  ConsensusDataToSign,
  ConsensusSimplexUnsignedVote,
  TonBlockId,
} from '#formats/tl/consensus.js';
import { decodeBoxed, decodeOne, encodeBoxed } from '#formats/tl/constructor.js';
import {
  type LiteServerBlockLink,
  LiteServerBlockTransactions,
  LiteServerListBlockTransactions,
  LiteServerPartialBlockProof,
  LiteServerSignatureSet,
  LiteServerTransactionId,
} from '#formats/tl/lite-api.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { errorOf } from '#test/support/error-code.js';

const filled = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());

const block = { workchain: -1, shard: -(2n ** 63n), seqno: 100500, root_hash: filled(0x41), file_hash: filled(0x42) };

describe('published values', () => {
  it('the short id of a server is the hash of its key', () => {
    const key = fromHex('8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394') as Uint8Array;
    expect(toHex(sha256(encodeBoxed(PubEd25519, { key })))).toBe(
      '28ed1ac51b589bb6097243ff8f5b0f1d8610ad7502a53688eb025e64985d30f2',
    );
  });

  it('ping and pong', () => {
    expect(toHex(encodeBoxed(TcpPing, { random_id: 1n }))).toBe('9a2b084d0100000000000000');
    expect(toHex(encodeBoxed(TcpPong, { random_id: -1n }))).toBe('03fb69dcffffffffffffffff');
  });

  it('what validators sign', () => {
    expect(toHex(encodeBoxed(TonBlockId, { root_cell_hash: filled(1), file_hash: filled(2) }))).toBe(
      `706e0bc5${'01'.repeat(32)}${'02'.repeat(32)}`,
    );
    const candidate = encodeBoxed(ConsensusCandidateHashData, {
      kind: 'consensus.candidateHashDataOrdinary',
      block,
      collated_file_hash: filled(0x77),
      parent: { kind: 'consensus.candidateWithoutParents' },
    });
    const hash = sha256(candidate);
    expect(toHex(hash)).toBe('56e9d055d2510447f3473eadc80465621f4210230e13b7670a21befff521ffb3');
    const data = encodeBoxed(ConsensusSimplexUnsignedVote, {
      kind: 'consensus.simplex.finalizeVote',
      id: { slot: 77, hash },
    });
    expect(toHex(encodeBoxed(ConsensusDataToSign, { session_id: filled(0x51), data }))).toBe(
      `f83de3a8${'51'.repeat(32)}2c05e1a7403fcd91b64d000000${toHex(hash)}000000`,
    );
    expect(decodeOne(ConsensusSimplexUnsignedVote, data)).toEqual({
      kind: 'consensus.simplex.finalizeVote',
      id: { slot: 77, hash },
    });
  });
});

const signatures = [{ node_id_short: filled(5), signature: new Uint8Array(64).fill(6) }];

const links: readonly LiteServerBlockLink[] = [
  {
    kind: 'liteServer.blockLinkBack',
    to_key_block: true,
    from: block,
    to: block,
    dest_proof: Uint8Array.of(),
    proof: Uint8Array.of(1),
    state_proof: Uint8Array.of(2),
  },
  {
    kind: 'liteServer.blockLinkForward',
    to_key_block: false,
    from: block,
    to: block,
    dest_proof: Uint8Array.of(),
    config_proof: Uint8Array.of(3),
    signatures: {
      kind: 'liteServer.signatureSet.simplex',
      cc_seqno: 1,
      validator_set_hash: -2,
      signatures,
      session_id: filled(7),
      slot: 8,
      candidate: Uint8Array.of(9),
    },
  },
];

describe('types of several constructors', () => {
  it('are distinguished by kind', () => {
    const proof = { complete: true, from: block, to: block, steps: links };
    expect(decodeOne(LiteServerPartialBlockProof, encodeBoxed(LiteServerPartialBlockProof, proof))).toEqual(proof);
  });

  it('have fields in the order of their own constructor', () => {
    const both = { cc_seqno: 1, catchain_seqno: 1, validator_set_hash: 2, signatures: [] };
    const simplex = { session_id: filled(0), slot: 0, candidate: Uint8Array.of() };
    const head = (kind: LiteServerSignatureSet['kind']): string =>
      toHex(encodeBoxed(LiteServerSignatureSet, { kind, ...both, ...simplex } as never).subarray(0, 12));
    expect(head('liteServer.signatureSet.ordinary')).toBe('e6a644f60200000001000000');
    expect(head('liteServer.signatureSet.simplex')).toBe('009824ac0100000002000000');
  });

  it('have no other kinds', () => {
    const error = errorOf(() => encodeBoxed(TcpMessage, { kind: 'tcp.other' } as never));
    expect(error.code).toBe('tl/unknown-variant');
    expect(error.data).toMatchObject({ type: 'tcp.Message', kind: 'tcp.other' });
  });
});

describe('several constructors', () => {
  it('are distinguished by name', () => {
    const answer = decodeBoxed(encodeBoxed(TcpPong, { random_id: 3n }), TcpPing, TcpPong);
    expect(answer).toEqual({ name: 'tcp.pong', value: { random_id: 3n } });
  });

  it('are named when it is none of them', () => {
    const error = errorOf(() => decodeBoxed(fromHex('00000000') as Uint8Array, TcpPing, TcpPong));
    expect(error.data).toEqual({ byte: 0, found: '0x00000000', wanted: 'tcp.ping or tcp.pong' });
  });
});

const anyId = { mode: 7, account: filled(1), lt: 2n, hash: filled(3), metadata: null };

describe('optional fields', () => {
  it('are there as the flags say', () => {
    const metadata = { mode: 0, depth: 1, initiator: { workchain: 0, id: filled(4) }, initiator_lt: 5n };
    for (const [value, length] of [
      [{ mode: 0, account: null, lt: null, hash: null, metadata: null }, 8],
      [{ ...anyId, mode: 2, account: null, hash: null }, 16],
      [anyId, 80],
      [{ ...anyId, mode: 263, metadata }, 80 + 52],
      // Bits without a meaning stay.
      [{ ...anyId, mode: 7 | (2 ** 30) }, 80],
    ] as const) {
      const bytes = encodeBoxed(LiteServerTransactionId, value);
      expect(bytes.length, String(value.mode)).toBe(length);
      expect(decodeOne(LiteServerTransactionId, bytes)).toEqual(value);
    }
  });

  it.each<[string, LiteServerTransactionId, object]>([
    ['missing', { ...anyId, hash: null }, { field: 'hash', flag: 'mode.2', present: false }],
    ['too many', { ...anyId, mode: 3 }, { field: 'hash', flag: 'mode.2', present: true }],
  ])('that are %s are refused', (_, value, data) => {
    const error = errorOf(() => encodeBoxed(LiteServerTransactionId, value));
    expect(error.code).toBe('tl/field-presence');
    expect(error.data).toMatchObject({ type: 'liteServer.transactionId', ...data });
    expect(error.path).toBe('hash');
  });

  it('of type true repeat the flag', () => {
    const call = { id: block, mode: 32 | 7, count: 5, after: null, reverse_order: false, want_proof: true };
    const bytes = encodeBoxed(LiteServerListBlockTransactions, call);
    expect(bytes.length).toBe(4 + 80 + 8);
    expect(decodeOne(LiteServerListBlockTransactions, bytes)).toEqual(call);
    const error = errorOf(() => encodeBoxed(LiteServerListBlockTransactions, { ...call, reverse_order: true }));
    expect(error.data).toMatchObject({ field: 'reverse_order', flag: 'mode.6', present: true });
  });
});

describe('errors', () => {
  const answer = {
    id: block,
    req_count: 2,
    incomplete: false,
    ids: [anyId, { ...anyId, lt: 2n ** 64n }],
    proof: Uint8Array.of(),
  };

  it('of writing name field and item', () => {
    const error = errorOf(() => encodeBoxed(LiteServerBlockTransactions, answer));
    expect(error.code).toBe('tl/value-range');
    expect(error.path).toBe('ids[1].lt');
  });

  it('of reading name field and item', () => {
    const bytes = encodeBoxed(LiteServerBlockTransactions, { ...answer, ids: [anyId, anyId] });
    const cut = errorOf(() => decodeOne(LiteServerBlockTransactions, bytes.subarray(0, -40)));
    expect(cut.code).toBe('tl/underflow');
    expect(cut.path).toBe('ids[1].lt');
    const link = encodeBoxed(LiteServerPartialBlockProof, { complete: true, from: block, to: block, steps: links });
    link.set([0, 0, 0, 0], link.length - 4 - 4 - 32 - 68 - 32 - 4 - 8 - 4);
    const other = errorOf(() => decodeOne(LiteServerPartialBlockProof, link));
    expect(other.code).toBe('tl/unknown-constructor');
    expect(other.path).toBe('steps[1].signatures');
    expect(other.data.wanted).toBe('liteServer.signatureSet.ordinary or liteServer.signatureSet.simplex');
  });

  it('after a vector name the next field, not an item', () => {
    const bytes = encodeBoxed(LiteServerBlockTransactions, { ...answer, ids: [anyId] });
    expect(errorOf(() => decodeOne(LiteServerBlockTransactions, bytes.subarray(0, -4))).path).toBe('proof');
  });
});
