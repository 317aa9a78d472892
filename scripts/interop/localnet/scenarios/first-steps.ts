import { readFileSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { CheckReport } from '../../check-report.js';
import { run } from '../../clients/client-lines.js';
import { expectSame } from '../../same-answer.js';
import type { Stage } from './stage.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
/** The command of the guide that sends; where the network listens is said by the argument that it names. */
const COMMAND = /^node (examples\/send\.mjs)$/m;

/** The script of the guide for newcomers, run as the guide says. */
export async function checkFirstSteps({ network, v3 }: Stage, report: CheckReport): Promise<void> {
  await report.check('docs/guides/first-steps.md: its script', async () => {
    const guide = readFileSync(`${root}docs/guides/first-steps.md`, 'utf8');
    const script = COMMAND.exec(guide)?.[1];
    if (script === undefined) throw new Error('the guide has no such command');
    const { code, output, errors } = await run(process.execPath, [script, network.url], { cwd: root });
    if (code !== 0) throw new Error(`it ended with ${code}: ${errors}`);
    const id = /trace_id=(\S+)$/m.exec(output)?.[1];
    const trace = await v3.row('traces', 'traces', { trace_id: decodeURIComponent(id ?? '') });
    const lines = output.split('\n').filter((line) => /^ *- (?:0|-1):[0-9A-F]{64} received a message/.test(line));
    expectSame((trace.transactions_order as string[]).length, lines.length, 'transactions it printed');
    expectSame(true, /"hello"\): ok/.test(lines[1] ?? ''), 'whether it printed the comment');
    return `${lines.length} transactions`;
  });
}
