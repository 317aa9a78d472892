import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type BlockId, MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import {
  checkSignatures,
  ed25519Key,
  MAX_SIGNATURES,
  nodeIdShort,
  type SignatureSet,
  signedBytes,
} from '#formats/proofs/signatures.js';
import { computeValidatorGroup, type ValidatorConfig } from '#formats/proofs/validators.js';
import { fromHex, toHex } from '#kernel/bytes.js';
import { errorCode, errorOf } from '#test/support/error-code.js';

const fill = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const block: BlockId = { ...MASTERCHAIN_SHARD, seqno: 7, root_hash: fill(1), file_hash: fill(2) };
const CATCHAIN = 5;

/** Validators with these weights, and their private keys. */
function makeValidators(weights: readonly bigint[]): {
  readonly config: ValidatorConfig;
  readonly keys: readonly KeyObject[];
} {
  const pairs = weights.map(() => generateKeyPairSync('ed25519'));
  const validators = pairs.map(({ publicKey }, i) => {
    const public_key = new Uint8Array(Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url'));
    return { public_key, weight: weights[i]!, adnl_addr: null };
  });
  const config = { validators, main: weights.length, shuffle_mc_validators: false, shard_validators_num: 1 };
  return { config, keys: pairs.map(({ privateKey }) => privateKey) };
}

const { config, keys } = makeValidators([10n, 10n, 10n, 5n]);
const group = computeValidatorGroup(config, MASTERCHAIN_SHARD, CATCHAIN);

/** The set that some of the validators sign. */
function signedBy(signers: readonly number[], change: Partial<SignatureSet> = {}): SignatureSet {
  const unsigned: SignatureSet = {
    kind: 'ordinary',
    validator_set_hash: group.hash,
    catchain_seqno: CATCHAIN,
    signatures: [],
  };
  const message = signedBytes(unsigned, block);
  const signatures = signers.map((i) => ({
    node_id_short: nodeIdShort(config.validators[i]!.public_key),
    signature: new Uint8Array(sign(null, message, keys[i]!)),
  }));
  return { ...unsigned, signatures, ...change } as SignatureSet;
}

describe('the short id of a node', () => {
  it('is that of the published example', () => {
    const key = fromHex('8139770ea87d175f56a35466c34c7ecccb8d8a91b4ee37a25df60f5b8fc9b394')!;
    expect(toHex(nodeIdShort(key))).toBe('28ed1ac51b589bb6097243ff8f5b0f1d8610ad7502a53688eb025e64985d30f2');
  });
});

describe('the key of a validator', () => {
  it('is made once, and again when many others were made since', () => {
    const keyOf = (number: number) =>
      ed25519Key(Uint8Array.from({ length: 32 }, (_, i) => (i < 4 ? number >> (8 * i) : 7)));
    const first = keyOf(0);
    expect(keyOf(0)).toBe(first);
    for (let number = 1; number <= 2_048; number++) keyOf(number);
    const again = keyOf(0);
    expect(again).not.toBe(first);
    expect(again.equals(first)).toBe(true);
    expect(keyOf(1).equals(first)).toBe(false);
  });
});

describe('a signature set', () => {
  it('is good with more than two thirds of the weight', () => {
    expect(checkSignatures(signedBy([0, 1, 2, 3]), block, group)).toBe(35n);
    expect(checkSignatures(signedBy([3, 2, 0]), block, group)).toBe(25n);
  });

  it('is refused with two thirds or less', () => {
    const { data } = errorOf(() => checkSignatures(signedBy([0, 1]), block, group));
    expect(data).toEqual({ found: 20n, total: 35n });
    expect(errorCode(() => checkSignatures(signedBy([0, 1]), block, group))).toBe('proofs/signature-weight');
    const thirds = { ...group, total_weight: 30n };
    expect(errorCode(() => checkSignatures(signedBy([0, 1]), block, thirds))).toBe('proofs/signature-weight');
  });

  it('is refused when a signature is wrong, and names the node', () => {
    const set = signedBy([0, 1, 2]);
    for (const byte of [0, 31, 32, 63]) {
      const signatures = set.signatures.map((each, i) => {
        if (i !== 1) return each;
        const signature = each.signature.slice();
        signature[byte]! ^= 1;
        return { ...each, signature };
      });
      const error = errorOf(() => checkSignatures({ ...set, signatures }, block, group));
      expect(error.code, `byte ${byte}`).toBe('proofs/signature-invalid');
      expect(error.data.node).toBe(toHex(set.signatures[1]!.node_id_short));
    }
    const cut = set.signatures.map((each) => ({ ...each, signature: each.signature.subarray(0, 63) }));
    expect(errorCode(() => checkSignatures({ ...set, signatures: cut }, block, group))).toBe(
      'proofs/signature-invalid',
    );
  });

  it('is refused for another block', () => {
    for (const other of [
      { ...block, root_hash: fill(3) },
      { ...block, file_hash: fill(3) },
    ]) {
      expect(errorCode(() => checkSignatures(signedBy([0, 1, 2]), other, group))).toBe('proofs/signature-invalid');
    }
  });

  it.each([
    ['proofs/signature-duplicate-node', signedBy([0, 1, 2, 1])],
    [
      'proofs/signature-unknown-node',
      {
        ...signedBy([0, 1, 2]),
        signatures: [...signedBy([0, 1, 2]).signatures, { node_id_short: fill(9), signature: new Uint8Array(64) }],
      },
    ],
    ['proofs/catchain-seqno', signedBy([0, 1, 2], { catchain_seqno: CATCHAIN + 1 })],
    ['proofs/validator-set-hash', signedBy([0, 1, 2], { validator_set_hash: group.hash ^ 1 })],
    ['proofs/signature-count', signedBy([])],
    [
      'proofs/signature-count',
      { ...signedBy([]), signatures: Array.from({ length: MAX_SIGNATURES + 1 }, () => signedBy([0]).signatures[0]!) },
    ],
  ] as const)('is refused: %s', (code, set) => {
    expect(errorCode(() => checkSignatures(set, block, group))).toBe(code);
  });
});
