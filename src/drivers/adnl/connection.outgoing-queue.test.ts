import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { OutgoingQueue, PIECE_BYTES } from '#drivers/adnl/connection.js';

it('gives back what was added, in order, in pieces as large as may be', () => {
  const queue = new OutgoingQueue();
  const sizes = [10, 0, 65_526, 1, 300_000, ...Array.from({ length: 3000 }, () => 100)];
  const parts = sizes.map((size) => randomBytes(size));
  for (const part of parts) queue.add(part);
  const whole = Buffer.concat(parts);
  expect([queue.added, queue.taken, queue.waiting]).toEqual([whole.length, 0, whole.length]);
  const pieces: Uint8Array[] = [];
  while (queue.waiting > 0) {
    pieces.push(queue.take());
    if (pieces.length === 3) {
      queue.add(parts[0]!);
    }
  }
  expect(Buffer.compare(Buffer.concat(pieces), Buffer.concat([whole, parts[0]!]))).toBe(0);
  expect(new Set(pieces.slice(0, -1).map((piece) => piece.length))).toEqual(new Set([PIECE_BYTES]));
  expect(queue.taken).toBe(whole.length + 10);
});

it('forgets what waits, not what was taken', () => {
  const queue = new OutgoingQueue();
  queue.add(new Uint8Array(PIECE_BYTES + 5));
  queue.take();
  queue.clear();
  expect([queue.waiting, queue.taken]).toEqual([0, PIECE_BYTES]);
  queue.add(Uint8Array.of(7));
  expect(queue.take()).toEqual(Uint8Array.of(7));
});
