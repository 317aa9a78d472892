import type { RandomBytes } from '#drivers/adnl/keys.js';
import { type AdnlServer, listenAdnl } from '#drivers/adnl/server.js';
import { answerLiteQuery, type LiteModules } from '#localnet/liteserver/answer.js';
import { liteserverErrors } from '#localnet/liteserver/errors.js';
import type { LiteserverOptions } from '#localnet/liteserver/options.js';

/** What a liteserver needs from outside. */
export interface LiteserverModules extends LiteModules {
  readonly randomBytes: RandomBytes;
  /** Is told why a client was cut off or got no answer, and of defects; must not throw. */
  readonly onFault?: (error: unknown, remote: string) => void;
}

/**
 * Starts a liteserver over a ledger. Resolves when it listens; `close()` ends it.
 * @throws adnl/bad-option, adnl/listen-failed
 */
export function startLiteserver(options: LiteserverOptions, modules: LiteserverModules): Promise<AdnlServer> {
  const { clock, randomBytes, onFault } = modules;
  return listenAdnl(options, {
    clock,
    randomBytes,
    ...(onFault === undefined ? {} : { onFault }),
    onQuery: async (query, { signal, remote }) => {
      const onDefect = (error: unknown) => onFault?.(error, remote);
      const answer = await answerLiteQuery(query, { ...modules, onDefect }, signal);
      if (answer === null) throw liteserverErrors['bad-query']({ problem: 'a query that is no liteServer.query' });
      return answer;
    },
  });
}
