/** What there is to tell of a `tern dev` that runs. */
export interface DevFacts {
  readonly version: string;
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly lastSeqno: number;
  /** Unix seconds. */
  readonly lastTime: number;
  /** Why API v3 is not there; `null` when it is. */
  readonly withoutIndex: string | null;
}

/** The contract with the configuration, which most networks have here. */
const CONFIG = '-1:5555555555555555555555555555555555555555555555555555555555555555';

/** What `tern dev` prints when it is ready: where everything is, and what to try. */
export function devPage(facts: DevFacts): string {
  const { version, url, lastSeqno, lastTime, withoutIndex } = facts;
  const until = new Date(lastTime * 1000).toISOString().slice(0, 10);
  const [v2, v3] = [`${url}/api/v2`, `${url}/api/v3`];
  const call = { method: 'getExtendedAddressInformation', params: { address: CONFIG } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
  const hasV3 = withoutIndex === null;
  return `Tern ${version} serves a recorded chain: ${lastSeqno} masterchain blocks, the last one of ${until}.

  API v2     ${v2}      the state of accounts, from a liteserver, proven
  API v3     ${hasV3 ? `${v3}      the history, from an index; it is made now, or goes on` : `off: ${withoutIndex}`}
  health     ${url}/readyz
  metrics    ${url}/metrics

Try
  curl ${v2}/getMasterchainInfo
  curl '${v2}/getAddressInformation?address=${CONFIG}'
  curl -X POST ${v2}/jsonRPC -d '${body}'
${hasV3 ? tryV3(v3) : ''}
Ctrl-C ends it.
`;
}

function tryV3(v3: string): string {
  return `  curl ${v3}/masterchainInfo
  curl '${v3}/transactions?account=${CONFIG}&limit=3'
`;
}
