import type { Clock } from '#kernel/clock/clock.js';
import { isTernError } from '#kernel/errors/tern-error.js';
import { requireReadableType } from '#services/metadata/content-type.js';
import { metadataErrors } from '#services/metadata/errors.js';
import type { FetchLimits } from '#services/metadata/fetch-limits.js';
import { type FetchPolicy, hostOf } from '#services/metadata/fetch-policy.js';
import { httpGet } from '#services/metadata/http-get.js';
import { type MetadataLink, readWebLink } from '#services/metadata/metadata-link.js';
import { decodeBody, type MetadataDocument, readDocument } from '#services/metadata/read-document.js';

export interface FetchModules {
  /** For links of tokens, and for every redirect. */
  readonly policy: FetchPolicy;
  /** For the gateway to IPFS itself. */
  readonly gatewayPolicy: FetchPolicy;
  readonly limits: FetchLimits;
  readonly clock: Clock;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches the document that a link leads to. Where a connection goes is decided anew for each redirect.
 *
 * @throws metadata/*, and the reason of `signal`
 */
export async function fetchDocument(
  link: MetadataLink,
  modules: FetchModules,
  signal: AbortSignal,
): Promise<MetadataDocument> {
  const { limits, clock } = modules;
  if (link.kind === 'data') return readDocument(link.bytes);
  const { url } = link;
  const stop = new AbortController();
  const host = hostOf(url);
  const onAbort = () => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const cancel = clock.schedule(limits.totalMs, () =>
    stop.abort(metadataErrors.time({ host, what: 'does not finish', afterMs: limits.totalMs })),
  );
  try {
    return await follow(url, link.isGateway ? modules.gatewayPolicy : modules.policy, modules, stop.signal);
  } catch (error) {
    if (signal.aborted || isTernError(error)) throw error;
    throw metadataErrors.unexpected({
      problem: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
  } finally {
    cancel();
    signal.removeEventListener('abort', onAbort);
  }
}

async function follow(
  first: URL,
  policy: FetchPolicy,
  { limits, clock, policy: ofRedirects }: FetchModules,
  signal: AbortSignal,
): Promise<MetadataDocument> {
  let url = first;
  for (let hop = 0; ; hop++) {
    const addresses = await (hop === 0 ? policy : ofRedirects).addressesOf(url, signal);
    signal.throwIfAborted();
    const { status, headers, body } = await httpGet(url, addresses, limits, clock, signal);
    const host = hostOf(url);
    if (REDIRECTS.has(status)) {
      const { location } = headers;
      if (location === undefined) throw metadataErrors.redirects({ host, problem: 'redirects without saying where' });
      if (hop === limits.redirects) {
        throw metadataErrors.redirects({ host, problem: `redirects once more after ${limits.redirects} redirects` });
      }
      url = readWebLink(location, url);
      continue;
    }
    if (status < 200 || status > 299) throw metadataErrors.status({ host, status });
    requireReadableType(headers['content-type']);
    return readDocument(await decodeBody(body, headers['content-encoding'], limits.bytes));
  }
}
