import type { Abuse } from './abuse.js';

/** A second, for each flood: more would be a test of how many requests the machine can accept. */
const FLOOD = 50;

/** Requests at a rate that no plan allows, from so many addresses without a key. */
function flood(
  name: string,
  what: string,
  perSecond: number,
  addresses: number,
  pathOf: (number: number) => string,
  headers: Readonly<Record<string, string>> = {},
): Abuse {
  return {
    name,
    what: `${what}, ${perSecond} a second from ${addresses} addresses`,
    run: (attack) =>
      attack.atRate(perSecond, (number) =>
        attack.ask({ path: pathOf(number) }, { from: attack.address(number % addresses), headers }),
      ),
  };
}

const overTheLimit: Abuse = {
  name: 'over-the-limit',
  what: `one key of plan free, ${FLOOD} requests a second instead of 10`,
  run: (attack) =>
    attack.atRate(FLOOD, (number) =>
      attack.ask(
        { path: `/api/v2/getAddressInformation?address=${attack.facts.receivers[number % 1_000]}` },
        { from: attack.address(0), key: attack.keys[0]! },
      ),
    ),
};

const unknownKeys: Abuse = {
  name: 'unknown-keys',
  what: `a key that is guessed, another one each time, ${FLOOD} a second`,
  run: (attack) =>
    attack.atRate(FLOOD, (number) =>
      attack.ask(
        { path: '/api/v2/getMasterchainInfo' },
        { from: attack.address(0), key: `tern_${String(number).padStart(43, 'x')}` },
      ),
    ),
};

export const floods: readonly Abuse[] = [
  overTheLimit,
  unknownKeys,
  flood('anonymous-flood', 'getMasterchainInfo without a key', FLOOD, 10, () => '/api/v2/getMasterchainInfo'),
  flood('not-found', 'paths that do not exist', FLOOD, 10, (number) => `/api/v2/nothing${number}`),
  flood('openapi', 'openapi.json of API v3', 20, 10, () => '/api/v3/openapi.json'),
  flood('openapi-br', 'openapi.json of API v3, compressed', 20, 10, () => '/api/v3/openapi.json', {
    'accept-encoding': 'br',
  }),
  flood('metrics', '/metrics', 20, 10, () => '/metrics'),
  flood('readyz', '/readyz', FLOOD, 10, () => '/readyz'),
  flood('long-urls', 'URLs of 60 kB', 20, 20, (number) => `/api/v3/messages?x${number}=${'y'.repeat(60_000)}`),
  flood('long-headers', 'headers of 60 kB', 20, 20, () => '/api/v2/getMasterchainInfo', {
    'x-long': 'z'.repeat(60_000),
  }),
  flood('many-parameters', 'queries with 1,000 parameters', 20, 20, (number) => {
    const parameters = Array.from({ length: 1_000 }, (_, i) => `p${number}_${i}=1`);
    return `/api/v3/messages?${parameters.join('&')}`;
  }),
];
