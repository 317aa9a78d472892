import type { IncomingHttpHeaders } from 'node:http';
import type { RawRequest } from '#api/http/http-api.js';
import { streamErrors } from '#api/stream/errors.js';
import type { StreamSettings } from '#api/stream/options.js';
import { KeyedCounts } from '#kernel/keyed-counts.js';

/** What a connection may. */
export interface ConnectionGrant {
  /** Accounts and traces of the stream; null: any number. */
  readonly maxAddresses: number | null;
  /**
   * Takes room for the accounts and traces of the stream in place of those before.
   *
   * @throws stream/too-many-watched then it keeps those before
   */
  hold(addresses: number): void;
  /** Gives the place of the connection back, and the room of its accounts. */
  release(): void;
}

type LimitSettings = Pick<StreamSettings, 'maxConnections' | 'maxAddresses' | 'maxWatched'>;

/** One client may take so much of the room for all accounts that streams wait for. */
const SHARE_OF_CLIENT = 0.25;

/**
 * Counts the open streams of each client: by the plan of its key, else by the settings. A gateway in front may lower that for its own
 * clients by `X-Limiting-Key`, `X-Max-Parallel-Connections` and `X-Max-Subscribed-Addr`.
 */
export class ConnectionLimits {
  readonly #settings: LimitSettings;
  #open = 0;
  /** Open streams of each client, and of each client of a gateway. */
  readonly #counts = new KeyedCounts();
  /** Accounts and traces of the streams of each client. */
  readonly #watched = new Map<string, number>();
  #allWatched = 0;

  constructor(settings: LimitSettings) {
    this.#settings = settings;
  }

  get open(): number {
    return this.#open;
  }

  /** @throws stream/too-many-connections */
  admit({ client, streams, headers }: RawRequest, transport: 'sse' | 'ws'): ConnectionGrant {
    const gateway = gatewayLimits(headers, transport);
    const own = { key: `client ${client}`, most: streams?.stream_connections ?? this.#settings.maxConnections };
    const counted =
      gateway === null ? [own] : [own, { key: `gateway ${client} ${gateway.key}`, most: gateway.connections }];
    for (const { key, most } of counted) {
      const open = this.#counts.of(key);
      if (most !== null && open >= most) throw streamErrors['too-many-connections']({ open });
    }
    this.#open++;
    for (const { key } of counted) this.#counts.begin(key);
    const most = [streams?.stream_addresses ?? this.#settings.maxAddresses, gateway?.addresses ?? null];
    const limits = most.filter((each) => each !== null);
    let isHeld = true;
    let held = 0;
    const hold = (addresses: number) => {
      this.#watch(client, addresses - held);
      held = addresses;
    };
    return {
      maxAddresses: limits.length === 0 ? null : Math.min(...limits),
      hold,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        hold(0);
        this.#open--;
        for (const { key } of counted) this.#counts.end(key);
      },
    };
  }

  /** @throws stream/too-many-watched */
  #watch(client: string, more: number): void {
    const { maxWatched } = this.#settings;
    const own = (this.#watched.get(client) ?? 0) + more;
    const all = this.#allWatched + more;
    if (more > 0 && (all > maxWatched || own > maxWatched * SHARE_OF_CLIENT))
      throw streamErrors['too-many-watched']({ most: all > maxWatched ? maxWatched : maxWatched * SHARE_OF_CLIENT });
    this.#allWatched = all;
    if (own === 0) this.#watched.delete(client);
    else this.#watched.set(client, own);
  }
}

interface GatewayLimits {
  readonly key: string;
  readonly connections: number | null;
  readonly addresses: number | null;
}

const LONGEST_KEY = 200;

/** Null: there is no gateway. A missing or wrong number allows nothing, as with the live service. */
function gatewayLimits(headers: IncomingHttpHeaders, transport: 'sse' | 'ws'): GatewayLimits | null {
  const key = headers['x-limiting-key'];
  if (typeof key !== 'string' || key === '') return null;
  const connections = numberOf(headers['x-max-parallel-connections']);
  const addresses = numberOf(headers['x-max-subscribed-addr']);
  const isAny = transport === 'sse' ? addresses === -1 : addresses <= 0;
  return {
    key: key.slice(0, LONGEST_KEY),
    connections: connections === -1 ? null : connections,
    addresses: isAny ? null : addresses,
  };
}

function numberOf(text: string | readonly string[] | undefined): number {
  return typeof text === 'string' && /^-?[0-9]{1,9}$/.test(text) ? Number(text) : 0;
}
