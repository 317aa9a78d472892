import { describe, expect, it } from 'vitest';
import { type AccessDecision, type AccessRequest, openAccess } from '#services/access/access.js';
import { KeyedAccess } from '#services/access/keyed-access.js';
import { hashApiKey, type KeyRecord, newApiKey } from '#services/access/keys.js';
import { DailyQuota, LocalLimiter } from '#services/access/limits.js';
import { parsePlans } from '#services/access/plans.js';
import { Random } from '#test/fuzz/random.js';
import { cpuMs } from '#test/support/cpu-time.js';
import { FakeClock } from '#test/support/fake-clock.js';

const START = Date.UTC(2025, 0, 31, 12);
const chance = new Random('keyed-access');

/** Access with these keys at a time that the test moves. */
class Desk {
  readonly clock = new FakeClock();
  readonly warnings: object[] = [];
  readonly counted: string[] = [];
  readonly limiter: LocalLimiter;
  readonly access: KeyedAccess;

  constructor(plans: readonly object[] = []) {
    const unixTimeMs = (): number => START + this.clock.now();
    const quota = new DailyQuota({ unixTimeMs });
    this.limiter = new LocalLimiter({ maxAddresses: 1000, maxKeys: 1000 }, { clock: this.clock, quota });
    this.access = new KeyedAccess({
      plans: parsePlans('plans.json', JSON.stringify({ plans })),
      limiter: this.limiter,
      usage: {
        count: (key, network, what) => void this.counted.push(`${key} ${network} ${what}`),
        addWork: (key, network, units) => void this.counted.push(`${key} ${network} work ${units}`),
      },
      unixTimeMs,
      logger: { info() {}, warn: (_message, fields = {}) => void this.warnings.push(fields) },
    });
  }

  ask(key: string | null, network = 'mainnet', clientAddress = '192.0.2.1', waitedMs = 0): AccessDecision {
    const question: AccessRequest = { key, clientAddress, network, waitedMs };
    const answer = this.access.check(question);
    if (answer instanceof Promise) throw new TypeError('in memory the answer comes at once');
    return answer;
  }

  /** How many pass when requests come without pause for so long. */
  overload(seconds: number, ask: () => AccessDecision): number {
    let passed = 0;
    for (const end = this.clock.now() + seconds * 1000; this.clock.now() < end; this.clock.advance(1.7)) {
      if (ask().kind === 'allowed') passed++;
    }
    return passed;
  }
}

let made = 0;

function keyOf(more: Partial<KeyRecord> & { readonly expires_at?: string } = {}): { key: string; record: KeyRecord } {
  const key = newApiKey((size) => chance.bytes(size));
  const created_at = new Date(START).toISOString();
  const { expires_at = null, ...rest } = more;
  const hash = Buffer.from(hashApiKey(key)).toString('hex');
  const record: KeyRecord = {
    id: `key_${(made++).toString(16).padStart(10, '0')}`,
    label: '',
    owner: null,
    plan: 'free',
    networks: null,
    created_at,
    revoked_at: null,
    secrets: [{ hash, created_at, expires_at }],
    ...rest,
  };
  return { key, record };
}

it('a key can be used until it is revoked or its last secret has expired, and any key while they are not known', () => {
  const desk = new Desk();
  const [{ record: good }, { record: revoked }] = [keyOf(), keyOf({ revoked_at: new Date(START).toISOString() })];
  const { record: ending } = keyOf({ expires_at: new Date(START + 1_000).toISOString() });
  const valid = () => [good, revoked, ending].map(({ id }) => desk.access.isValidKey(id));
  expect(valid()).toEqual([true, true, true]);
  desk.access.setKeys([good, revoked, ending]);
  expect(valid()).toEqual([true, false, true]);
  desk.clock.advance(1_000);
  expect(valid()).toEqual([true, false, false]);
  expect(desk.access.isValidKey('key_ffffffffff')).toBe(false);
});

describe('open access', () => {
  it('allows everything', () => {
    for (const key of [null, 'anything', 'x'.repeat(1e6)]) {
      const answer = openAccess.check({ key, clientAddress: '192.0.2.1', network: 'mainnet' });
      expect(answer).toMatchObject({ kind: 'allowed', plan: 'open', key: null, group: null });
    }
  });
});

