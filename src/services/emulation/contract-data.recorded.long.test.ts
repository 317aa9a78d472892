import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DnsEntry, dnsCategoryName } from '#domain/contracts/dns-records.js';
import { libraryHashOf } from '#domain/contracts/native-code.js';
import type { TokenData } from '#domain/contracts/token-data.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { Address, parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { Cell } from '#formats/cells/cell.js';
import { fromBase64, toBase64, toHex } from '#kernel/bytes.js';
import { silentLogger } from '#kernel/logger.js';
import { isTernError } from '#kernel/tern-error.js';
import { nativeAccountOf } from '#services/emulation/contract-data.js';
import { ContractService } from '#services/emulation/contract-service.js';
import { FULL, partOf } from '#test/support/full-depth.js';
import { nativeMethods, nativeShape, runShape } from '#test/support/native-comparison.js';
import { type ReplayedChain, replayedChain } from '#test/support/replayed-chain.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

const folder = vectorPath('collection/recorded-net');

/** What the Python service says of a token, or null when it says that there is none, or fails. */
type Told = Readonly<Record<string, unknown>> | null;

/** Where Tern says something else than the Python service, and why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  EQC5jVeCfo1VUp6mDso5IFvrjAWvv8G3ZrDyEQOoVVk3yeR4: 'its content has a value that is no text: left out, not a failure',
  'EQBXCu4Uh0dr_RR0AfhqCeIKdXid8Wcb6Wjtr-6MwKfcvkPH': 'the same',
  EQCKi8SWFclBREUhPI93TGgxQcjpvhBhqcnyyjbF4scbEcOc:
    'a name of Telegram with records: a domain, as the C++ service has it',
  EQADYdzRtyujTHeEiIGBM6krEzwbsUdF1GNwkDVyL93z3yfn: 'a domain outside of .ton: read, not a failure',
};

describe('on the recorded network', () => {
  let replayed: ReplayedChain;
  let tvm: TvmPool;
  let service: ContractService;
  let at: number;

  beforeAll(async () => {
    replayed = replayedChain(`${folder}/chain`);
    const { chain, source, clock } = replayed;
    tvm = await startTvm();
    service = new ContractService(
      {},
      {
        chain,
        tvm,
        lite: source,
        clock,
        unixTimeMs: Date.now,
        randomBytes: (size) => new Uint8Array(size),
        logger: silentLogger,
      },
    );
    at = (await chain.head()).block.seqno;
  });
  afterAll(() => tvm?.close());

  it('tokens are what the Python service says, but for differences with a reason', async () => {
    const reported = recordedTokens();
    expect(reported.size).toBeGreaterThan(200);
    const different: string[] = [];
    for (const [text, wanted] of reported) {
      const { address } = parseAddress(text);
      if (address.workchain !== 0 && address.workchain !== -1) {
        await expect(service.tokenData(address, { at })).rejects.toMatchObject({ code: 'contracts/no-workchain' });
        continue;
      }
      const { token } = await service.tokenData(address, { at });
      if (text in DIFFERENT) {
        different.push(text);
        expect(shapeOfToken(token)).not.toEqual(wanted);
      } else expect({ [text]: shapeOfToken(token) }).toEqual({ [text]: wanted });
    }
    expect(different.sort()).toEqual(Object.keys(DIFFERENT).sort());
  });

  it('tokens with content that the Python service cannot read are read', async () => {
    const read = async (text: string) =>
      shapeOfToken((await service.tokenData(parseAddress(text).address, { at })).token);
    const [half, mintless, name, domain] = await Promise.all(Object.keys(DIFFERENT).map(read));
    expect(half).toMatchObject({ jetton_content: { type: 'onchain', data: { decimals: '9' } } });
    expect(mintless).toMatchObject({ jetton_content: { type: 'onchain', data: {} } });
    expect(name).toMatchObject({ content: { domain: 'user0001.t.me', data: { wallet: 'dns_smc_address' } } });
    expect(domain).toMatchObject({
      content: { data: { wallet: 'dns_smc_address', site: 'dns_adnl_address', storage: 'dns_storage_address' } },
    });
  });

  it('domains resolve as with tonlib', async () => {
    let compared = 0;
    for (const { request, response } of lines<TonlibLine>('tonlib-recordings.jsonl.br')) {
      const { '@type': type, account_address, name = '', ttl = 0 } = request;
      const resolver = account_address?.account_address ?? '';
      if (type !== 'dns.resolve' || resolver === '') continue;
      const question = `${resolver} ${name} ${ttl}`;
      const { address } = parseAddress(resolver);
      const answer = await service.resolveDns(address, name, ttl, { at }).then(
        (records) => records.entries.map((entry) => shapeOfEntry(records.name, entry)),
        (error: unknown) => (isTernError(error) ? error.code : error),
      );
      expect({ [question]: answer }).toEqual({ [question]: tonlibEntries(response) });
      compared++;
    }
    expect(compared).toBeGreaterThan(100);
  });

  it('every account of known code is read as the TVM does', async () => {
    const { chain } = replayed;
    const accounts = JSON.parse(Buffer.from(readBytes(`${folder}/addresses.json.br`)).toString()) as {
      address: string;
    }[];
    let compared = 0;
    for (const { address: text } of partOf(accounts, 3)) {
      const { address } = parseAddress(text);
      const account = nativeAccountOf(address, await chain.account(address, { at }));
      if (account === null) continue;
      for (const method of nativeMethods(account)) {
        const run = await service.runGetMethod(address, method.method, method.stack, { at });
        const name = `${text} ${toHex(libraryHashOf(account.code) ?? account.code.hash())} ${method.method}`;
        const native = nativeShape(method);
        const answer = runShape(method, run);
        // Where the get method refuses, only running it shows why.
        if (native === null) expect({ [name]: answer }).toEqual({ [name]: expect.stringMatching(/^exit code/) });
        else expect({ [name]: native }).toEqual({ [name]: answer });
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(FULL ? 1_000 : 330);
  });
});

function lines<T>(file: string): T[] {
  const text = Buffer.from(readBytes(`${folder}/${file}`)).toString();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

interface V2Call {
  readonly method?: string;
  readonly params?: Readonly<Record<string, string>>;
}

interface V2Line {
  readonly path: string;
  readonly query: string | null;
  readonly body: string | V2Call | null;
  readonly status: number;
  readonly response: { readonly result?: Record<string, unknown> };
}

/** What the Python service said of each address, at the end of the chain. */
function recordedTokens(): ReadonlyMap<string, Told> {
  const reported = new Map<string, Told>();
  for (const { path, query, body, status, response } of lines<V2Line>('v2-recordings.jsonl.br')) {
    const call = typeof body === 'string' && body.includes('"getTokenData"') ? (JSON.parse(body) as V2Call) : body;
    let address: string | null | undefined = null;
    if (path === '/getTokenData') address = new URLSearchParams(query ?? '').get('address');
    else if (typeof call === 'object' && call?.method === 'getTokenData') address = call.params?.address;
    if (address === null || address === undefined || status === 422) continue;
    const { result } = response;
    reported.set(address, status === 200 && result !== undefined ? shapeOfTold(result) : null);
  }
  return reported;
}

