import { adnlErrors } from '#drivers/adnl/errors.js';
import type { RandomBytes } from '#drivers/adnl/keys.js';
import type { AdnlMetrics } from '#drivers/adnl/metrics.js';
import { MAX_PACKET_LENGTH, MIN_PACKET_LENGTH } from '#drivers/adnl/wire.js';
import type { Clock } from '#kernel/clock.js';

/** Dependencies of ADNL client and server. */
export interface AdnlModules {
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  /** Counters to increment, if given. */
  readonly metrics?: AdnlMetrics;
}

/** Limits of a connection, for client and server. */
export interface ConnectionOptions {
  /** Maximum packet length in bytes, for receiving and sending. 128 to 2^24; default 2^24. */
  readonly maxPacketLength: number;
  /** Maximum time from the first to the last byte of a packet. Default 60 s. */
  readonly packetTimeoutMs: number;
  /** Maximum time without progress while data is queued for the peer. Default 30 s. */
  readonly writeTimeoutMs: number;
  /** Above this number of queued bytes no new query is sent or accepted. Default 1 MiB. */
  readonly outgoingHighWaterBytes: number;
  /** A peer is disconnected when more bytes than this would be queued. Default 256 MiB. */
  readonly outgoingMaxBytes: number;
  /** Silence of the peer after which a ping is sent; 0 disables pings. Default 10 s as client, 0 as server. */
  readonly pingAfterMs: number;
  /** Silence of the peer after which the connection is closed. Default 20 s as client, 60 s as server. */
  readonly deadAfterMs: number;
}

/** Address, key and limits of a client connection. */
export interface AdnlClientOptions extends Partial<ConnectionOptions> {
  /** Host name or IP address. */
  readonly host: string;
  readonly port: number;
  /** Ed25519 public key of the server, 32 bytes. */
  readonly serverPublicKey: Uint8Array;
  /** Timeout of the TCP connection. Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** Timeout of the handshake, counted from the TCP connection. Default 5 s. */
  readonly handshakeTimeoutMs?: number;
  /** Default timeout of a query. Default 10 s. */
  readonly queryTimeoutMs?: number;
  /** Maximum queries in flight; further ones are queued. Default 256. */
  readonly maxInFlight?: number;
  /** Maximum queued queries; further ones are refused. Default 4,096. */
  readonly maxWaiting?: number;
  /** Aborts connecting; has no effect on an established connection. */
  readonly signal?: AbortSignal;
}

/** Address, key and limits of a server. */
export interface AdnlServerOptions extends Partial<ConnectionOptions> {
  /** Seed of the server's Ed25519 key pair, 32 bytes. */
  readonly seed: Uint8Array;
  /** Address to listen on. Default 127.0.0.1. */
  readonly host?: string;
  /** 0 (default) selects a free port. */
  readonly port?: number;
  /** Maximum concurrent clients; further ones are refused. Default 1,024. */
  readonly maxConnections?: number;
  /** Maximum queries in flight per client; above it, reading from the client is paused. Default 256. */
  readonly maxInFlight?: number;
  /** Timeout of a client's handshake. Default 5 s. */
  readonly handshakeTimeoutMs?: number;
  /** How long `close()` waits for queries in flight before it closes the connections. Default 5 s. */
  readonly closeGraceMs?: number;
}

const CONNECTION_DEFAULTS: ConnectionOptions = {
  maxPacketLength: MAX_PACKET_LENGTH,
  packetTimeoutMs: 60_000,
  writeTimeoutMs: 30_000,
  outgoingHighWaterBytes: 2 ** 20,
  outgoingMaxBytes: 2 ** 28,
  pingAfterMs: 10_000,
  deadAfterMs: 20_000,
};

const CLIENT_DEFAULTS = {
  ...CONNECTION_DEFAULTS,
  connectTimeoutMs: 5_000,
  handshakeTimeoutMs: 5_000,
  queryTimeoutMs: 10_000,
  maxInFlight: 256,
  maxWaiting: 4_096,
};

