import { describe, expect, it } from 'vitest';
import type { AnyHttpApi, HttpNetwork } from '#api/http/http-api.js';
import { NetworkSlot } from '#app/service/network.js';
import { localnetErrors } from '#localnet/node/errors.js';

const changing = localnetErrors['other-command']({ command: 'a reset' });
const stopped = localnetErrors.stopped({ problem: 'no space' });

/** A network whose contexts are its name. */
function content(name: string) {
  const events: string[] = [];
  const api = (prefix: string) => ({ prefix, endpoints: [], context: () => name }) as unknown as AnyHttpApi;
  const http: HttpNetwork = {
    name: 'dev',
    hosts: [],
    apis: [api('/api/v2'), api('/localnet')],
    health: () => ({ ready: true, problem: null, headSeqno: 1, headAgeMs: 0 }),
    headSeqno: () => name.length,
  };
  return { http, events, close: async () => void events.push('closed') };
}

const contexts = ({ http }: NetworkSlot<ReturnType<typeof content>>) =>
  http.apis.map((api) => {
    try {
      return api.context({} as never) as string;
    } catch (error) {
      return (error as typeof changing).code;
    }
  });

describe('a network slot', () => {
  it('serves the latest network, and refuses requests while it is replaced', async () => {
    const [first, second] = [content('one'), content('second')];
    const slot = new NetworkSlot(first);
    expect([contexts(slot), slot.http.headSeqno(), slot.http.epoch!()]).toEqual([['one', 'one'], 3, 0]);
    let seen: unknown = null;
    await slot.replace({
      meanwhile: changing,
      failed: () => stopped,
      open: async () => {
        seen = [contexts(slot), slot.http.health(), first.events];
        return second;
      },
    });
    // The control API is never refused: it says itself what goes on.
    expect(seen).toEqual([
      ['localnet/other-command', 'one'],
      { ready: false, problem: changing.message, headSeqno: 0, headAgeMs: null },
      ['closed'],
    ]);
    expect([contexts(slot), slot.http.headSeqno(), slot.http.health().ready]).toEqual([['second', 'second'], 6, true]);
    // No response that was cached before or meanwhile is served again.
    expect(slot.http.epoch!()).toBe(2);
  });

  it('says why there is none, and takes the next one', async () => {
    const slot = new NetworkSlot(content('one'));
    const how = { meanwhile: changing, failed: () => stopped };
    await expect(slot.replace({ ...how, open: () => Promise.reject(changing) })).rejects.toBe(changing);
    expect([contexts(slot)[0], slot.http.health().problem]).toEqual(['localnet/stopped', stopped.message]);
    await slot.replace({ ...how, open: async () => content('two') });
    expect(contexts(slot)).toEqual(['two', 'two']);
  });
});
