import { describe, expect, it } from 'vitest';
import { type BlockHeader, verifyBlockFile } from '#formats/proofs/block-header.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { verifyBlockProof, verifyBlockProofLink } from '#formats/proofs/block-proof.js';
import { keyBlockConfig } from '#formats/proofs/shard-state.js';
import { checkSetHash } from '#formats/proofs/signatures.js';
import { computeValidatorGroup, type ValidatorConfig, validatorConfigOf } from '#formats/proofs/validators.js';
import type { BlockSignatures } from '#formats/tlb/block-proof.js';
import { isTernError } from '#kernel/tern-error.js';
import { Random } from '#test/fuzz/random.js';
import {
  blockIdOfFile,
  blockIdOfName,
  changeSignatures,
  zerostateValidators,
} from '#test/support/block-proof-files.js';
import { errorCode } from '#test/support/error-code.js';
import { FULL } from '#test/support/full-depth.js';
import { type ChainEntry, parseChainName, readBytes, readChain, vectorPath } from '#test/support/vector-files.js';

/** Damages of a signature set, and the link that breaks. */
const damages: readonly (readonly [code: string, change: (set: BlockSignatures) => BlockSignatures])[] = [
  [
    'proofs/validator-set-hash',
    (set) => ({ ...set, validator_list_hash_short: (set.validator_list_hash_short ^ 0x100) >>> 0 }),
  ],
  ['proofs/catchain-seqno', (set) => ({ ...set, catchain_seqno: set.catchain_seqno ^ 1 })],
  ['proofs/signature-count', (set) => ({ ...set, sig_count: set.sig_count ^ 2 })],
  ['proofs/signature-weight-declared', (set) => ({ ...set, sig_weight: set.sig_weight ^ 4n })],
];
const simplexDamages: readonly (readonly [code: string, change: (set: BlockSignatures) => BlockSignatures])[] = [
  ['proofs/signature-invalid', (set) => ({ ...set, slot: (set as { slot: number }).slot ^ 1 }) as BlockSignatures],
  ['proofs/signature-invalid', (set) => ({ ...set, session_id: new Uint8Array(32) }) as BlockSignatures],
];

/**
 * Flips single bits anywhere in a proof file. Each must be refused, or leave signers and header as they were: the file
 * also holds what nothing depends on (how cells are laid out in the file, parts of the block that are not looked at).
 */
function refuseFlips(bytes: Uint8Array, id: BlockId, config: ValidatorConfig, random: Random, flips: number): number {
  const weight = verifyBlockProof(bytes, id, config).signed_weight;
  const damaged = bytes.slice();
  let refused = 0;
  for (let i = 0; i < flips; i++) {
    const bit = random.below(bytes.length * 8);
    damaged[bit >> 3]! ^= 0x80 >> (bit & 7);
    try {
      expect(verifyBlockProof(damaged, id, config).signed_weight, `bit ${bit}`).toBe(weight);
    } catch (error) {
      if (!isTernError(error) || !error.code.startsWith('proofs/')) throw error;
      refused++;
    }
    damaged[bit >> 3]! ^= 0x80 >> (bit & 7);
  }
  return refused;
}

interface ChainTally {
  readonly kinds: Set<string>;
  signed: number;
  links: number;
  keyBlocks: number;
  shardGroups: number;
}

