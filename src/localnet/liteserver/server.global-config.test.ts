import { expect, it } from 'vitest';
import { globalConfig } from '#localnet/liteserver/server.js';

it('the configuration for clients has the numbers of 64 bits whole', () => {
  const hash = (byte: number) => new Uint8Array(32).fill(byte);
  const zerostate = { workchain: -1, shard: 1n << 63n, seqno: 0, root_hash: hash(1), file_hash: hash(2) };
  const text = globalConfig({ host: '192.168.1.2', port: 4443, publicKey: hash(3) }, zerostate);
  expect(text.match(/"shard": -9223372036854775808/g)).toHaveLength(2);
  const { liteservers, validator } = JSON.parse(text) as { liteservers: object[]; validator: { zero_state: object } };
  expect(liteservers).toEqual([
    {
      ip: -1062731518,
      port: 4443,
      id: { '@type': 'pub.ed25519', key: 'AwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwM=' },
    },
  ]);
  expect(validator.zero_state).toMatchObject({
    workchain: -1,
    seqno: 0,
    root_hash: 'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=',
  });
});
