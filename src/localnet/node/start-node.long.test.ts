import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { AdnlClient } from '#drivers/adnl/client.js';
import { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import { LiteServerSendMessage } from '#formats/tl/lite-api.js';
import { decodeLiteAnswer, encodeLiteQuery } from '#formats/tl/lite-query.js';
import { fromBase64 } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import { makeGenesis } from '#localnet/genesis/make-genesis.js';
import { type StartedNode, startNode } from '#localnet/node/start-node.js';
import { buildExternalInMessage, buildInternalMessage, createTransfer } from '#localnet/wallets/create-transfer.js';
import { fundedWallets } from '#localnet/wallets/wallet-contract.js';
import { AdnlBench } from '#test/support/adnl-peers.js';

/** `ACCEPT`, which lifts the gas limit to the most that there is, and a loop without an end. */
const ENDLESS = parseBocRoot(fromBase64('te6cckEBAQEABgAACPgAkOox23hy')!);
const CONTRACTS = 4;
const MESSAGES = 12;

const endless = (number: number) => Address.ofParts(0, new Uint8Array(32).fill(0xe0 + number));

const folder = mkdtempSync(join(tmpdir(), 'tern-node-'));
const bench = new AdnlBench();
let started: StartedNode;
let client: AdnlClient;

beforeAll(async () => {
  started = await startNode(
    {
      folder: join(folder, 'chain'),
      replacesChain: false,
      // No block is made but by command: only the check of messages is looked at.
      production: { blockTimeMs: 1_000, paused: true, mining: 'steady' },
      liteserver: { host: '127.0.0.1', port: 0 },
      signatureKind: 'ordinary',
    },
    {
      ...{ clock: systemClock, unixTimeMs: Date.now, random: Math.random, randomBytes, logger: silentLogger },
      makeGenesis: () => makeGenesis({ now: Math.floor(Date.now() / 1000), randomBytes }),
      onProduced: () => {},
    },
  );
  client = await bench.client(started.address, started.address.publicKey);
  for (let number = 0; number < CONTRACTS; number++) {
    const data = new Builder().storeUint(number, 32).endCell();
    await started.node.setAccount(endless(number), { balance: 10n ** 12n, code: ENDLESS, data });
  }
});

afterAll(async () => {
  await bench.end();
  await started?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** @returns the status in the answer; null: the node refused it */
async function send(message: Uint8Array): Promise<number | null> {
  const query = encodeLiteQuery(LiteServerSendMessage, { body: message });
  const answer = decodeLiteAnswer(LiteServerSendMessage, await client.query(query, { timeoutMs: 120_000 }));
  return answer.error === null ? answer.value.status : null;
}

it('accepts messages to wallets while it executes others that take long', async () => {
  const [wallet, receiver] = fundedWallets().filter(({ version }) => version === 'v4r2' || version === 'v3r2');
  const validUntil = Math.floor(Date.now() / 1000) + 3_600;
  const transfer = (value: bigint) => {
    const message = buildInternalMessage({ to: receiver!.address, value, bounce: false });
    return serializeBoc(createTransfer(wallet!, { seqno: 0, validUntil, messages: [{ message }] }));
  };
  expect(await send(transfer(1n))).toBe(1);
  let ended = 0;
  const slow = Array.from({ length: MESSAGES }, async (_, number) => {
    const body = new Builder().storeUint(number, 32).endCell();
    await send(serializeBoc(buildExternalInMessage({ to: endless(number % CONTRACTS), body })));
    ended++;
  });
  for (let value = 2n; value <= MESSAGES; value++) expect(await send(transfer(value))).toBe(1);
  // If each waited for one of the others, all of these would have ended.
  expect(ended).toBeLessThan(MESSAGES - 2);
  await Promise.all(slow);
});
