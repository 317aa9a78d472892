import type { Abuse } from './abuse.js';

const PER_SECOND = 10;
/** Just below the longest body, 1 MiB. */
const LONGEST = 1_000_000;
const JSON_RPC = '/api/v2/jsonRPC';

/** A body that costs as much as it can. */
interface HostileBody {
  readonly name: string;
  readonly what: string;
  readonly path: string;
  readonly make: () => string;
}

function bodies({ name, what, path, make }: HostileBody): Abuse {
  return {
    name,
    what: `${what} at ${PER_SECOND}/s, a key of plan free`,
    run: (attack) => {
      const body = Buffer.from(make());
      return attack.atRate(PER_SECOND, () =>
        attack.ask({ path, body }, { from: attack.address(0), key: attack.keys[0]! }),
      );
    },
  };
}

function hostile(name: string, what: string, path: string, make: () => string): HostileBody {
  return { name, what, path, make };
}

/** Of a request that could be right but for them. */
function rpcWithParams(params: string): string {
  return `{"id":1,"jsonrpc":"2.0","method":"getMasterchainInfo","params":${params}}`;
}

function repeated(count: number, one: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => one(number)).join(',');
}

function getMethodWith(stack: string): string {
  const address = '-1:5555555555555555555555555555555555555555555555555555555555555555';
  return `{"address":"${address}","method":"seqno","stack":[${stack}]}`;
}

const HOSTILE: readonly HostileBody[] = [
  hostile('names-60000', 'an object with 60,000 names', JSON_RPC, () =>
    rpcWithParams(`{${repeated(60_000, (number) => `"n${number}":0`)}}`),
  ),
  hostile('escaped-names', 'an object with 40,000 names in escapes', JSON_RPC, () =>
    rpcWithParams(`{${repeated(40_000, (number) => `"\\u006e${number}":0`)}}`),
  ),
  hostile('long-integers', 'an array of 50,000 integers of 17 digits', JSON_RPC, () =>
    rpcWithParams(`{"stack":[${repeated(50_000, () => '12345678901234567')}]}`),
  ),
  hostile('get-method-integers', 'a stack of 50,000 integers of 17 digits', '/api/v2/runGetMethod', () =>
    getMethodWith(repeated(50_000, () => '12345678901234567')),
  ),
  hostile('nested-too-deep', 'arrays in arrays, 400,000 deep', JSON_RPC, () =>
    rpcWithParams(`${'['.repeat(400_000)}${']'.repeat(400_000)}`),
  ),
  hostile('nested-wide', 'arrays 200 deep, side by side', JSON_RPC, () => {
    const one = `${'['.repeat(200)}${']'.repeat(200)}`;
    return rpcWithParams(`{"stack":[${repeated(Math.floor(LONGEST / (one.length + 1)), () => one)}]}`);
  }),
  hostile('objects', 'an array of 200,000 empty objects', JSON_RPC, () =>
    rpcWithParams(`{"stack":[${repeated(200_000, () => '{}')}]}`),
  ),
  hostile('decode', '1,000 bodies to decode', '/api/v3/decode', () =>
    JSON.stringify({ bodies: Array.from({ length: 1_000 }, () => 'te6cckEBAQEAAgAAAEysuc0=') }),
  ),
  hostile('long-text', 'one text of a megabyte', '/api/v2/sendBoc', () => JSON.stringify({ boc: 'A'.repeat(LONGEST) })),
];

export const hostileBodies: readonly Abuse[] = HOSTILE.map(bodies);

/** The bodies themselves. */
export function hostileBodyTexts(): readonly { readonly name: string; readonly path: string; readonly body: string }[] {
  return HOSTILE.map(({ name, path, make }) => ({ name, path, body: make() }));
}
