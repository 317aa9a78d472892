import { expect, it } from 'vitest';
import { type ServerLook, topFigures, topScreen } from '#app/cli/top-screen.js';
import { prometheusSamples } from '#kernel/prometheus-text.js';

const health = {
  ready: true,
  problem: null,
  head_seqno: 120,
  head_age_ms: 1_500,
  details: { servers: 3, healthy_servers: 2, index: 'readable', index_lag_seconds: 0 },
};

const look = (atMs: number, blocks: number, requests: number): ServerLook => ({
  atMs,
  networks: { main: health },
  samples: prometheusSamples(`
tern_index_written_masterchain_blocks_total{network="main"} ${blocks}
tern_index_written_masterchain_blocks_total{network="other"} 999
tern_index_fill_missing_blocks{network="main"} 600
tern_http_request_duration_seconds_count{api="/api/v2"} ${requests}
tern_http_request_duration_seconds_bucket{api="/api/v2",le="0.05"} ${requests}
tern_http_request_duration_seconds_bucket{api="/api/v2",le="+Inf"} ${requests}
tern_http_cache_hits_total ${requests}
tern_http_cache_misses_total 7
`),
});

it('rates are those between two looks, and what is left of a fill follows from them', () => {
  const figures = topFigures(look(4_000, 40, 300), look(2_000, 20, 100));
  expect(figures.networks).toEqual([
    {
      ...{ name: 'main', ready: true, problem: null, head_seqno: 120, head_age_seconds: 1.5, index: 'readable' },
      ...{ index_lag_seconds: 0, index_blocks_per_second: 10, index_transactions_per_second: null },
      ...{ fill_missing_blocks: 600, fill_seconds_left: 60, actions_left: null, contracts_queued: null },
      ...{ servers: 3, healthy_servers: 2, quarantines: null },
    },
  ]);
  expect(figures.apis).toEqual([{ api: '/api/v2', requests_per_second: 100, median_seconds: 0.05, p99_seconds: 0.05 }]);
  expect([figures.requests_per_second, figures.cache_hit_share, figures.memory_bytes]).toEqual([100, 1, null]);
});

it('counters that were reset have no negative rates, and looks at one moment none', () => {
  expect(topFigures(look(4_000, 1, 1), look(2_000, 20, 100)).requests_per_second).toBe(0);
  expect(topFigures(look(2_000, 1, 1), look(2_000, 1, 1)).requests_per_second).toBeNull();
});

it('the screen has a line for each figure', () => {
  const screen = topScreen('http://x', topFigures(look(4_000, 40, 300), look(2_000, 20, 100)));
  expect(screen).toContain('network main: ready');
  expect(screen).toMatch(/newest block +120, 1\.5 s old/);
  expect(screen).toMatch(/filling +600 blocks left, 60\.0 s/);
  expect(screen).toMatch(/\/api\/v2 +100\/s, half within 50 ms, 99 % within 50 ms/);
});
