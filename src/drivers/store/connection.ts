import pg from 'pg';
import { storeErrors } from '#drivers/store/errors.js';

/** Oldest PostgreSQL that Tern works with: multiranges are of 14, `MERGE` and ICU as it is used here of 15. */
export const OLDEST_MAJOR = 15;

const OID = { bytea: 17, int8: 20, numeric: 1700, int8Array: 1016, byteaArray: 1001 } as const;

/**
 * How values of a column come: int8 and numeric as `bigint` (numeric with a fraction as text, which no column of Tern has),
 * arrays of int8 as arrays of `bigint`, bytea as `Uint8Array`, and everything else as node-postgres has it.
 */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary');
    if (oid === OID.int8) return BigInt;
    if (oid === OID.numeric) return (text: string) => (text.includes('.') || text === 'NaN' ? text : BigInt(text));
    if (oid === OID.int8Array) return parseBigInts;
    return pg.types.getTypeParser(oid, 'text');
  },
} as pg.CustomTypesConfig;

/** Reads `{1,2}`; such an array of Tern has no nulls and one dimension. */
function parseBigInts(text: string): bigint[] {
  return text.length === 2 ? [] : text.slice(1, -1).split(',').map(BigInt);
}

/** What a session is for. */
export interface SessionOptions {
  /** What an administrator sees in `pg_stat_activity`. Default: `tern`. */
  readonly name?: string;
  /** Statements that take longer are stopped by the server. Default: no limit. */
  readonly statementTimeoutMs?: number;
  /** Default: 10 s. */
  readonly connectTimeoutMs?: number;
  /** Refuse to write. */
  readonly readOnly?: boolean;
}

/**
 * The configuration of a client of node-postgres for a URL: types of values as said above, settings of the session. All connections of Tern are made with it.
 *
 * @throws store/bad-url
 */
export function connectionConfig(url: string, options: SessionOptions = {}): pg.ClientConfig {
  const { urlWithoutOptions, given } = splitOptions(url);
  const settings = [
    ...given,
    '-c jit=off',
    ...(options.readOnly === true ? ['-c default_transaction_read_only=on'] : []),
  ];
  return {
    connectionString: urlWithoutOptions,
    application_name: options.name ?? 'tern',
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    statement_timeout: options.statementTimeoutMs ?? 0,
    keepAlive: true,
    options: settings.join(' '),
    types,
  };
}

/** Takes `options` out of a URL: node-postgres lets what stands there replace all that is given otherwise. */
function splitOptions(url: string): { readonly urlWithoutOptions: string; readonly given: readonly string[] } {
  if (!/^postgres(ql)?:\/\//.test(url))
    throw storeErrors['bad-url']({ problem: 'it does not begin with postgresql://' });
  let parsed: URL;
  try {
    // A URL with a user and no host is one of a Unix socket; it is none to the standard.
    parsed = new URL(url.replace('@/', '@socket/'));
  } catch {
    // The error of the parser quotes the URL, password and all.
    throw storeErrors['bad-url']({ problem: 'it is not well-formed' });
  }
  const given = parsed.searchParams.getAll('options').filter((text) => text !== '');
  parsed.searchParams.delete('options');
  const host = url.includes('@/') ? parsed.href.replace('@socket/', '@/') : parsed.href;
  return { urlWithoutOptions: host, given };
}
