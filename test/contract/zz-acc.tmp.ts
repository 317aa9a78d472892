import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { accountEndpoints } from '#api/v2/routes/accounts.js';
import { nodeEndpoints } from '#api/v2/routes/nodes.js';
import { runMethodEndpoints } from '#api/v2/routes/run-method.js';
import { sendEndpoints } from '#api/v2/routes/send.js';
import { utilityEndpoints } from '#api/v2/routes/utilities.js';
import { systemClock } from '#kernel/clock/system-clock.js';
import { silentLogger } from '#kernel/observe/logger.js';
import { ContractService } from '#services/contracts/contracts-service.js';
import { compareCalls, RecordedCalls, readRecordings, readRules, recordedCall } from '#test/contract/v2-recorded.js';
import { replayedChain } from '#test/support/replayed-chain.js';
import { startTvm } from '#test/support/tvm-pool.js';

const { chain, source } = replayedChain('/work/shared/data/recorded-net/chain');
const tvm = await startTvm();
const contracts: any = new ContractService(
  {},
  { chain, tvm, askNode: source, clock: systemClock, logger: silentLogger },
);
let at = 0;
const pin = (o: any) => ({ ...o, at: o?.at === undefined || o.at === 'head' ? at : o.at });
const network: any = {
  chain: { account: (a: any, o: any) => chain.account(a, pin(o)), send: (b: any, o: any) => chain.send(b, o) },
  contracts: {
    runGetMethod: (a: any, m: any, s: any, o: any) => contracts.runGetMethod(a, m, s, pin(o)),
    tokenData: (a: any, o: any) => contracts.tokenData(a, pin(o)),
    resolveDns: (a: any, n: any, t: any, o: any) => contracts.resolveDns(a, n, t, pin(o)),
    estimateFee: (q: any, o: any) => contracts.estimateFee(q, pin(o)),
    explainRefusal: async () => ({ reason: 'unknown', explanation: 'x' }),
  },
  servers: () => [{ name: 's', alive: true, archival: true, seqno: 1500 }],
  now: () => 1_800_000_000_000,
};
const calls = new RecordedCalls(
  [...accountEndpoints, ...nodeEndpoints, ...runMethodEndpoints, ...sendEndpoints, ...utilityEndpoints],
  network,
);
const only = process.argv[2] ? new RegExp(process.argv[2]) : /./;
const every = readRecordings('/work/shared/data/recorded-net/v2-recordings.jsonl.gz') as any[];
const marks: [string, number][] = [];
for (const r of every) {
  const s = r.response?.result?.block_id?.seqno;
  if (
    typeof s === 'number' &&
    !JSON.stringify([r.query, r.body]).includes('seqno=') &&
    !/"seqno"[^,}\]]*:/.test(JSON.stringify(r.body) ?? '')
  )
    marks.push([r.time, s]);
}
marks.sort((a, b) => (a[0] < b[0] ? -1 : 1));
const seqnoAt = (t: string) => {
  let best = marks[0]![1];
  for (const [time, s] of marks) {
    if (time > t) break;
    best = Math.max(best, s);
  }
  return best;
};
const all = every.map(recordedCall).filter((c: any) => c !== null && calls.has(c.name) && only.test(c.name)) as any[];
const rulesFile = process.env.RULES ?? '/work/main/test/contract/v2-account-rules.json';
const rules = existsSync(rulesFile) ? readRules(rulesFile) : [];
for (const r of every) if (r.response?.result?.block_id?.seqno > 1219) r.late = true;
const t1 = performance.now();
const r = await compareCalls(all, rules, (c: any) => {
  at = Math.min(1219, c.recording.response?.result?.block_id?.seqno ?? seqnoAt(c.recording.time));
  return calls.answer(c);
});
console.log('ms', performance.now() - t1);
const groups = new Map<string, any[]>();
for (const d of r.differences) {
  const k = `${d.call.split(' ')[0]} ${d.at.replace(/\/\d+(?=\/|$)/g, '/#')} ${
    d.at === '/status'
      ? d.recorded +
        ' ' +
        String(d.answered)
          .slice(0, 70)
          .replace(/[0-9a-f]{10,}|"[^"]*"/g, '_')
      : ''
  }`;
  groups.set(k, [...(groups.get(k) ?? []), d]);
}
for (const [k, v] of [...groups].sort()) {
  console.log(k, v.length);
  for (const d of v.slice(0, Number(process.argv[3] ?? 2))) {
    const rec = every.find((x) => x.id === d.id);
    console.log(
      '    ',
      d.id,
      rec.desc,
      d.call.slice(0, 330),
      '\n        ',
      JSON.stringify(d.recorded)?.slice(0, 300),
      JSON.stringify(rec.response).slice(0, 200),
      '\n        ',
      JSON.stringify(d.answered)?.slice(0, 500),
    );
  }
}
console.log({ cases: r.cases, equal: r.equal, skipped: r.skipped, stale: r.stale });
await tvm.close();
