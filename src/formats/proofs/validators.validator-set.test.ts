import { describe, expect, it } from 'vitest';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { computeValidatorGroup, type ValidatorConfig, validatorSetHash } from '#formats/proofs/validators.js';
import { errorCode } from '#test/support/error-code.js';

const config = (weights: readonly bigint[], change: Partial<ValidatorConfig> = {}): ValidatorConfig => ({
  validators: weights.map((weight, i) => ({ public_key: new Uint8Array(32).fill(i), weight, adnl_addr: null })),
  main: weights.length,
  shuffle_mc_validators: false,
  shard_validators_num: 3,
  ...change,
});
const basechain = { workchain: 0, shard: 1n << 63n };
const members = (group: { validators: ValidatorConfig['validators'] }): number[] =>
  group.validators.map((validator) => validator.public_key[0]!);

describe('validators of the masterchain', () => {
  it('are the first ones in order', () => {
    const group = computeValidatorGroup(config([1n, 2n, 3n, 4n], { main: 3 }), MASTERCHAIN_SHARD, 0);
    expect(members(group)).toEqual([0, 1, 2]);
    expect(group.total_weight).toBe(6n);
  });

  it('are shuffled from session to session, all of them and always alike', () => {
    const shuffled = config([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n, 9n], { shuffle_mc_validators: true, main: 8 });
    const orders = [1, 2, 3].map((catchain) => members(computeValidatorGroup(shuffled, MASTERCHAIN_SHARD, catchain)));
    for (const order of orders) expect([...order].sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(new Set(orders.map(String)).size).toBe(3);
    expect(members(computeValidatorGroup(shuffled, MASTERCHAIN_SHARD, 2))).toEqual(orders[1]);
  });
});

describe('validators of a shard', () => {
  it('are drawn once each, weigh 1, and differ by shard and session', () => {
    const many = config(
      Array.from({ length: 20 }, (_, i) => BigInt(i + 1) << 40n),
      { shard_validators_num: 7 },
    );
    const groups = [
      computeValidatorGroup(many, basechain, 1),
      computeValidatorGroup(many, basechain, 2),
      computeValidatorGroup(many, { workchain: 0, shard: 1n << 62n }, 1),
      computeValidatorGroup(many, { workchain: 1, shard: 1n << 63n }, 1),
    ];
    for (const group of groups) {
      expect(new Set(members(group)).size).toBe(7);
      expect(group.total_weight).toBe(7n);
    }
    expect(new Set(groups.map((group) => String(members(group)))).size).toBe(4);
  });

  it('may be all there are', () => {
    const group = computeValidatorGroup(config([7n, 1n, 1n << 60n], { shard_validators_num: 9 }), basechain, 3);
    expect(members(group).sort()).toEqual([0, 1, 2]);
  });

  it('are drawn by weight', () => {
    const heavy = config([1n, 1n, 1n << 60n, 1n, 1n], { shard_validators_num: 1 });
    for (let catchain = 0; catchain < 20; catchain++) {
      expect(members(computeValidatorGroup(heavy, basechain, catchain))).toEqual([2]);
    }
  });
});

describe('a validator set', () => {
  it('is refused when it is empty or its weights overflow', () => {
    const half = 1n << 63n;
    expect(errorCode(() => computeValidatorGroup(config([]), MASTERCHAIN_SHARD, 0))).toBe('proofs/validator-set');
    expect(errorCode(() => computeValidatorGroup(config([half, half]), MASTERCHAIN_SHARD, 0))).toBe(
      'proofs/validator-set',
    );
    expect(errorCode(() => computeValidatorGroup(config([half, half]), basechain, 0))).toBe('proofs/validator-set');
    expect(errorCode(() => computeValidatorGroup(config([1n, 0n]), basechain, 0))).toBe('proofs/validator-set');
  });

  it('has a hash over session, order, keys, weights and addresses', () => {
    const [a, b] = config([1n, 2n]).validators as [ValidatorConfig['validators'][0], ValidatorConfig['validators'][0]];
    const hashes = [
      validatorSetHash(1, [a, b]),
      validatorSetHash(2, [a, b]),
      validatorSetHash(1, [b, a]),
      validatorSetHash(1, [a, { ...b, weight: 3n }]),
      validatorSetHash(1, [a, { ...b, adnl_addr: new Uint8Array(32).fill(1) }]),
      validatorSetHash(1, [a]),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});
