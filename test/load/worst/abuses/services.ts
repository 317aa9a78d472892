import type { Abuse, Attack } from './abuse.js';

const FLOOD = 50;

/** Requests of a key of plan free at its rate. */
function atPlan(
  name: string,
  what: string,
  callOf: (attack: Attack, number: number) => { readonly path: string; readonly body?: string },
): Abuse {
  return {
    name,
    what: `${what} at 10/s, a key of plan free`,
    run: (attack) =>
      attack.atRate(10, (number) =>
        attack.ask(callOf(attack, number), { from: attack.address(0), key: attack.keys[0]! }),
      ),
  };
}

/** Requests for what anybody gets, from 20 addresses. */
function fetched(
  name: string,
  what: string,
  pathOf: (number: number) => string,
  headers: Readonly<Record<string, string>> = {},
): Abuse {
  return {
    name,
    what: `${what}, ${FLOOD} a second from 20 addresses`,
    run: (attack) =>
      attack.atRate(FLOOD, (number) =>
        attack.ask({ path: pathOf(number) }, { from: attack.address(number % 20), headers }),
      ),
  };
}

/** The hash of a message that nobody has sent. */
function unknownHash(number: number): string {
  return String(number).padStart(64, 'f');
}

const DOCUMENTS = ['/api/streaming/openapi.json', '/api/streaming/asyncapi.json', '/api/webhooks/openapi.json'];

const follow: Abuse = {
  name: 'follow',
  what: 'waits for messages that nobody sends, one more a second from each of 20 addresses',
  run: (attack) =>
    attack.atRate(20, (number) =>
      attack.ask({ path: `/api/v3/follow/${unknownHash(number)}?timeout=60` }, { from: attack.address(number % 20) }),
    ),
};

const followEvents: Abuse = {
  name: 'follow-events',
  what: 'the same as event streams',
  run: (attack) =>
    attack.atRate(20, (number) =>
      attack.ask(
        { path: `/api/v3/follow/${unknownHash(number)}` },
        { from: attack.address(number % 20), headers: { accept: 'text/event-stream' } },
      ),
    ),
};

const admin: Abuse = {
  name: 'admin',
  what: `keys of the admin API that are guessed, or are none of it, ${FLOOD} a second`,
  run: (attack) =>
    attack.atRate(FLOOD, (number) =>
      attack.ask(number % 2 === 0 ? { path: '/admin/keys' } : { path: '/admin/keys/create', body: '{"admin":true}' }, {
        from: attack.address(0),
        key: number % 3 === 0 ? attack.keys[0]! : `tern_${String(number).padStart(43, 'x')}`,
      }),
    ),
};

export const hostileServices: readonly Abuse[] = [
  follow,
  followEvents,
  atPlan('pending-traces', 'pending traces of an account', (attack, number) => ({
    path: `/api/v3/pendingTraces?account=${attack.facts.senders[number % attack.facts.senders.length]}`,
  })),
  atPlan('webhooks-add', 'webhooks for all accounts, to a port where nobody listens', (attack, number) => ({
    path: '/api/webhooks/add',
    body: JSON.stringify({
      url: `http://127.0.0.1:9/${number}`,
      filter: { types: ['transactions', 'actions'], addresses: [...attack.facts.senders, ...attack.facts.receivers] },
    }),
  })),
  atPlan('webhooks-list', 'lists of webhooks', () => ({ path: '/api/webhooks/list' })),
  admin,
  fetched('explorer', 'pages of the explorer', (number) => `/explorer/account/${unknownHash(number)}`),
  fetched('documents', 'documents of streams and webhooks', (number) => DOCUMENTS[number % DOCUMENTS.length]!),
];