describe('a budget of work', () => {
  it('in debt says when it is not, which is no refusal', () => {
    const desk = new Desk();
    const { key, record } = keyOf({ plan: 'free' });
    desk.access.setKeys([record]);
    const { work } = allowed(desk, key);
    work.settle(0, 2_000);
    expect(work.take(0)).toEqual({ kind: 'allowed' });
    work.settle(0, 100);
    expect(work.take(0)).toMatchObject({ kind: 'limited', retryAfterMs: 500 });
    desk.clock.advance(500);
    expect(work.take(0)).toEqual({ kind: 'allowed' });
    expect(desk.access.planMetrics).toMatchObject([{ plan: 'free', limited_by_work: 0, work: 2_100 }]);
  });

  const allowed = (desk: Desk, key: string | null) => {
    const decision = desk.ask(key);
    if (decision.kind !== 'allowed') throw new TypeError(decision.kind);
    return decision;
  };

  it('is of the key, and says which it is and when it holds the price again', () => {
    const desk = new Desk();
    const { key, record } = keyOf({ plan: 'free' });
    desk.access.setKeys([record]);
    const { work, client } = allowed(desk, key);
    expect(client).toBe(`key ${record.id} mainnet`);
    expect(work.take(2_000)).toEqual({ kind: 'allowed' });
    const limited = { kind: 'limited', retryAfterMs: 500, limit: '200 work units per second' };
    expect(work.take(100)).toEqual(limited);
    expect(allowed(desk, key).work.take(100)).toEqual(limited);
    work.settle(2_000, 1_000);
    expect(work.take(100)).toEqual({ kind: 'allowed' });
    expect(desk.access.planMetrics).toMatchObject([{ plan: 'free', allowed: 2, limited_by_work: 2, work: 1_000 }]);
    expect(desk.counted).toContain(`${record.id} mainnet work 1000`);
    const warning = { client, plan: 'free', network: 'mainnet', limit: '200 work units per second' };
    expect(desk.warnings).toEqual([warning]);
    desk.clock.advance(60_000);
    void work.take(2_000);
    void work.take(2_000);
    expect(desk.warnings).toEqual([warning, warning]);
  });

  it('is of the address without a key, and none with an unlimited plan', () => {
    const desk = new Desk();
    const { key, record } = keyOf({ plan: 'unlimited' });
    desk.access.setKeys([record]);
    const { work, client } = allowed(desk, null);
    expect(client).toBe('address 192.0.2.1 mainnet');
    expect(work.take(500)).toEqual({ kind: 'allowed' });
    expect(work.take(1)).toMatchObject({ limit: '20 work units per second without an API key', retryAfterMs: 15_050 });
    for (let i = 0; i < 10; i++) expect(allowed(desk, key).work.take(1e6)).toEqual({ kind: 'allowed' });
  });
});

