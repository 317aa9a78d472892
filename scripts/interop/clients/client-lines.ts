import { spawn } from 'node:child_process';
import type { CheckReport } from '../check-report.js';

interface Line {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly limitMs?: number;
}

const LIMIT_MS = 120_000;

/**
 * Runs a program in another language that prints a JSON object a line for each of its checks, and reports them.
 *
 * @param client named in front of each check
 */
export async function reportLines(
  client: string,
  command: string,
  args: readonly string[],
  report: CheckReport,
  options: RunOptions = {},
): Promise<void> {
  const { code, output, errors } = await run(command, args, options);
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  for (const line of lines) {
    const { name, ok, detail } = JSON.parse(line) as Line;
    await report.check(`${client}: ${name}`, async () => {
      if (!ok) throw new Error(detail);
      return detail;
    });
  }
  if (code === 0 && lines.length > 0) return;
  await report.check(client, async () => {
    throw new Error(`${command} ended with ${code}: ${errors.slice(-2_000) || 'it printed no check'}`);
  });
}

/** Runs a program to its end. */
export function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }> {
  return new Promise((resolve, reject) => {
    const { limitMs = LIMIT_MS, ...rest } = options;
    const child = spawn(command, args, { ...rest, stdio: ['ignore', 'pipe', 'pipe'], timeout: limitMs });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (errors += chunk));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output, errors }));
  });
}