/** Checks the proofs of a chain from its zerostate on, each with the validators of the key block before it. */
function checkChain(entries: Iterable<ChainEntry>, zerostate: Uint8Array): ChainTally {
  const configs = new Map([[0, zerostateValidators(zerostate)]]);
  const tally: ChainTally = { kinds: new Set(), signed: 0, links: 0, keyBlocks: 0, shardGroups: 0 };
  const random = new Random('chain');
  const shards: BlockHeader[] = [];
  for (const { name, data } of entries) {
    const named = parseChainName(name);
    if (named === null || named.kind === 'block') continue;
    const id = blockIdOfName(named);
    const { header } = verifyBlockProofLink(data, id);
    if (named.kind === 'prooflink') {
      shards.push(header);
      tally.links++;
      continue;
    }
    const config = configs.get(header.info.prev_key_block_seqno)!;
    verifyBlockProof(data, id, config);
    tally.signed++;
    changeSignatures(data, (set) => {
      tally.kinds.add(set.kind);
      return set;
    });
    if (header.info.key_block) {
      configs.set(id.seqno, validatorConfigOf(keyBlockConfig(header).config));
      tally.keyBlocks++;
    }
    if (tally.signed % (FULL ? 20 : 60) === 1) checkDamages(data, id, config, random);
  }
  for (const header of shards) {
    // The group of a shard is that of the configuration at its masterchain block, of which we know the key blocks.
    const seqno = Math.max(...[...configs.keys()].filter((key) => key <= header.master_ref!.seqno));
    const group = computeValidatorGroup(configs.get(seqno)!, header.id, header.info.gen_catchain_seqno);
    checkSetHash(header.info.gen_validator_list_hash_short, group, 'block header');
    tally.shardGroups++;
  }
  return tally;
}

function checkDamages(data: Uint8Array, id: BlockId, config: ValidatorConfig, random: Random): void {
  let simplex = false;
  changeSignatures(data, (set) => {
    simplex = set.kind === 'block_signatures_simplex';
    return set;
  });
  for (const [code, change] of simplex ? [...damages, ...simplexDamages] : damages) {
    expect(errorCode(() => verifyBlockProof(changeSignatures(data, change), id, config))).toBe(code);
  }
  expect(refuseFlips(data, id, config, random, 20)).toBeGreaterThan(14);
}

describe('proofs of blocks', () => {
  it('1 to 10 of mainnet are signed by the validators of the zerostate', () => {
    const zerostate = readBytes(vectorPath('mainnet-genesis/zerostate_mc_5E994FCF.boc'));
    const tally = checkChain(readChain(vectorPath('mainnet-genesis')), zerostate);
    expect(tally).toMatchObject({ signed: 10, links: 10, shardGroups: 10 });
  });
});

const genesis = vectorPath('collection/mainnet-genesis');
const recorded = vectorPath('collection/recorded-net/chain');
const keyBlocks = vectorPath('collection/mainnet-proofs');

describe('the same, on the collection of real data', () => {
  it('all of mainnet-genesis, ordinary signatures', () => {
    const tally = checkChain(readChain(genesis), readBytes(`${genesis}/zerostate_mc_5E994FCF.boc`));
    expect(tally).toEqual({
      kinds: new Set(['block_signatures_ordinary']),
      signed: 199,
      links: 606,
      keyBlocks: 0,
      shardGroups: 606,
    });
  });

  it('all of recorded-net, through its key blocks, simplex signatures', () => {
    const tally = checkChain(readChain(recorded), readBytes(`${recorded}/zerostate-mc.boc`));
    expect(tally).toEqual({
      kinds: new Set(['block_signatures_simplex']),
      signed: 1219,
      links: 1368,
      keyBlocks: 3,
      shardGroups: 1368,
    });
  });

  it('mainnet-proofs: blocks after key block 3236530, with shuffled validators', () => {
    const load = (name: string) => readBytes(`${keyBlocks}/${name}`);
    const bytes = load('key_block__3236530');
    const keyBlock = blockIdOfFile(bytes, 3236530);
    const config = validatorConfigOf(keyBlockConfig(verifyBlockFile(bytes, keyBlock)).config);
    const before = { ...config, shuffle_mc_validators: false };
    expect(verifyBlockProof(load('key_proof__3236530'), keyBlock, before).header.info.key_block).toBe(true);
    const random = new Random('key block');
    for (let seqno = 3236531; seqno <= 3236550; seqno++) {
      const file = load(`block__${seqno}`);
      const id = blockIdOfFile(file, seqno);
      expect(verifyBlockFile(file, id).info.prev_key_block_seqno).toBe(3236530);
      const proof = load(`proof__${seqno}`);
      expect(verifyBlockProof(proof, id, config).signed_weight! * 3n).toBeGreaterThan(0n);
      if (FULL || seqno % 5 === 0) checkDamages(proof, id, config, random);
    }
  });
});
