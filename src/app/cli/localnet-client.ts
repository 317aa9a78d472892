import { cliErrors } from '#app/cli/errors.js';
import { pause, systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';

/** JSON answer of the control API. */
// biome-ignore lint/suspicious/noExplicitAny: answers of all methods
export type LocalnetAnswer = any;

/** Client of the control API. */
export class LocalnetClient {
  /** Without a trailing slash. */
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  get(method: string): Promise<LocalnetAnswer> {
    return this.#ask(method, {});
  }

  post(method: string, parameters: object = {}): Promise<LocalnetAnswer> {
    return this.#ask(method, { method: 'POST', body: JSON.stringify(parameters) });
  }

  /** @throws cli/no-localnet, cli/not-local, cli/localnet-refused, cli/localnet-failed */
  async #ask(method: string, init: RequestInit): Promise<LocalnetAnswer> {
    const { url } = this;
    let status: number;
    let text: string;
    try {
      const response = await fetch(`${url}/localnet/${method}`, init);
      status = response.status;
      text = await response.text();
    } catch (error) {
      throw cliErrors['no-localnet']({ url, problem: reasonOf(error) }, error);
    }
    const answer = parsed(text);
    if (status === 200 && answer !== undefined) return answer;
    const problem: unknown = answer?.error;
    if (typeof problem !== 'string' || (status === 404 && problem === NOT_FOUND)) {
      throw cliErrors['not-local']({ url, status });
    }
    throw status < 500 ? cliErrors['localnet-refused']({ problem }) : cliErrors['localnet-failed']({ problem, status });
  }
}

/** Error of a server for an unknown path. */
const NOT_FOUND = 'Not Found';

/** Undefined when it is not a JSON object. */
function parsed(text: string): LocalnetAnswer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The cause of a `fetch` error, such as `ECONNREFUSED`. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  const reason = cause ?? error;
  if (typeof reason === 'object' && reason !== null && 'code' in reason) return String(reason.code);
  return reason instanceof Error ? reason.message : String(reason);
}

/** Timeout for the restart of everything that follows the chain. */
const RESTART_TIMEOUT_MS = 60_000;
const RESTART_POLL_MS = 100;

/**
 * Waits until a network has restarted with another chain; meanwhile its server does not listen.
 * @param client of the control API; the answer contains the id of the previous chain
 * @returns the status of the new chain
 * @throws cli/no-localnet, cli/localnet-failed: the error of the last attempt after the timeout
 */
export async function waitForRestart(client: LocalnetClient, { chain }: LocalnetAnswer): Promise<LocalnetAnswer> {
  for (const until = systemClock.now() + RESTART_TIMEOUT_MS; ; await pause(RESTART_POLL_MS, systemClock)) {
    const isLast = systemClock.now() > until;
    try {
      const status = await client.get('status');
      if (status.chain !== chain) return status;
      if (isLast) throw cliErrors['localnet-failed']({ problem: `chain ${chain} is still running`, status: 504 });
    } catch (error) {
      if (isLast || !isTernError(error)) throw error;
    }
  }
}