const SERVER_DEFAULTS = {
  ...CONNECTION_DEFAULTS,
  pingAfterMs: 0,
  deadAfterMs: 60_000,
  host: '127.0.0.1',
  port: 0,
  maxConnections: 1_024,
  maxInFlight: 256,
  handshakeTimeoutMs: 5_000,
  closeGraceMs: 5_000,
};

export type CheckedClientOptions = typeof CLIENT_DEFAULTS &
  Pick<AdnlClientOptions, 'host' | 'port' | 'serverPublicKey'>;
export type CheckedServerOptions = typeof SERVER_DEFAULTS & Pick<AdnlServerOptions, 'seed'>;

/** Fills in defaults and checks bounds. @throws adnl/bad-option */
export function checkClientOptions(options: AdnlClientOptions): CheckedClientOptions {
  const { signal: _, ...rest } = options;
  const checked = { ...CLIENT_DEFAULTS, ...withoutUndefined(rest) } as CheckedClientOptions;
  checkConnection(checked);
  checkHost(checked.host);
  checkInteger(checked, 'port', 1, 65_535);
  checkKey('serverPublicKey', checked.serverPublicKey);
  checkInteger(checked, 'connectTimeoutMs', 1);
  checkInteger(checked, 'handshakeTimeoutMs', 1);
  checkInteger(checked, 'queryTimeoutMs', 1);
  checkInteger(checked, 'maxInFlight', 1);
  checkInteger(checked, 'maxWaiting', 0);
  return checked;
}

/** Fills in defaults and checks bounds. @throws adnl/bad-option */
export function checkServerOptions(options: AdnlServerOptions): CheckedServerOptions {
  const checked = { ...SERVER_DEFAULTS, ...withoutUndefined(options) } as CheckedServerOptions;
  checkConnection(checked);
  checkHost(checked.host);
  checkInteger(checked, 'port', 0, 65_535);
  checkKey('seed', checked.seed);
  checkInteger(checked, 'maxConnections', 1);
  checkInteger(checked, 'maxInFlight', 1);
  checkInteger(checked, 'handshakeTimeoutMs', 1);
  checkInteger(checked, 'closeGraceMs', 0);
  return checked;
}

function checkConnection(options: ConnectionOptions): void {
  checkInteger(options, 'maxPacketLength', 2 * MIN_PACKET_LENGTH, MAX_PACKET_LENGTH);
  checkInteger(options, 'packetTimeoutMs', 1);
  checkInteger(options, 'writeTimeoutMs', 1);
  checkInteger(options, 'outgoingHighWaterBytes', 1);
  checkInteger(options, 'outgoingMaxBytes', options.maxPacketLength);
  checkInteger(options, 'pingAfterMs', 0);
  checkInteger(options, 'deadAfterMs', 1);
}

/** Removes undefined values, which would override defaults. */
function withoutUndefined<Options extends object>(options: Options): Partial<Options> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<Options>;
}

/** Upper bound of times and counts: 31 bits. */
const MAX_INT31 = 2 ** 31 - 1;

function checkInteger<Options>(
  options: Options,
  option: keyof Options & string,
  least: number,
  most = MAX_INT31,
): void {
  const found: unknown = options[option];
  if (Number.isSafeInteger(found) && (found as number) >= least && (found as number) <= most) return;
  throw adnlErrors['bad-option']({ option, found: String(found), accepted: `a whole number from ${least} to ${most}` });
}

function checkHost(found: unknown): void {
  if (typeof found === 'string' && found !== '') return;
  throw adnlErrors['bad-option']({
    option: 'host',
    found: `"${String(found)}"`,
    accepted: 'a host name or an IP address',
  });
}

function checkKey(option: string, found: unknown): void {
  if (found instanceof Uint8Array && found.length === 32) return;
  const what = found instanceof Uint8Array ? `${found.length} bytes` : String(found);
  throw adnlErrors['bad-option']({ option, found: what, accepted: '32 bytes' });
}
