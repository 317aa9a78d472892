import { describe, expect, it } from 'vitest';
import type { BlockId } from '#formats/proofs/block-id.js';
import { checkSignatures } from '#formats/proofs/signatures.js';
import { computeValidatorGroup, type ValidatorConfig } from '#formats/proofs/validators.js';
import { signBlock, validatorKey } from '#localnet/producer/sign-block.js';
import { errorCode } from '#test/support/error-code.js';

const key = validatorKey(new Uint8Array(32).fill(7));
const config: ValidatorConfig = {
  validators: [{ public_key: key.publicKey, weight: 17n, adnl_addr: null }],
  main: 1,
  shuffle_mc_validators: true,
  shard_validators_num: 1,
};
const group = computeValidatorGroup(config, { workchain: -1, shard: 1n << 63n }, 5);
const block = (seqno: number): BlockId => ({
  workchain: -1,
  shard: 1n << 63n,
  seqno,
  root_hash: new Uint8Array(32).fill(1),
  file_hash: new Uint8Array(32).fill(2),
});
const randomBytes = (size: number): Uint8Array => new Uint8Array(size).fill(9);

describe.each(['simplex', 'ordinary'] as const)('%s signatures', (kind) => {
  it.each([1, 2, 0x7fffffff])('of block %i pass the check of clients', (seqno) => {
    const set = signBlock(block(seqno), { kind, key, group, randomBytes });
    expect(set.kind).toBe(kind);
    expect(checkSignatures(set, block(seqno), group)).toBe(17n);
  });

  it('are of that block only', () => {
    const set = signBlock(block(3), { kind, key, group, randomBytes });
    const other = { ...block(3), file_hash: new Uint8Array(32) };
    expect(errorCode(() => checkSignatures(set, other, group))).toMatch(/^proofs\/signature-/);
  });

  it('are not made with a key that is none of the session', () => {
    const stranger = validatorKey(new Uint8Array(32).fill(8));
    expect(errorCode(() => signBlock(block(3), { kind, key: stranger, group, randomBytes }))).toBe(
      'proofs/signature-unknown-node',
    );
  });
});

it('gives the public key of a seed (RFC 8032, 7.1, test 1)', () => {
  const seed = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
  expect(Buffer.from(validatorKey(seed).publicKey).toString('hex')).toBe(
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
  );
});
