import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { v2Endpoints } from '#api/v2/endpoints.js';
import { describeAccounts } from '#test/contract/against-chain/account-suite.js';
import { describeBlocks } from '#test/contract/against-chain/block-suite.js';
import { ChainRecord } from '#test/contract/against-chain/chain-record.js';
import { V2Client } from '#test/contract/against-chain/client.js';
import { describeContracts } from '#test/contract/against-chain/contract-suite.js';
import { type HighloadCode, viewOf } from '#test/contract/against-chain/expected-account.js';
import type { NamedAccount, Subject } from '#test/contract/against-chain/subject.js';
import { FULL } from '#test/support/full-depth.js';
import { type ServedReplay, serveReplay } from '#test/support/served-replay.js';
import { MAINNET_ZEROSTATES, RECORDED_ZEROSTATES } from '#test/support/states-of-chain.js';
import { readBytes, vectorPath } from '#test/support/vector-files.js';

/**
 * What the accounts of the recording are called whose data tonlib reads by a layout of their own. It knows no second
 * revision of these.
 */
const HIGHLOAD: ReadonlyMap<string, HighloadCode> = new Map([
  ['wallet_hv1r1', { type: 'wallet.highload.v1', revision: 1 }],
  ['wallet_hv2r1', { type: 'wallet.highload.v2', revision: 1 }],
  ['wallet_hv2', { type: 'wallet.highload.v2', revision: -1 }],
]);

if (FULL) vi.setConfig({ testTimeout: 3_600_000 });

const recorded = vectorPath('collection/recorded-net');
const genesis = vectorPath('collection/mainnet-genesis');

const CHAINS = [
  { name: 'the first blocks of mainnet', folder: genesis, zerostates: MAINNET_ZEROSTATES, addresses: null },
  {
    name: 'a whole recorded chain',
    folder: `${recorded}/chain`,
    zerostates: RECORDED_ZEROSTATES,
    addresses: `${recorded}/addresses.json.br`,
  },
];

const published = v2Endpoints.filter(({ unpublished }) => unpublished !== true);
const postOnly = published.filter(({ verbs }) => !verbs.includes('GET')).map(({ name }) => name);

describe.each(FULL ? CHAINS : CHAINS.slice(0, 1))('v2 over $name', ({ folder, zerostates, addresses }) => {
  let served: ServedReplay | null = null;
  let subject: Subject;

  beforeAll(async () => {
    served = await serveReplay(folder);
    const record = new ChainRecord(folder, zerostates);
    const named = addresses === null ? [] : readNames(addresses);
    const highload = new Map<string, HighloadCode>();
    for (const { address, kind } of named) {
      const code = HIGHLOAD.get(kind);
      const cell = code === undefined ? null : viewOf(record.account(record.head.id.seqno, address)).code;
      if (code !== undefined && cell !== null) highload.set(cell.hash().toString('hex'), code);
    }
    subject = { client: new V2Client(served.api, postOnly), record, named, highload };
    expect(served.lastSeqno).toBe(record.head.id.seqno);
  });

  afterAll(() => served?.close());

  describeBlocks(() => subject);
  describeAccounts(() => subject);
  describeContracts(() => subject);

  it('each published method was asked in all of its forms', () => {
    const { asked } = subject.client;
    expect([...asked.keys()].sort()).toEqual(published.map(({ name }) => name).sort());
    expect(asked.size).toBe(33);
    for (const [name, counts] of asked) {
      expect([...counts.keys()].sort(), name).toEqual(
        postOnly.includes(name) ? ['POST', 'jsonRPC'] : ['GET', 'POST', 'jsonRPC'],
      );
    }
  });
});

function readNames(file: string): NamedAccount[] {
  const all = JSON.parse(Buffer.from(readBytes(file)).toString('utf8')) as readonly NamedAccount[];
  return all.map(({ address, kind }) => ({ address: address.toLowerCase(), kind }));
}
