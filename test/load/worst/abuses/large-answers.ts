import { parseAddress } from '#formats/address/address.js';
import type { Abuse, Attack } from './abuse.js';

/** As many rows or addresses as a request may ask for. */
const MOST = 1_000;
/** What plan free allows. */
const PER_SECOND = 10;
/** Pages of different places, so that no answer is kept from before. */
const OFFSETS = 1_300;
const OFFSET_STEP = 37;

/** The largest pages, at the rate that plan free allows. */
function pages(name: string, path: string, headers: Readonly<Record<string, string>> = {}): Abuse {
  return {
    name,
    what: `pages of ${MOST} at ${PER_SECOND}/s, a key of plan free`,
    run: (attack) =>
      attack.atRate(PER_SECOND, (number) => {
        const offset = (number * OFFSET_STEP) % OFFSETS;
        const call = { path: `${path}limit=${MOST}&offset=${offset}` };
        return attack.ask(call, { from: attack.address(0), key: attack.keys[0]!, headers });
      }),
  };
}

/** As many addresses as a list may have; each time the list begins elsewhere. */
function addressLists(name: string, path: string): Abuse {
  // Shorter than raw ones, so that the list fits into a URL.
  let friendly: readonly string[] | null = null;
  return {
    name,
    what: `${MOST} addresses at ${PER_SECOND}/s, a key of plan free`,
    run: (attack) =>
      attack.atRate(PER_SECOND, (number) => {
        friendly ??= attack.facts.receivers.map((raw) => parseAddress(raw).address.toFriendly());
        const at = number % friendly.length;
        const list = [...friendly.slice(at), ...friendly.slice(0, at)].slice(0, MOST);
        return attack.ask(
          { path: `${path}address=${list.join(',')}` },
          { from: attack.address(0), key: attack.keys[0]! },
        );
      }),
  };
}

/** The longest histories that API v2 gives. */
const histories: Abuse = {
  name: 'get-transactions',
  what: `getTransactions of 100 at ${PER_SECOND}/s, a key of plan free`,
  run: (attack) =>
    attack.atRate(PER_SECOND, (number) => {
      const { receivers } = attack.facts;
      const path = `/api/v2/getTransactions?address=${receivers[number % receivers.length]}&limit=100&archival=true`;
      return attack.ask({ path }, { from: attack.address(0), key: attack.keys[0]! });
    }),
};

/** Many clients, each of whom asks for one large answer a second. */
const manyClients: Abuse = {
  name: 'messages-1000-anonymous',
  what: 'pages of 1,000 messages, one a second from each of 20 addresses without a key',
  run: (attack: Attack) =>
    attack.atRate(20, (number) => {
      const path = `/api/v3/messages?limit=${MOST}&offset=${(number * OFFSET_STEP) % OFFSETS}`;
      return attack.ask({ path }, { from: attack.address(number % 20) });
    }),
};

export const largeAnswers: readonly Abuse[] = [
  pages('messages-1000', '/api/v3/messages?'),
  pages('messages-1000-br', '/api/v3/messages?', { 'accept-encoding': 'br' }),
  manyClients,
  pages('transactions-1000', '/api/v3/transactions?'),
  pages('traces-1000', '/api/v3/traces?'),
  pages('blocks-1000', '/api/v3/blocks?'),
  addressLists('account-states-1000', '/api/v3/accountStates?'),
  addressLists('wallet-states-1000', '/api/v3/walletStates?'),
  addressLists('address-book-1000', '/api/v3/addressBook?'),
  addressLists('metadata-1000', '/api/v3/metadata?'),
  histories,
];
