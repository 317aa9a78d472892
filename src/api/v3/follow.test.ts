import { expect, it } from 'vitest';
import type { RawReply, RawRequest } from '#api/http/http-api.js';
import { followRoute } from '#api/v3/follow.js';
import type { MessageFollow } from '#services/pending/message-follow.js';
import { FakeClock } from '#test/support/fake-clock.js';

it('lets one client wait for 256 messages, whatever addresses its requests come from', async () => {
  const follow: Pick<MessageFollow, 'follow'> = {
    follow: async function* (_, __, signal) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const route = followRoute({ followOf: () => follow as MessageFollow, clock: new FakeClock() });
  const stop = new AbortController();
  const ask = (client: string, clientAddress: string) => {
    const request = { client, clientAddress, keyId: null, rest: 'ab'.repeat(32), query: {}, headers: {} };
    return route.handle!({ ...request, signal: stop.signal } as unknown as RawRequest, {} as RawReply);
  };
  const waiting = Array.from({ length: 256 }, (_, i) => ask('2001:db8::', `2001:db8::${i.toString(16)}`));
  await expect(ask('2001:db8::', '2001:db8::ffff')).rejects.toThrow('256 requests of this client');
  waiting.push(ask('2001:db8:1::', '2001:db8:1::1'));
  stop.abort(new Error('over'));
  expect((await Promise.allSettled(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 'rejected'));
});
