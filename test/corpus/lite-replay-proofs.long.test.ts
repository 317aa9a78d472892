import { describe, expect, it } from 'vitest';
import { verifyBlockHeader } from '#formats/proofs/block-header.js';
import { blockIdFromTl } from '#formats/tl/block-id.js';
import { decodeBoxed, decodeOne, encodeBoxed } from '#formats/tl/constructor.js';
import {
  LiteServerBlockHeader,
  LiteServerGetDispatchQueueInfo,
  LiteServerGetDispatchQueueMessages,
  LiteServerQuery,
} from '#formats/tl/lite-api.js';
import { answerLiteQuery } from '#localnet/liteserver/answer.js';
import type { ReplayLedger } from '#localnet/replay/replay-ledger.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { keptReplay } from '#test/support/kept-replay.js';
import { type AnsweredQuestion, provenBy } from '#test/support/lite-comparison.js';
import { checkDispatchQueue, committedBlocks, masterchainBlock, questionsAbout } from '#test/support/lite-survey.js';
import { vectorPath } from '#test/support/vector-files.js';

/** Asks about masterchain blocks; every answer must prove what it says. @returns answers by function */
async function survey(ledger: ReplayLedger, seqnos: Iterable<number>): Promise<Record<string, number>> {
  const verified: Record<string, number> = {};
  const modules = { ledger, clock: new FakeClock(), unixTime: () => 0 };
  for (const seqno of seqnos) {
    for (const question of questionsAbout(ledger, seqno)) {
      const query = encodeBoxed(LiteServerQuery, { data: question.request });
      const answer = (await answerLiteQuery(query, modules))!;
      const proven = prove(question, answer);
      expect(proven, `${question.function} ${question.desc}`).not.toMatch(/^refused|^no proof/);
      verified[question.function] = (verified[question.function] ?? 0) + 1;
    }
  }
  return verified;
}

function prove(question: AnsweredQuestion, answer: Uint8Array): string {
  const { request } = question;
  if (question.function === 'liteServer.lookupBlock') {
    const { id, header_proof } = decodeOne(LiteServerBlockHeader, answer);
    return `seqno ${verifyBlockHeader(header_proof, blockIdFromTl(id)).info.seq_no}`;
  }
  if (question.function.startsWith('liteServer.getDispatchQueue')) {
    const { value } = decodeBoxed(request, LiteServerGetDispatchQueueInfo, LiteServerGetDispatchQueueMessages);
    return checkDispatchQueue(question, answer, blockIdFromTl(value.id));
  }
  return provenBy(question, answer);
}

/** All that prove something, `getBlockOutMsgQueueSize` not counted: early states do not state the size. */
const FUNCTIONS = 20;

describe('every answer of a replayed chain proves what it says', () => {
  it('about the first blocks of mainnet', async () => {
    const ledger = keptReplay(vectorPath('mainnet-genesis'), { to: 9, head: null });
    const verified = await survey(ledger, [1, 2, 5, 9]);
    expect(Object.keys(verified)).toHaveLength(FUNCTIONS);
  });

  it('about the first blocks of a recorded network', async () => {
    const ledger = keptReplay(vectorPath('recorded-chain'), { to: null, head: null });
    const verified = await survey(ledger, [1, 2, 6, 10]);
    expect(Object.keys(verified)).toHaveLength(FUNCTIONS + 1);
  });

  const mainnet = vectorPath('collection/mainnet-genesis');
  it('about blocks of mainnet-genesis', async () => {
    const ledger = keptReplay(mainnet, { to: null, head: null });
    const verified = await survey(ledger, [1, 99, 100, 150, 199]);
    expect(Object.keys(verified)).toHaveLength(FUNCTIONS);
  });

  const recorded = vectorPath('collection/recorded-net/chain');
  it('about blocks of recorded-net, the splits and merges of its shards included', async () => {
    const ledger = keptReplay(recorded, { to: null, head: null });
    const changes = shardChanges(ledger);
    expect(changes.splits).toHaveLength(2);
    expect(changes.merges).toHaveLength(2);
    const around = [...changes.splits, ...changes.merges].flatMap((seqno) => [seqno - 1, seqno, seqno + 1]);
    const keyBlocks = [978, 999, 1020];
    const verified = await survey(ledger, [1, 260, 464, ...around, ...keyBlocks, ledger.lastSeqno]);
    expect(Object.keys(verified)).toHaveLength(FUNCTIONS + 1);
  });
});

/** The masterchain blocks that commit the first blocks after splits and merges. */
function shardChanges(ledger: ReplayLedger): { readonly splits: number[]; readonly merges: number[] } {
  const splits = new Set<number>();
  const merges = new Set<number>();
  for (let seqno = 1; seqno <= ledger.lastSeqno; seqno++) {
    for (const block of committedBlocks(ledger, masterchainBlock(ledger, seqno))) {
      const prev = ledger.previous(block);
      if (prev.length === 2) merges.add(seqno);
      else if (prev[0]!.shard !== block.id.shard) splits.add(seqno);
    }
  }
  return { splits: [...splits], merges: [...merges] };
}
