import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { v2AccountEndpoints } from '#api/v2/accounts.js';
import { dnsEndpoints } from '#api/v2/dns.js';
import { runMethodEndpoints } from '#api/v2/run-method.js';
import { tokenEndpoints } from '#api/v2/tokens.js';
import type { TvmPool } from '#drivers/tvm/tvm-pool.js';
import { fromBase64, toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { ContractService } from '#services/emulation/contract-service.js';
import { PinnedNetwork } from '#test/contract/pinned-network.js';
import type { Answer } from '#test/contract/recorded-calls.js';
import { RecordedCalls } from '#test/contract/v2-recorded.js';
import { FULL } from '#test/support/full-depth.js';
import { replayedChain } from '#test/support/replayed-chain.js';
import { RUNS_THAT_DIFFER, readLoadedContracts } from '#test/support/tonlib-recordings.js';
import { startTvm } from '#test/support/tvm-pool.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

// What only the C++ service has, it has from tonlib: that is compared here.

const folder = vectorPath('collection/recorded-net');
const FILE = `${folder}/tonlib-recordings.jsonl.br`;

interface TonlibRecording {
  readonly n: number;
  readonly desc: string;
  readonly request: TonlibRequest;
  readonly response: Record<string, unknown> & { readonly '@type': string };
}
interface TonlibRequest {
  readonly '@type': string;
  readonly account_address?: { readonly account_address: string };
  readonly name: string;
  readonly ttl: number;
}
/** A request about an account, at a block or at the newest. */
interface AccountCase {
  readonly recording: TonlibRecording;
  readonly type: string;
  readonly address: string;
  readonly seqno: number;
}

function readTonlib(): TonlibRecording[] {
  const lines = new TextDecoder().decode(readBytes(FILE)).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as TonlibRecording).filter(({ response }) => response !== null);
}

/** Requests for states of accounts. Where the answer names no block, it is that of the answer before. */
function accountCases(all: readonly TonlibRecording[]): AccountCase[] {
  const cases: AccountCase[] = [];
  let newest = 0;
  for (const recording of all) {
    const { request, response } = recording;
    const outer = request as unknown as { id?: { seqno: number }; function?: TonlibRequest };
    const inner = request['@type'] === 'withBlock' ? outer.function! : request;
    const block = response.block_id as { readonly seqno: number } | undefined;
    const explicit = request['@type'] === 'withBlock' ? outer.id!.seqno : null;
    if (block !== undefined && explicit === null) newest = block.seqno;
    const type = inner['@type'];
    if (!/^(raw\.getAccountState|getAccountState|getShardAccountCell)$/.test(type)) continue;
    // A request without an address is about tonlib.
    const address = inner.account_address?.account_address;
    if (address === undefined) continue;
    cases.push({ recording, type, address, seqno: explicit ?? block?.seqno ?? newest });
  }
  return cases;
}

/** Arguments that are taken otherwise than by tonlib; what tonlib refuses is refused otherwise, too. */
const OTHERWISE: readonly { readonly arguments: RegExp; readonly status: number; readonly reason: string }[] = [
  { arguments: /"0x1f"/, status: 200, reason: 'hexadecimal numbers are numbers' },
  { arguments: /"number":""/, status: 422, reason: 'tonlib reads nothing as 0' },
  {
    arguments: /"115792089237316195423570985008687907853269984665640564039457584007913129639936"/,
    status: 422,
    reason: '2^256 is no integer of the machine',
  },
];

/** The one account of these that mainnet has suspended. */
const SUSPENDED = 'EQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAM9c';

/** Without what tonlib adds to each answer. */
function plain(response: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { '@extra': _, ...rest } = response;
  return rest;
}

