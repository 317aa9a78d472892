/** What there is to tell of a `tern dev` that runs. */
export interface DevFacts {
  readonly version: string;
  /** `http://127.0.0.1:8081` */
  readonly url: string;
  readonly lastSeqno: number;
  /** Unix seconds. */
  readonly lastTime: number;
  /** Whether the chain is the one that comes with Tern. */
  readonly isOwnChain: boolean;
}

/** Contracts of the chain that comes with Tern. */
const OWN = {
  wallet: 'EQBx7vcKg4MrOJHke3oDzJIkT0I-N8nWKtjVOJt4vzKUe_sQ',
  jetton: 'EQBs8atTmpSo_MivmrE3GJtvNmmJzdn71RPJNPrGThsdL5L6',
} as const;

/** The contract with the configuration, which most networks have here. */
const CONFIG = '-1:5555555555555555555555555555555555555555555555555555555555555555';

/** What `tern dev` prints when it is ready: where everything is, and what to try. */
export function devPage({ version, url, lastSeqno, lastTime, isOwnChain }: DevFacts): string {
  const until = new Date(lastTime * 1000).toISOString().slice(0, 10);
  const api = `${url}/api/v2`;
  const account = isOwnChain ? OWN.wallet : CONFIG;
  const call = isOwnChain
    ? { method: 'getTokenData', params: { address: OWN.jetton } }
    : { method: 'getExtendedAddressInformation', params: { address: CONFIG } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...call });
  return `Tern ${version} serves a recorded chain: ${lastSeqno} masterchain blocks, the last one of ${until}.

  API        ${api}/
  reference  ${api}
  health     ${url}/readyz
  metrics    ${url}/metrics

Try
  curl ${api}/getMasterchainInfo
  curl '${api}/getAddressInformation?address=${account}'
  curl -X POST ${api}/jsonRPC -d '${body}'

Ctrl-C ends it.
`;
}