function shapeOfTold({ jetton_wallet_code: code, ...fields }: Record<string, unknown>): Told {
  const rest = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shapeOfValue(value)]));
  return code === undefined
    ? rest
    : { ...rest, jetton_wallet_code: shapeOfValue(parseBocRoot(fromBase64(code as string)!)) };
}

/** Numbers as they are after JSON: the big ones are not whole any more. */
function shapeOfValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Address) return value.toFriendly();
  return value instanceof Cell ? toHex(value.hash()) : value;
}

/** A token in the form of the Python service: without the address, without what is null. */
function shapeOfToken(token: TokenData | null): unknown {
  if (token === null) return null;
  const entries = Object.entries(token)
    .filter(([name, value]) => value !== null && name !== 'address' && name !== 'mintless_is_claimed')
    .map(([name, value]) => [name, name === 'content' ? shapeOfContent(value) : shapeOfValue(value)]);
  return Object.fromEntries(entries);
}

function shapeOfContent(content: Extract<TokenData, { contract_type: 'nft_item' }>['content']): unknown {
  if (content.type !== 'domain') return content;
  const records = content.records.entries.map(({ category, record }) => [dnsCategoryName(category), record.kind]);
  return { domain: content.domain, data: Object.fromEntries(records.filter(([name]) => name !== null)) };
}

function shapeOfEntry(name: string, { category, record }: DnsEntry): unknown {
  const values: unknown[] = Object.entries(record)
    .filter(([key]) => key !== 'kind')
    .map(([, value]) => value);
  const [value] = values;
  const shown = value instanceof Uint8Array ? toBase64(value) : value instanceof Address ? value.toFriendly() : value;
  return {
    name,
    category: toBase64(category),
    kind: record.kind,
    value: record.kind === 'dns_adnl_address' ? null : shown,
  };
}

interface TonlibLine {
  readonly request: {
    readonly '@type': string;
    readonly account_address?: { readonly account_address?: string };
    readonly name?: string;
    readonly ttl?: number;
  };
  readonly response: TonlibResolved;
}

interface TonlibAccount {
  readonly account_address: string;
}

interface TonlibResolved {
  readonly '@type': string;
  readonly entries: readonly {
    readonly name: string;
    readonly category: string;
    readonly entry: {
      readonly '@type': string;
      readonly text?: string;
      readonly resolver?: TonlibAccount;
      readonly smc_address?: TonlibAccount;
      readonly bag_id?: string;
    };
  }[];
}

/** tonlib writes ADNL addresses in a form of their own, which is not compared. */
function tonlibEntries({ '@type': type, entries }: TonlibResolved): unknown {
  if (type === 'error') return 'contract-data/method-failed';
  return entries.map(({ name, category, entry }) => {
    const { text, resolver, smc_address, bag_id } = entry;
    const account = resolver ?? smc_address;
    return { name, category, kind: KINDS[entry['@type']], value: account?.account_address ?? text ?? bag_id ?? null };
  });
}

const KINDS: Readonly<Record<string, DnsEntry['record']['kind']>> = {
  'dns.entryDataText': 'dns_text',
  'dns.entryDataNextResolver': 'dns_next_resolver',
  'dns.entryDataAdnlAddress': 'dns_adnl_address',
  'dns.entryDataSmcAddress': 'dns_smc_address',
  'dns.entryDataStorageAddress': 'dns_storage_address',
};
