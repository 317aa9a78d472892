import { type Candidate, chooseServer, tierOf, type Wanted } from '#drivers/lite/choose-server.js';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteRequest } from '#drivers/lite/lite-source.js';
import type { PoolContext } from '#drivers/lite/pool-context.js';
import type { LiteServer } from '#drivers/lite/server.js';
import { idleText, TriedServers } from '#drivers/lite/tried-servers.js';
import { isTernError } from '#kernel/errors/tern-error.js';

/** Up to `count` servers that fit, the best ones first. */
export function chooseServers(context: PoolContext, wanted: Wanted, count: number): LiteServer[] {
  const { servers, settings, modules, referenceSeqno } = context;
  let candidates: Candidate[] = [];
  for (const server of servers) {
    const tier = tierOf(server, wanted, { headSeqno: referenceSeqno, maxLag: settings.maxLag });
    if (tier !== null) candidates.push({ server, tier });
  }
  const chosen: LiteServer[] = [];
  while (chosen.length < count) {
    const server = chooseServer(candidates, modules.random);
    if (server === null) break;
    chosen.push(server);
    candidates = candidates.filter((each) => each.server !== server);
  }
  return chosen;
}

/**
 * Gives the same query to several servers; the first true answer counts, the others are let finish.
 *
 * @throws lite/answer-error when none accepts it and one says why; else lite/unanswered
 */
export function fanOut<Query, Answer, Value>(
  context: PoolContext,
  request: LiteRequest<Query, Answer, Value>,
  bytes: Uint8Array,
  servers: readonly LiteServer[],
): Promise<Value> {
  const { settings, modules, referenceSeqno } = context;
  const fn = request.fn.name;
  const begun = modules.clock.now();
  const tried = new TriedServers();
  const timeoutMs = request.deadlineMs ?? settings.deadlineMs;
  return new Promise((resolve, reject) => {
    let left = servers.length;
    const end = () => {
      if (--left > 0) return;
      const afterMs = Math.round(modules.clock.now() - begun);
      const text = tried.count > 0 ? tried.text() : idleText(context.servers, referenceSeqno, settings.maxLag);
      reject(tried.refusal(fn) ?? liteErrors.unanswered({ function: fn, afterMs, tried: text }));
    };
    if (left === 0) {
      left = 1;
      end();
    }
    for (const server of servers) {
      server.ask(request.fn, bytes, { timeoutMs }).then((outcome) => {
        if (!outcome.ok) {
          tried.add(server, outcome.failure);
          if (outcome.failure.kind === 'lied') server.quarantine(`${fn}: ${outcome.failure.text}`);
          end();
          return;
        }
        try {
          resolve(request.verify(outcome.answer));
        } catch (error) {
          if (!isTernError(error) || error.class !== 'upstream') {
            reject(error);
            return;
          }
          tried.add(server, { kind: 'lied', text: `the answer is not true: ${error.message}`, error });
          server.quarantine(`${fn}: ${error.code}: ${error.message}`);
          end();
        }
      }, reject);
    }
  });
}