describe('as the real tonlib answered', () => {
  let tvm: TvmPool;
  let network: PinnedNetwork;
  let calls: RecordedCalls;

  beforeAll(async () => {
    tvm = await startTvm({ maxWaiting: 4_000, queueTimeoutMs: 60_000 });
    const { chain, source: lite, ledger } = replayedChain(`${folder}/chain`);
    const contracts = new ContractService(
      {},
      {
        chain,
        tvm,
        lite,
        clock: systemClock,
        unixTimeMs: Date.now,
        randomBytes: (size) => new Uint8Array(size),
        logger: silentLogger,
      },
    );
    network = new PinnedNetwork(chain, contracts, ledger.lastSeqno);
    calls = new RecordedCalls(
      [...v2AccountEndpoints, ...tokenEndpoints, ...dnsEndpoints, ...runMethodEndpoints],
      network,
    );
  });
  afterAll(() => tvm.close());

  function ask(name: string, seqno: number, params: Readonly<Record<string, unknown>>): Promise<Answer> {
    network.seqno = seqno;
    return calls.answer({ recording: null as never, name, source: 'body', params });
  }
  const resultOf = ({ response }: Answer) => (response as { readonly result: Record<string, unknown> }).result;

  it('accounts are read, code and data to the byte', async () => {
    const counts = { raw: 0, extended: 0, cells: 0, refused: 0 };
    for (const { recording, type, address, seqno } of accountCases(readTonlib())) {
      const { response } = recording;
      const name =
        type === 'raw.getAccountState'
          ? 'getAddressInformation'
          : type === 'getAccountState'
            ? 'getExtendedAddressInformation'
            : 'getShardAccountCell';
      const answer = await ask(name, seqno, { address });
      if (response['@type'] === 'error') {
        const message = String(response.message);
        const wanted = /not in db$/.test(message) ? 200 : /^VALIDATE|Invalid account|parse/i.test(message) ? 422 : 500;
        expect([recording.n, message, answer.status]).toEqual([recording.n, message, wanted]);
        counts.refused++;
        continue;
      }
      expect(answer.status, `${recording.n} ${JSON.stringify(answer.response)}`).toBe(200);
      const result = resultOf(answer);
      if (name === 'getAddressInformation') {
        const { state, suspended, ...rest } = result;
        const { balance, ...wanted } = plain(response);
        // tonlib says -1 of an account that does not exist; the services make 0 of it.
        expect(rest).toEqual({ ...wanted, balance: balance === '-1' ? '0' : balance });
        const expected = wanted.code !== '' ? 'active' : wanted.frozen_hash !== '' ? 'frozen' : 'uninitialized';
        expect([state, suspended]).toEqual([expected, address === SUSPENDED]);
        counts.raw++;
      } else if (name === 'getExtendedAddressInformation') {
        expect(withNumbers(result)).toEqual(withNumbers(plain(response)));
        counts.extended++;
      } else {
        expect(result).toEqual(plain(response));
        counts.cells++;
      }
    }
    expect(counts).toEqual({ raw: 181, extended: 179, cells: 179, refused: 22 });
  });

  it('get methods give the same exit code, gas and stack, cells to the byte', async () => {
    let compared = 0;
    const refused: (readonly [n: number, status: number, wanted: number])[] = [];
    const differences: unknown[] = [];
    for (const { address, account, runs } of readLoadedContracts(FILE)) {
      for (const { n, request, response } of runs) {
        const mine = OTHERWISE.find(({ arguments: pattern }) => pattern.test(JSON.stringify(request.stack)));
        const other = mine !== undefined || RUNS_THAT_DIFFER.has(n) || response['@type'] === 'error';
        if (!FULL && !other && n % 5 !== 0) continue;
        const method = request.method.name ?? request.method.number;
        const answer = await ask('runGetMethodStd', account!.block_id.seqno, { address, method, stack: request.stack });
        const { '@type': type, exit_code, gas_used, stack } = response;
        const wanted = { ok: true, result: { '@type': type, exit_code, gas_used, stack } };
        if (other) refused.push([n, answer.status, mine?.status ?? 422]);
        else if (!isDeepStrictEqual(answer.response, wanted)) differences.push({ n, answer: answer.response, wanted });
        else compared++;
      }
    }
    expect(differences).toEqual([]);
    expect(refused.filter(([, status, wanted]) => status !== wanted)).toEqual([]);
    expect(refused).toHaveLength(16);
    if (FULL) expect(compared).toBe(2_316);
    else expect(compared).toBeGreaterThan(400);
  }, 600_000);

  it('names are resolved', async () => {
    let compared = 0;
    let failed = 0;
    const all = readTonlib();
    const { last } = network;
    for (const { n, desc, request, response } of all) {
      if (request['@type'] !== 'dns.resolve') continue;
      const { name, ttl } = request;
      // Without an address tonlib asks the root of the network; here the resolver is always named.
      const address = request.account_address?.account_address;
      if (address === undefined) continue;
      const answer = await ask('dnsResolve', last, { address, name, ttl });
      if (response['@type'] === 'error') {
        expect([n, desc, answer.status >= 400 && answer.status < 600]).toEqual([n, desc, true]);
        failed++;
        continue;
      }
      expect([n, desc, answer.response]).toEqual([n, desc, { ok: true, result: withHexBags(plain(response)) }]);
      compared++;
    }
    expect(compared).toBe(101);
    expect(failed).toBeGreaterThan(15);
  });
});

/** 64-bit numbers are text in tonlib's JSON, numbers in the published document. */
function withNumbers(result: Readonly<Record<string, unknown>>): unknown {
  const keys = new Set(['wallet_id', 'unlocked_balance', 'start_at', 'value']);
  const text = JSON.stringify(result, (key, value: unknown) => (keys.has(key) ? Number(value) : value));
  return JSON.parse(text);
}

/** tonlib writes ids of bags in base64, the C++ service in hexadecimal. */
function withHexBags(result: Readonly<Record<string, unknown>>): unknown {
  const text = JSON.stringify(result, (key, value: unknown) =>
    key === 'bag_id' ? toHex(fromBase64(String(value))!) : value,
  );
  return JSON.parse(text);
}
