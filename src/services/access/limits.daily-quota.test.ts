import { describe, expect, it } from 'vitest';
import { DailyQuota, dayOf } from '#services/access/limits.js';

describe('requests of the day', () => {
  let now = Date.UTC(2025, 0, 31, 23, 59, 59, 500);
  const at = (...moment: [number, number, number, number, number, number]): number => {
    now = Date.UTC(...moment);
    return now;
  };

  it('begin again at midnight UTC', () => {
    at(2025, 0, 31, 23, 59, 59);
    const quota = new DailyQuota({ unixTimeMs: () => now });
    quota.add('a');
    quota.add('a');
    expect([quota.day, quota.used('a'), quota.used('b'), quota.untilNextDayMs]).toEqual(['2025-01-31', 2, 0, 1000]);
    at(2025, 1, 1, 0, 0, 0);
    expect([quota.day, quota.used('a'), quota.untilNextDayMs]).toEqual(['2025-02-01', 0, 86_400_000]);
  });

  it('are not forgotten when the clock is set back', () => {
    at(2025, 1, 1, 0, 0, 1);
    const quota = new DailyQuota({ unixTimeMs: () => now });
    quota.add('a');
    at(2025, 0, 31, 23, 0, 0);
    expect([quota.day, quota.used('a')]).toEqual(['2025-02-01', 1]);
    expect(quota.untilNextDayMs).toBe(25 * 3_600_000);
  });

  it('take over what others counted, never less, and of the same day only', () => {
    at(2025, 1, 1, 12, 0, 0);
    const quota = new DailyQuota({ unixTimeMs: () => now });
    quota.add('a');
    quota.restore('2025-01-31', new Map([['a', 100]]));
    expect(quota.used('a')).toBe(1);
    quota.restore('2025-02-01', new Map([['a', 100]]));
    quota.restore('2025-02-01', new Map([['a', 50]]));
    quota.raise('a', 70);
    quota.add('a');
    expect(quota.used('a')).toBe(101);
  });

  it('are of a day in UTC', () => {
    expect([dayOf(0), dayOf(86_399_999), dayOf(86_400_000)]).toEqual(['1970-01-01', '1970-01-01', '1970-01-02']);
  });
});
