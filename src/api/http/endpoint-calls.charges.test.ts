import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { compileApi, type EndpointCall, EndpointCalls, RequestWatch } from '#api/http/endpoint-calls.js';
import { HeldAnswers } from '#api/http/held-answers.js';
import { checkHttpOptions } from '#api/http/options.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { fakeNetwork } from '#test/support/fake-http-api.js';
import { fakePlainApi, PlainWorld } from '#test/support/fake-plain-api.js';

const settings = checkHttpOptions({ host: '127.0.0.1', port: 0, version: '2.2.0' });
const PRICE = 20;

/** Calls an endpoint with an answer of so many characters. @returns what its client was charged: of its place in the queue, and of its budget */
async function chargesOf(length: number, isQueuedElsewhere: boolean): Promise<{ turns: number; budget: number }> {
  const clock = new FakeClock();
  const calls = new EndpointCalls(settings, clock, new HeldAnswers(settings, clock, () => {}));
  const api = fakePlainApi(new PlainWorld());
  const endpoints = api.endpoints.map((each) =>
    each.name === 'decode' ? { ...each, price: () => PRICE, isQueuedElsewhere } : each,
  );
  const endpoint = compileApi(fakeNetwork('testing', []), { ...api, endpoints }).find('decode')!;
  const charged = { turns: 0, budget: 0 };
  const call: EndpointCall = {
    endpoint,
    raw: { text: `"${'x'.repeat(length - 2)}"` },
    source: 'body',
    profile: 'spec',
    switches: { values: {}, given: null },
    group: null,
    client: 'a',
    hasKey: true,
    work: {
      take: (units) => {
        charged.budget += units;
        return { kind: 'allowed' };
      },
      settle: (taken, done) => {
        charged.budget += done - taken;
      },
    },
    charge: (units) => {
      charged.turns += units;
    },
    minSeqno: null,
    waitedMs: 0,
  };
  const watch = new RequestWatch(new ServerResponse(new IncomingMessage(new Socket())));
  const { result } = await calls.run(call, null, watch);
  expect(result.length).toBe(length);
  return charged;
}

it('is charged for what this thread does of a call, and its budget for all of it', async () => {
  expect(await chargesOf(10, false)).toEqual({ turns: PRICE, budget: PRICE });
  expect(await chargesOf(10, true)).toEqual({ turns: expect.closeTo(3.1, 2), budget: PRICE });
  // Sending takes 0.1, and 1 for each 40 kB.
  expect(await chargesOf(400_000, true)).toEqual({ turns: expect.closeTo(13.1, 2), budget: PRICE });
});
