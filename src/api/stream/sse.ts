import type { ServerResponse } from 'node:http';
import type { EventSink, EventText, StreamEnd } from '#api/stream/subscriber.js';
import type { CancelSchedule, Clock } from '#kernel/clock.js';

interface SseOptions {
  readonly keepAliveMs: number;
  readonly lingerMs: number;
}

/** A connection that events are written to as Server-Sent Events. */
export class SseConnection implements EventSink {
  readonly #response: ServerResponse;
  readonly #options: SseOptions;
  readonly #clock: Clock;
  #cancel: CancelSchedule = () => {};

  constructor(response: ServerResponse, options: SseOptions, clock: Clock) {
    this.#response = response;
    this.#options = options;
    this.#clock = clock;
    response.once('close', () => this.#cancel());
    this.#keepAlive();
  }

  get buffered(): number {
    return this.#response.writableLength;
  }

  /** The first frame. @param status JSON */
  connected(status: string, cursor: string): void {
    this.#write(`event: connected\ndata: ${status}\nid: ${cursor}\n\n`);
  }

  send(text: EventText, cursor: string | null): void {
    const id = cursor === null ? '' : `id: ${cursor}\n`;
    this.#write(text.framed('sse', cursor, (json) => `event: event\ndata: ${json}\n${id}\n`));
  }

  drained(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        response.off('drain', end).off('close', end);
        resolve();
      };
      response.on('drain', end).on('close', end);
    });
  }

  end(reason: StreamEnd, cursor: string, problem?: string): void {
    this.#cancel();
    const response = this.#response;
    if (reason !== 'shutting-down')
      this.#write(`event: ${reason}\ndata: ${endJson(reason, cursor, problem)}\nid: ${cursor}\n\n`);
    response.end();
    this.#cancel = this.#clock.schedule(this.#options.lingerMs, () => response.destroy());
  }

  #write(frame: string | Buffer): void {
    if (!this.#response.destroyed && !this.#response.writableEnded) this.#response.write(frame);
  }

  /** Who takes nothing is disconnected as with any answer. */
  #keepAlive(): void {
    this.#cancel = this.#clock.schedule(this.#options.keepAliveMs, () => {
      this.#write(': keepalive\n\n');
      this.#keepAlive();
    });
  }
}

/** The last event of a stream that the server ends. */
export function endJson(reason: StreamEnd, cursor: string, problem: string | undefined): string {
  return JSON.stringify({ type: reason, ...(problem === undefined ? {} : { error: problem }), cursor });
}
