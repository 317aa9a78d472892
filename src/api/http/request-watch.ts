import type { ServerResponse } from 'node:http';
import { httpErrors } from '#api/http/errors.js';
import type { Deadline } from '#kernel/deadline.js';
import { sharedAbortController } from '#kernel/shared-abort.js';

/**
 * How much longer than its deadline a read may take, so that its own error, which says what was queried and what happened,
 * comes before the general one.
 */
const GRACE_MS = 250;

/** Watches one request: whether its client is still connected, and its deadline. */
export class RequestWatch {
  readonly #response: ServerResponse;
  readonly #controller = sharedAbortController();
  readonly #onClose = () => {
    if (!this.#response.writableFinished) this.#controller.abort(httpErrors['client-left']({}));
  };

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', this.#onClose);
    if (response.destroyed) this.#onClose();
  }

  /** Aborted when the client has disconnected, and by `stop`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** @param until time of the clock */
  deadline(deadlineMs: number, until: number): Deadline {
    return {
      until: until + GRACE_MS,
      signal: this.signal,
      expired: () => httpErrors.deadline({ ms: deadlineMs }),
      aborted: () => httpErrors['client-left']({}),
    };
  }

  /** Calls when the response is written or its connection is closed, at once when it is. */
  onClosed(run: () => void): void {
    if (this.#response.destroyed) run();
    else this.#response.once('close', run);
  }

  /** Aborts the work that is done for this request alone. */
  stop(reason: unknown): void {
    this.#controller.abort(reason);
  }

  end(): void {
    this.#response.off('close', this.#onClose);
  }
}
