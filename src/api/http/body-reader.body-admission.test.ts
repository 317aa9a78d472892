import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { type AdmittedBody, BodyAdmission, hasLargeBody, largeBodyBytes } from '#api/http/body-reader.js';
import type { TurnKind } from '#api/http/turns.js';
import type { TernError } from '#kernel/tern-error.js';
import { FakeClock } from '#test/support/fake-clock.js';

const SETTINGS = {
  maxBodyBytes: 100_000,
  maxBodiesBytes: 400_000,
  maxAdmittedBytes: 100_000,
  maxBodiesPerAddress: 3,
  deadlineMs: 5_000,
};

class FakeMessage extends EventEmitter {
  readonly socket = Object.assign(new EventEmitter(), { bytesRead: 0, destroyed: false });
  paused = false;
  isPaused(): boolean {
    return this.paused;
  }
}

let clock: FakeClock;
let admission: BodyAdmission;
let admitted: string[];
beforeEach(() => {
  clock = new FakeClock();
  admission = new BodyAdmission(SETTINGS, clock);
  admitted = [];
});

interface Asked {
  readonly message: FakeMessage;
  readonly body: Promise<AdmittedBody>;
}

function ask(client: string, bytes = 50_000, kind: TurnKind = 'keyed'): Asked {
  const message = new FakeMessage();
  const body = admission.admit({ kind, client, weight: 1 }, bytes, message as unknown as IncomingMessage);
  body.then(
    () => admitted.push(client),
    (error: TernError) => admitted.push(`${client} ${error.code}`),
  );
  return { message, body };
}

/** Clients whose bodies were admitted, or refused, since it was called last. */
async function news(): Promise<string[]> {
  await new Promise((resolve) => setImmediate(resolve));
  return admitted.splice(0);
}

describe('large bodies', () => {
  it('are admitted until there is no room, and then as others are parsed, one client after the other', async () => {
    const first = ask('a');
    const second = ask('a');
    for (const client of ['a', 'a', 'b', 'b']) ask(client);
    // b has none in there, so it does not wait for those of a.
    expect(await news()).toEqual(['a', 'a', 'b']);
    expect(admission.waiting).toBe(3);
    const done = (await first.body).done;
    done();
    done();
    expect(await news()).toEqual([]);
    // Half of the room is left; it is that of a, who has waited from the beginning, and then that of b.
    (await second.body).done();
    expect(await news()).toEqual(['a']);
    expect(admission.waiting).toBe(2);
  });

  it('of new clients leave half of the room to those that are not admitted', async () => {
    for (let i = 0; i < 10; i++) ask(`client ${i}`, 50_000, 'others');
    expect((await news()).length).toBe(4);
    expect(admission.waiting).toBe(6);
  });

  it('that are larger than all of the room are admitted alone', async () => {
    admission = new BodyAdmission({ ...SETTINGS, maxAdmittedBytes: 1_000 }, clock);
    const large = ask('a', 90_000);
    ask('a', 90_000);
    expect(await news()).toEqual(['a']);
    (await large.body).done();
    expect(await news()).toEqual(['a']);
  });

  it('make room when they come slowly, and not while it is the server that does not read', async () => {
    const slow = ask('a', 100_000);
    ask('a');
    clock.advance(999);
    slow.message.socket.bytesRead = 25_000;
    clock.advance(1);
    slow.message.paused = true;
    clock.advance(1_000);
    expect(await news()).toEqual(['a']);
    slow.message.paused = false;
    slow.message.socket.bytesRead += 24_999;
    clock.advance(1_000);
    expect(await news()).toEqual(['a']);
  });

  it('that are whole are counted until they are parsed', async () => {
    const whole = ask('a', 100_000);
    ask('a');
    (await whole.body).whole();
    clock.advance(4_000);
    expect(await news()).toEqual(['a']);
    (await whole.body).done();
    expect(await news()).toEqual(['a']);
  });

  it('are refused when too many of a client wait, when they wait too long, and when their client leaves', async () => {
    const first = ask('a', 100_000);
    (await first.body).whole();
    const leaving = ask('a');
    ask('a');
    ask('a');
    ask('a');
    expect(await news()).toEqual(['a', 'a http/overloaded']);
    leaving.message.socket.emit('close');
    expect(await news()).toEqual(['a http/client-left']);
    clock.advance(5_000);
    expect(await news()).toEqual(['a http/overloaded', 'a http/overloaded']);
    expect(admission.waiting).toBe(0);
    expect(leaving.message.socket.listenerCount('close')).toBe(0);
  });
});

describe('a large body', () => {
  const message = (headers: Record<string, string>) => ({ headers }) as unknown as IncomingMessage;
  it.each([
    [{}, null, false],
    [{ 'content-length': '16383' }, null, false],
    [{ 'content-length': '16384' }, 16_384, true],
    [{ 'content-length': '100000' }, 100_000, true],
    // Refused before it is read.
    [{ 'content-length': '100001' }, null, true],
    [{ 'transfer-encoding': 'chunked' }, 100_000, true],
  ])('is known by its headers: %j', (headers, bytes, isLarge) => {
    expect([largeBodyBytes(message(headers), 100_000), hasLargeBody(message(headers))]).toEqual([bytes, isLarge]);
  });
});
