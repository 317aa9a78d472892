import { describe, expect, it } from 'vitest';
import type { BlockId } from '#formats/proofs/block-id.js';
import { type BlockLink, verifyBlockChain } from '#formats/proofs/block-proof.js';
import type { SignatureSet } from '#formats/proofs/signatures.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import type { LiteServerBlockLink } from '#formats/tl/lite-api.js';
import { blockProofHandlers, signatureSetToTl } from '#localnet/liteserver/block-proof.js';
import { blockAt, contextOf, genesisLedger, refusal, strangeId, withStates } from '#test/support/genesis-ledger.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const getProof = blockProofHandlers['liteServer.getBlockProof'];

function fromTl(link: LiteServerBlockLink): BlockLink {
  const { to_key_block, dest_proof } = link;
  const base = { to_key_block, dest_proof, from: blockIdFromTl(link.from), to: blockIdFromTl(link.to) };
  if (link.kind === 'liteServer.blockLinkBack') {
    return { kind: 'back', ...base, proof: link.proof, state_proof: link.state_proof };
  }
  const set = link.signatures;
  if (set.kind !== 'liteServer.signatureSet.ordinary') throw new TypeError(set.kind);
  const { validator_set_hash, catchain_seqno, signatures } = set;
  const hashes = { validator_set_hash: validator_set_hash >>> 0, catchain_seqno: catchain_seqno >>> 0 };
  return {
    kind: 'forward',
    ...base,
    config_proof: link.config_proof,
    signatures: { kind: 'ordinary', ...hashes, signatures },
  };
}

function prove(known: BlockId, target: BlockId | null, mode: number): readonly string[] {
  const target_block = target === null ? null : blockIdToTl(target);
  const { complete, to, steps } = getProof({ mode, known_block: blockIdToTl(known), target_block }, context);
  const links = steps.map(fromTl);
  expect(complete).toBe(true);
  expect(verifyBlockChain(known, blockIdFromTl(to), links).to).toEqual(target ?? ledger.head!.id);
  return links.map(({ from, to: end }) => `${from.seqno} ${end.seqno}`);
}

describe('a chain of block proofs', () => {
  const [second, fifth] = [2, 5].map((seqno) => blockAt(ledger, seqno).id) as [BlockId, BlockId];

  it('goes forward from the zerostate by signatures, and back by what states remember', () => {
    expect(prove(ledger.zerostate, fifth, 1)).toEqual(['0 5']);
    expect(prove(ledger.zerostate, null, 0)).toEqual(['0 9']);
    expect(prove(ledger.zerostate, null, 2)).toEqual(['0 9']);
    expect(prove(fifth, second, 1)).toEqual(['5 2']);
    expect(prove(fifth, ledger.zerostate, 0x1001)).toEqual(['5 0']);
    expect(prove(second, fifth, 0x1001)).toEqual(['2 0', '0 5']);
    expect(prove(second, second, 1)).toEqual([]);
  });

  it('is refused for blocks that are unknown, too new or not of the masterchain', () => {
    const ask = (known: BlockId, target: BlockId, mode = 1) =>
      refusal(() => getProof({ mode, known_block: blockIdToTl(known), target_block: blockIdToTl(target) }, context));
    expect(ask(strangeId(second), fifth)).toMatch(/^-400 proof source masterchain block .* is unknown/);
    expect(ask(second, strangeId(fifth))).toMatch(/^-400 proof destination masterchain block .* is unknown/);
    expect(ask(second, strangeId(fifth), 0x1001)).toBe('651 block handle not in db');
    expect(ask(second, { ...fifth, seqno: 99 })).toMatch(/^-400 client knows block .* newer than/);
    const shard = blockAt(ledger, 3, 0).id;
    expect(ask(shard, fifth)).toMatch(/^-400 source block .* is not a valid masterchain block id$/);
    expect(ask(second, shard)).toMatch(/^-400 destination block .* is not a valid masterchain block id$/);
  });

  it('needs the signatures', () => {
    const unsigned = contextOf({ ...withStates(ledger, (state) => state), head: ledger.head, signatures: () => null });
    const args = { mode: 1, known_block: blockIdToTl(ledger.zerostate), target_block: blockIdToTl(second) };
    expect(refusal(() => getProof(args, unsigned))).toMatch(/^651 cannot load proof for \(-1,8000000000000000,2\)/);
  });
});

it('signatures of both forms are written as TL has them', () => {
  const signatures = [{ node_id_short: new Uint8Array(32), signature: new Uint8Array(64) }];
  const base = { validator_set_hash: 0xffff_fffe, catchain_seqno: 7, signatures };
  expect(signatureSetToTl({ kind: 'ordinary', ...base })).toEqual({
    kind: 'liteServer.signatureSet.ordinary',
    validator_set_hash: -2,
    catchain_seqno: 7,
    signatures,
  });
  const session = { session_id: new Uint8Array(32), slot: 5, candidate: new Uint8Array(120) };
  const simplex: SignatureSet = { kind: 'simplex', ...base, ...session };
  expect(signatureSetToTl(simplex)).toEqual({
    kind: 'liteServer.signatureSet.simplex',
    cc_seqno: 7,
    validator_set_hash: -2,
    signatures,
    ...session,
  });
});