describe('without a key', () => {
  it('each address has one request per second, each /64 of IPv6 is one address', () => {
    const desk = new Desk();
    expect(desk.ask(null)).toMatchObject({ kind: 'allowed', plan: 'anonymous', key: null, group: null });
    const limit = '1 request per second without an API key';
    expect(desk.ask('')).toMatchObject({ kind: 'limited', retryAfterMs: 1000, limit });
    expect(desk.ask(null, 'mainnet', '192.0.2.2').kind).toBe('allowed');
    expect(desk.ask(null, 'testnet').kind).toBe('allowed');
    expect(desk.ask(null, 'mainnet', '2001:db8::1').kind).toBe('allowed');
    expect(desk.ask(null, 'mainnet', '2001:db8::ffff:1').kind).toBe('limited');
    expect(desk.ask(null, 'mainnet', '2001:db8:0:1::1').kind).toBe('allowed');
    expect(desk.ask(null, 'mainnet', '::ffff:192.0.2.1').kind).toBe('limited');
    // One more than 59 would be one too many: the first of this minute has passed already.
    expect(desk.overload(60, () => desk.ask(null))).toBe(59);
    expect(desk.counted.filter((each) => each === 'anonymous mainnet allowed')).toHaveLength(63);
  });

  it('requests count when they arrived, however late a busy server begins them', () => {
    const desk = new Desk();
    desk.clock.advance(60_000);
    const begin = (waitedMs: number) => desk.ask(null, 'mainnet', '192.0.2.1', waitedMs);
    // One a second for six seconds, all begun now; and one that came half a second after the last.
    for (const waitedMs of [6_000, 5_000, 4_000, 3_000, 2_000, 1_000]) {
      expect(begin(waitedMs), `${waitedMs}`).toMatchObject({ kind: 'allowed' });
    }
    expect(begin(500)).toMatchObject({ kind: 'limited', retryAfterMs: 1 });
    expect(begin(0)).toMatchObject({ kind: 'allowed' });
    expect(begin(0)).toMatchObject({ kind: 'limited', retryAfterMs: 1_000 });
    // Ten that came at once are ten at once, though the last of them is begun seconds later.
    desk.clock.advance(60_000);
    const passed = Array.from({ length: 10 }, (_, i) => {
      desk.clock.advance(500);
      return begin(500 * (i + 1)).kind;
    });
    expect(passed.filter((kind) => kind === 'allowed').length).toBe(1);
  });

  it('any number of addresses takes bounded memory', () => {
    const desk = new Desk();
    for (let i = 0; i < 20_000; i++) desk.ask(null, 'mainnet', `10.0.${i >> 8}.${i & 255}`);
    expect(desk.limiter.addresses).toBeLessThanOrEqual(1000);
  });

  it('the file of plans says what is allowed', () => {
    const desk = new Desk([{ name: 'anonymous', requests_per_second: 5, networks: ['testnet'] }]);
    expect(desk.ask(null).kind).toBe('network-not-allowed');
    expect(desk.overload(10, () => desk.ask(null, 'testnet'))).toBe(54);
  });
});

