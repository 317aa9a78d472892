import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Limits, limitsOn, Plans, parsePlans, quotaText, rateText, readPlanFile } from '#services/access/plans.js';
import { errorOf } from '#test/support/error-code.js';

const parse = (plans: unknown): Plans => parsePlans('plans.json', JSON.stringify({ plans }));

describe('plans', () => {
  it('are there without a file', () => {
    const rates = new Plans().names.map((name) => [name, new Plans().find(name)!.requests_per_second]);
    expect(rates).toEqual([
      ['anonymous', 1],
      ['free', 10],
      ['plus', 25],
      ['advanced', 100],
      ['unlimited', null],
    ]);
  });

  it('are read with all they may say', () => {
    const plans = parse([
      {
        name: 'team',
        requests_per_second: 50,
        burst: 80,
        daily_quota: 1000,
        networks: { mainnet: {}, testnet: { requests_per_second: 5, daily_quota: null }, local: { burst: 7 } },
        group: 'own',
      },
      { name: 'slow', requests_per_second: 0.5, networks: ['mainnet'] },
      { name: 'free', requests_per_second: 2.9 },
      { name: 'all', requests_per_second: null },
    ]);
    const team = plans.find('team')!;
    expect(team).toMatchObject({ requests_per_second: 50, burst: 80, daily_quota: 1000, group: 'own' });
    expect(limitsOn(team, 'mainnet')).toMatchObject({ requests_per_second: 50, burst: 80, daily_quota: 1000 });
    expect(limitsOn(team, 'testnet')).toMatchObject({ requests_per_second: 5, burst: 5, daily_quota: null });
    expect(limitsOn(team, 'local')).toMatchObject({ requests_per_second: 50, burst: 7, daily_quota: 1000 });
    expect(limitsOn(team, 'other')).toBeNull();
    expect(plans.find('slow')).toMatchObject({ requests_per_second: 0.5, burst: 1, group: null });
    expect(limitsOn(plans.find('slow')!, 'testnet')).toBeNull();
    expect(plans.find('free')).toMatchObject({ requests_per_second: 2.9, burst: 2, networks: null });
    expect(limitsOn(plans.find('all')!, 'any')).toMatchObject({ requests_per_second: null, daily_quota: null });
    expect(plans.find('plus')).not.toBeNull();
  });

  it('have a budget of work, which follows from their requests when it is not named', () => {
    const work = ({ work_per_second, work_burst }: Limits) => [work_per_second, work_burst];
    const builtIn = new Plans();
    expect(work(builtIn.anonymous)).toEqual([20, 200]);
    expect(work(builtIn.find('free')!)).toEqual([200, 2_000]);
    expect(work(builtIn.find('unlimited')!)[0]).toBeNull();
    const plans = parse([
      { name: 'a', requests_per_second: 5, networks: { one: {}, two: { requests_per_second: 50 } } },
      { name: 'b', requests_per_second: 5, work_per_second: 7, networks: { one: { requests_per_second: 50 } } },
      { name: 'c', requests_per_second: 5, work_per_second: null },
      { name: 'd', requests_per_second: null, work_per_second: 0.5, work_burst: 10 },
      { name: 'e', requests_per_second: 5, networks: { one: { work_per_second: 300 }, two: { work_burst: 50 } } },
    ]);
    const on = (name: string, network: string) => work(limitsOn(plans.find(name)!, network)!);
    expect(on('a', 'one')).toEqual([100, 1_000]);
    expect(on('a', 'two')).toEqual([1_000, 10_000]);
    expect(on('b', 'one')).toEqual([7, 200]);
    expect(on('c', 'any')[0]).toBeNull();
    expect(on('d', 'any')).toEqual([0.5, 10]);
    expect(on('e', 'one')).toEqual([300, 3_000]);
    expect(on('e', 'two')).toEqual([100, 50]);
    const problem = 'plans[0].work_per_second is -1; allowed is a number of work units from 0.001 to 1000000, or null';
    expect(errorOf(() => parse([{ name: 'x', requests_per_second: 1, work_per_second: -1 }])).message).toContain(
      problem,
    );
  });

  const team = { name: 'team', requests_per_second: 5 };
  it.each<[unknown, string]>([
    ['{}', 'plans is "{}"; allowed is a list'],
    [[5], 'plans[0] is 5; allowed is an object'],
    [[team, { ...team }], 'plans[1].name is "team"; allowed is a name that no plan before it has'],
    [[{ ...team, name: 'a b' }], 'plans[0].name is "a b"; allowed is a name of up to 64'],
    [[{ ...team, name: undefined }], 'plans[0].name is absent; allowed is a name'],
    [[{ name: 'team' }], 'plans[0].requests_per_second is absent; allowed is a number from 0.001 to 1000000, or null'],
    [[{ ...team, requests_per_second: 0 }], 'plans[0].requests_per_second is 0; allowed'],
    [[{ ...team, requests_per_second: '10' }], 'plans[0].requests_per_second is "10"; allowed'],
    [[{ ...team, burst: 0 }], 'plans[0].burst is 0; allowed is a whole number from 1'],
    [[{ ...team, burst: 1.5 }], 'plans[0].burst is 1.5; allowed is a whole number from 1'],
    [[{ ...team, daily_quota: -1 }], 'plans[0].daily_quota is -1; allowed is a whole number from 1'],
    [[{ ...team, group: '' }], 'plans[0].group is ""; allowed is a name'],
    [[{ ...team, rps: 1 }], 'plans[0].rps is 1; allowed is nothing: known are name, requests_per_second'],
    [[{ ...team, networks: [] }], 'plans[0].networks is a list of 0; allowed is at least one network'],
    [[{ ...team, networks: [7] }], 'plans[0].networks[0] is 7; allowed is a name'],
    [[{ ...team, networks: { 'a b': {} } }], 'plans[0].networks.a b is an object; allowed is a network named by'],
    [[{ ...team, networks: { a: { burst: 'x' } } }], 'plans[0].networks.a.burst is "x"; allowed is a whole number'],
    [[{ ...team, networks: { a: { group: 'x' } } }], 'plans[0].networks.a.group is "x"; allowed is nothing'],
    [[{ ...team, name: 'anonymous', daily_quota: 9 }], 'plans[0].daily_quota is 9; allowed is null for the plan'],
  ])('are refused when they are %j', (plans, message) => {
    const error = errorOf(() => parse(plans));
    expect([error.code, error.class]).toEqual(['access/field', 'caller']);
    expect(error.message).toContain(`plans.json: ${message}`);
  });

  it('are refused when the file is none', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tern-plans-'));
    const file = join(folder, 'plans.json');
    try {
      expect(errorOf(() => readPlanFile(file)).message).toMatch(/plans\.json: it cannot be read: ENOENT/);
      writeFileSync(file, '{"plans": [');
      expect(errorOf(() => readPlanFile(file))).toMatchObject({ code: 'access/file' });
      writeFileSync(file, ' '.repeat(2 ** 20 + 1));
      expect(errorOf(() => readPlanFile(file)).message).toContain('1048577 bytes');
      writeFileSync(file, '{"plans": [], "more": 1}');
      expect(errorOf(() => readPlanFile(file)).message).toContain('more is 1; allowed is nothing: known are plans');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('say in words what they allow', () => {
    expect([1, 0.5, 0.3, 10].map(rateText)).toEqual([
      '1 request per second',
      '1 request per 2 seconds',
      '0.3 requests per second',
      '10 requests per second',
    ]);
    expect([1, 500].map(quotaText)).toEqual(['1 request per day (UTC)', '500 requests per day (UTC)']);
  });
});
