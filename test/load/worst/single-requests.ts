import { parseAddress } from '#formats/address/address.js';
import type { HttpCall } from '../../../bench/v2/keep-alive-client.js';
import { hostileBodyTexts } from './abuses/bodies.js';
import { largeEstimate, largeMessage } from './abuses/emulation.js';
import type { NetworkFacts } from './hostile-network.js';

/** One request that costs as much as one can. */
export interface SingleRequest {
  readonly name: string;
  readonly call: HttpCall;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The largest requests that there are, each for itself; the same in each version that is measured. */
export function singleRequests({ receivers, endless, wallets }: NetworkFacts): readonly SingleRequest[] {
  const friendly = receivers.map((raw) => parseAddress(raw).address.toFriendly()).join(',');
  const get = (name: string, path: string): SingleRequest => ({ name, call: { path } });
  const post = (name: string, path: string, body: string): SingleRequest => ({ name, call: { path, body } });
  const brotli = { 'accept-encoding': 'br' };
  const seqno = JSON.stringify({ address: endless[0], method: 'seqno', stack: [] });
  const parameters = Array.from({ length: 1_000 }, (_, number) => `p${number}=1`).join('&');
  return [
    get('messages×1000', '/api/v3/messages?limit=1000'),
    { ...get('messages×1000, br', '/api/v3/messages?limit=1000&offset=1'), headers: brotli },
    get('transactions×1000', '/api/v3/transactions?limit=1000'),
    get('traces×1000', '/api/v3/traces?limit=1000'),
    get('events×1000', '/api/v3/events?limit=1000'),
    get('blocks×1000', '/api/v3/blocks?limit=1000'),
    get('accountStates×1000', `/api/v3/accountStates?address=${friendly}`),
    get('walletStates×1000', `/api/v3/walletStates?address=${friendly}`),
    get('addressBook×1000', `/api/v3/addressBook?address=${friendly}`),
    get('metadata×1000', `/api/v3/metadata?address=${friendly}`),
    get('getTransactions×1000', `/api/v2/getTransactions?address=${receivers[0]}&limit=1000&archival=true`),
    get('getTransactions of a sender', `/api/v2/getTransactions?address=${endless[0]}&limit=1000&archival=true`),
    get('getConfigAll', '/api/v2/getConfigAll'),
    get('openapi.json', '/api/v3/openapi.json'),
    { ...get('openapi.json, br', '/api/v3/openapi.json'), headers: brotli },
    get('metrics', '/metrics'),
    get('parameters×1000', `/api/v3/messages?${parameters}`),
    get('URL of 60 kB', `/api/v3/messages?x=${'y'.repeat(60_000)}`),
    ...hostileBodyTexts().map(({ name, path, body }) => post(name, path, body)),
    post('runGetMethod without an end', '/api/v2/runGetMethod', seqno),
    post('sendBoc of 60 kB', '/api/v2/sendBoc', largeMessage(wallets[0]!, 7)),
    post('estimateFee of 60 kB', '/api/v3/estimateFee', largeEstimate(wallets[0]!, 8)),
  ];
}
