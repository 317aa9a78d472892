import { Address, beginCell, Cell, external, storeMessage, toNano } from '@ton/core';
import type { CheckReport } from '../../check-report.js';
import { expectOutcomes } from './outcome.js';
import type { Stage } from './stage.js';

/** Seconds. */
const LONG_AGO = 1_600_000_000;
/** Of wallets before v5. */
const WRONG_SEQNO = /exit ?code[:= ]*33\b/i;

/** External messages that the network must not take: API v2 says why, with the exit code where there is one. */
export async function refusalScenarios(stage: Stage, report: CheckReport): Promise<void> {
  const wallet = await stage.funded('v4r2', 1);
  const v5 = await stage.funded('v5r1', 1);
  const seqno = await wallet.seqno();
  const transfer = { to: wallet.address, value: toNano('0.1') };
  const { contract } = wallet;
  const nobody = new Address(0, Buffer.alloc(32, 0x7e));
  const forged = Cell.fromBoc(wallet.sign(seqno, [transfer]).toBoc())[0]!;
  const signed = forged.beginParse();
  const body = beginCell().storeBuffer(Buffer.alloc(64)).storeSlice(signed.skip(512)).endCell();
  const cases: readonly (readonly [string, Address, Cell, RegExp])[] = [
    ['a wrong seqno', contract.address, wallet.sign(seqno + 7, [transfer]), WRONG_SEQNO],
    ['a wrong seqno of v5', v5.address, v5.sign((await v5.seqno()) + 7, [transfer]), /exit ?code[:= ]*133\b/i],
    ['one that has expired', contract.address, wallet.sign(seqno, [transfer], LONG_AGO), /exit ?code[:= ]*(35|36)\b/i],
    ['a wrong signature', contract.address, body, /exit ?code[:= ]*35\b/i],
    [
      'an address without a contract',
      nobody,
      Cell.EMPTY,
      /not (?:deployed|initiali[sz]ed|active)|no (?:contract|code|state)/i,
    ],
  ];
  for (const [name, to, message, expected] of cases) {
    await report.check(`@ton/ton: refused: ${name}`, async () => {
      const said = await refusal(stage, to, message);
      if (!expected.test(said)) throw new Error(`it says: ${said}`);
      return inOneLine(said);
    });
  }
  await report.check('@ton/ton: refused: one that was taken before', async () => {
    const message = wallet.sign(seqno, [transfer]);
    await stage.send('@ton/ton: a transfer to itself', contract, message, (root) =>
      expectOutcomes(root, [
        [contract.address, 'ok'],
        [contract.address, 'ok'],
      ]),
    );
    const said = await refusal(stage, contract.address, message);
    if (!WRONG_SEQNO.test(said)) throw new Error(`it says: ${said}`);
    return inOneLine(said);
  });
  await report.check('@ton/ton: refused: bytes that are no message', () => refusal(stage, null, Cell.EMPTY));
}

interface V2Error {
  readonly response?: { readonly status: number; readonly data: { readonly ok: boolean; readonly error: string } };
}

async function refusal({ client }: Stage, to: Address | null, body: Cell): Promise<string> {
  const message =
    to === null
      ? body
      : beginCell()
          .store(storeMessage(external({ to, body })))
          .endCell();
  const problem: V2Error | null = await client.sendFile(message.toBoc()).then(
    () => null,
    (error) => error,
  );
  if (problem === null) throw new Error('it was taken');
  const said = problem.response?.data.error;
  if (said === undefined) throw new Error(`there is no reason: ${String(problem)}`);
  return said;
}

/** The exit code, or how it begins, and the last line: what to do. */
function inOneLine(said: string): string {
  const lines = said.split('\n');
  return `${lines.find((line) => line.startsWith('exitcode=')) ?? lines[0]?.slice(0, 120)}; ${lines.at(-1)}`;
}