describe('with a key', () => {
  it('a minute of overload passes what the plan says, within 2 %', () => {
    for (const [plan, rate] of [
      ['free', 10],
      ['plus', 25],
      ['advanced', 100],
      ['half', 0.5],
    ] as const) {
      const desk = new Desk([{ name: 'half', requests_per_second: 0.5 }]);
      const { key, record } = keyOf({ plan });
      desk.access.setKeys([record]);
      const passed = desk.overload(60, () => desk.ask(key));
      expect(Math.abs(passed / (rate * 60) - 1), plan).toBeLessThanOrEqual(0.02);
      desk.ask(key);
      expect(desk.ask(key), plan).toMatchObject({ kind: 'limited', retryAfterMs: expect.any(Number) });
    }
  });

  it('an unlimited plan passes everything', () => {
    const desk = new Desk();
    const { key, record } = keyOf({ plan: 'unlimited' });
    desk.access.setKeys([record]);
    for (let i = 0; i < 10_000; i++) expect(desk.ask(key).kind, `${i}`).toBe('allowed');
  });

  it('the answer says plan, key and group, and never the key itself', () => {
    const desk = new Desk([{ name: 'own', requests_per_second: 10, group: 'ours' }]);
    const { key, record } = keyOf({ plan: 'own' });
    desk.access.setKeys([record]);
    expect(desk.ask(key)).toMatchObject({ kind: 'allowed', plan: 'own', key: record.id, group: 'ours' });
    expect(JSON.stringify([desk.counted, desk.access.planMetrics])).not.toContain(key);
  });

  it('unknown, revoked and expired keys are all the same', () => {
    const desk = new Desk();
    const [good, revoked, old] = [
      keyOf(),
      keyOf({ revoked_at: '2025-01-01T00:00:00.000Z' }),
      keyOf({ expires_at: new Date(START + 5000).toISOString() }),
    ];
    desk.access.setKeys([good.record, revoked.record, old.record]);
    expect(desk.access.activeKeys).toBe(2);
    expect(desk.ask(old.key).kind).toBe('allowed');
    desk.clock.advance(4999);
    expect(desk.ask(old.key).kind).toBe('allowed');
    desk.clock.advance(1);
    for (const key of [old.key, revoked.key, newApiKey((size) => chance.bytes(size)), 'tern_', good.record.id]) {
      expect(desk.ask(key), key).toEqual({ kind: 'unknown-key' });
    }
    expect(desk.ask(good.key).kind).toBe('allowed');
    desk.access.setKeys([{ ...good.record, revoked_at: '2025-01-31T12:00:00.000Z' }]);
    expect(desk.ask(good.key)).toEqual({ kind: 'unknown-key' });
    expect(desk.access.unknownKeys).toBe(6);
  });

  it('keys of one owner on one plan share its limit, other keys do not', () => {
    const desk = new Desk();
    const all = [keyOf({ owner: 'acme' }), keyOf({ owner: 'acme' }), keyOf({ owner: 'other' }), keyOf()];
    desk.access.setKeys(all.map(({ record }) => record));
    const passed = all.map(({ key }) => Array.from({ length: 20 }, () => desk.ask(key).kind));
    expect(passed.map((kinds) => kinds.filter((kind) => kind === 'allowed').length)).toEqual([10, 0, 10, 10]);
  });

  it('networks are those of the key and of the plan, each with its limits', () => {
    const desk = new Desk([
      { name: 'two', requests_per_second: 10, networks: { mainnet: {}, testnet: { requests_per_second: 2 } } },
    ]);
    const [all, one, free] = [
      keyOf({ plan: 'two' }),
      keyOf({ plan: 'two', networks: ['mainnet'] }),
      keyOf({ networks: ['x'] }),
    ];
    desk.access.setKeys([all, one, free].map(({ record }) => record));
    const kinds = (key: string): string[] => ['mainnet', 'testnet', 'x'].map((network) => desk.ask(key, network).kind);
    expect(kinds(all.key)).toEqual(['allowed', 'allowed', 'network-not-allowed']);
    expect(kinds(one.key)).toEqual(['allowed', 'network-not-allowed', 'network-not-allowed']);
    expect(kinds(free.key)).toEqual(['network-not-allowed', 'network-not-allowed', 'allowed']);
    expect(desk.access.networksRefused).toBe(5);
    expect(desk.overload(10, () => desk.ask(all.key, 'testnet'))).toBe(20);
    expect(desk.overload(10, () => desk.ask(all.key, 'mainnet'))).toBe(110);
  });

  it('a quota holds until midnight UTC, and what is refused does not use it up', () => {
    const desk = new Desk([{ name: 'few', requests_per_second: 10, daily_quota: 25 }]);
    const { key, record } = keyOf({ plan: 'few' });
    desk.access.setKeys([record]);
    expect(desk.overload(60, () => desk.ask(key))).toBe(25);
    const limit = '25 requests per day (UTC)';
    const left = 12 * 3_600_000 - desk.clock.now();
    expect(desk.ask(key)).toMatchObject({ kind: 'limited', retryAfterMs: Math.ceil(left), limit });
    desk.clock.advance(left);
    expect(desk.overload(60, () => desk.ask(key))).toBe(25);
    expect(desk.access.planMetrics).toMatchObject([{ plan: 'few', network: 'mainnet', allowed: 50 }]);
    expect(desk.access.planMetrics[0]!.limited_by_quota).toBeGreaterThan(50_000);
    expect(desk.access.planMetrics[0]!.limited_by_rate).toBeGreaterThan(1000);
  });

  it('a plan that is gone leaves the limits of requests without a key, and the log says so', () => {
    const desk = new Desk();
    const { key, record } = keyOf({ plan: 'gone' });
    desk.access.setKeys([record, keyOf({ plan: 'gone', revoked_at: '2025-01-01T00:00:00.000Z' }).record]);
    expect(desk.warnings).toEqual([{ id: record.id, plan: 'gone' }]);
    expect(desk.overload(60, () => desk.ask(key))).toBe(60);
  });
});

describe('hostile keys', () => {
  it('of any size cost nothing', () => {
    const desk = new Desk();
    desk.access.setKeys([keyOf().record]);
    const huge = ['x'.repeat(50_000_000), `tern_${'é'.repeat(43)}`, '\0'.repeat(48), `tern_${'A'.repeat(42)}\n`];
    const start = cpuMs();
    for (let i = 0; i < 10_000; i++) expect(desk.ask(huge[i % huge.length]!).kind).toBe('unknown-key');
    expect(cpuMs() - start).toBeLessThan(2000);
  });
});
