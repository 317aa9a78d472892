import { cliErrors } from '#app/cli/errors.js';
import type { LocalnetAnswer, LocalnetClient } from '#app/cli/localnet/localnet-client.js';
import { pause } from '#kernel/async/pause.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** For everything that follows a chain to end and to begin anew. */
const PATIENCE_MS = 60_000;
const EVERY_MS = 100;

/**
 * Waits until a network has begun anew; meanwhile nothing listens there.
 * @param ending names the chain that ends
 * @returns the status of the chain after it
 * @throws cli/no-localnet, cli/localnet-failed: what the last attempt met, when it takes too long
 */
export async function begunAnew(client: LocalnetClient, { chain }: LocalnetAnswer): Promise<LocalnetAnswer> {
  for (const until = systemClock.now() + PATIENCE_MS; ; await pause(EVERY_MS, systemClock)) {
    const isLast = systemClock.now() > until;
    try {
      const status = await client.get('status');
      if (status.chain !== chain) return status;
      if (isLast) throw cliErrors['localnet-failed']({ problem: `chain ${chain} has not ended`, status: 504 });
    } catch (error) {
      if (isLast || !isTernError(error)) throw error;
    }
  }
}
