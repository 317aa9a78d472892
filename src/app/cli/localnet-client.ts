import { cliErrors } from '#app/cli/errors.js';

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
