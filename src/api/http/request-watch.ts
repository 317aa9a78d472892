import type { ServerResponse } from 'node:http';
import { httpErrors } from '#api/http/errors.js';
import type { Patience } from '#kernel/async/wait-until.js';
import type { Clock } from '#kernel/clock/clock.js';

/**
 * What a read may take longer than its deadline, so that its own error, which says who was asked and what happened, comes
 * before the one that just says that time is up.
 */
const GRACE_MS = 250;

/** Watches one request: whether its client still waits, and for how long it may. */
export class RequestWatch {
  readonly #response: ServerResponse;
  readonly #controller = new AbortController();
  readonly #onClose = () => {
    if (!this.#response.writableFinished) this.#controller.abort(httpErrors['client-left']({}));
  };

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', this.#onClose);
    if (response.destroyed) this.#onClose();
  }

  /** Aborted when the client has gone away, and by `stop`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  patience(deadlineMs: number, clock: Clock): Patience {
    return {
      until: clock.now() + deadlineMs + GRACE_MS,
      signal: this.signal,
      expired: () => httpErrors.deadline({ ms: deadlineMs }),
      aborted: () => httpErrors['client-left']({}),
    };
  }

  /** Tells whoever works on it alone to stop. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  end(): void {
    this.#response.off('close', this.#onClose);
  }
}
