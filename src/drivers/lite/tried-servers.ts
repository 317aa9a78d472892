import { liteErrors } from '#drivers/lite/errors.js';
import type { Failure } from '#drivers/lite/outcome.js';
import type { LiteServer } from '#drivers/lite/server.js';
import type { TernError } from '#kernel/errors/tern-error.js';

/** Longest text of all that was tried. */
const MAX_TEXT = 2_000;

/** Which servers a request has asked, and how that ended. */
export class TriedServers {
  readonly #failures: { readonly server: LiteServer; readonly failure: Failure }[] = [];

  get count(): number {
    return this.#failures.length;
  }

  add(server: LiteServer, failure: Failure): void {
    this.#failures.push({ server, failure });
  }

  /** Whether one of them failed in such a way. */
  some(...kinds: readonly Failure['kind'][]): boolean {
    return this.#failures.some(({ failure }) => kinds.includes(failure.kind));
  }

  /** Servers that said that they do not have it. */
  *missing(): Iterable<LiteServer> {
    for (const { server, failure } of this.#failures) if (failure.kind === 'missing') yield server;
  }

  /** Servers that refused. */
  *refused(): Iterable<LiteServer> {
    for (const { server, failure } of this.#failures) if (failure.kind === 'refused') yield server;
  }

  /** The first refusal as an error, if there is one. */
  refusal(fn: string): TernError | null {
    for (const { server, failure } of this.#failures)
      if (failure.kind === 'refused') return refusalError(server, fn, failure);
    return null;
  }

  /** Each server once for each way in which it failed: `1.2.3.4:5: error 651: not in db; …`. */
  text(): string {
    const parts = new Map<string, number>();
    for (const { server, failure } of this.#failures) {
      const part = `${server.name}: ${failure.text}`;
      parts.set(part, (parts.get(part) ?? 0) + 1);
    }
    const all = [...parts].map(([part, times]) => (times === 1 ? part : `${part} (${times} times)`)).join('; ');
    return all.length > MAX_TEXT ? `${all.slice(0, MAX_TEXT)}…` : all;
  }
}

/** What a server said, as an error. */
function refusalError(server: LiteServer, fn: string, { code = 0, text, error }: Failure): TernError {
  if (error !== undefined) return error;
  const said = text.replace(/^error -?\d+: /, '');
  return liteErrors['answer-error']({ server: server.name, function: fn, code, text: said });
}

/** The servers that were not asked, and why. */
export function idleText(servers: readonly LiteServer[], headSeqno: number, maxLag: number): string {
  const parts = servers.map((server) => {
    const { health } = server;
    const state = health.state(headSeqno - server.seqno, maxLag);
    const reason = state === 'quarantined' ? health.quarantineReason : health.problem;
    return `${server.name}: not asked, ${state}${reason === '' ? '' : ` (${reason})`}`;
  });
  const all = parts.join('; ');
  return all.length > MAX_TEXT ? `${all.slice(0, MAX_TEXT)}…` : all;
}
