import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CheckReport } from '../check-report.js';
import { run } from './client-lines.js';

/** How long requests are generated, in seconds; the environment asks for longer campaigns. */
const SECONDS = Number(process.env.TERN_SCHEMATHESIS_SECONDS ?? 60);

/** What must hold of every answer: no 5xx, the status is a documented one, type and body as the document says. */
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
];

/** Requests that schemathesis makes up from the served OpenAPI document, valid and invalid ones. */
export async function checkSchemathesis(python: string, url: string, api: string, report: CheckReport): Promise<void> {
  await report.check(`schemathesis, ${api}, ${SECONDS} s`, async () => {
    const command = join(dirname(python), 'schemathesis');
    const checks = ['--checks', CHECKS.join(',')];
    const effort = ['--phases', 'examples,coverage,fuzzing', '--max-time', String(SECONDS), '--continue-on-failure'];
    const args = [
      'run',
      `${url}/api/${api}/openapi.json`,
      '--url',
      url,
      ...checks,
      ...effort,
      // With more of them this version of schemathesis fails by itself.
      '--workers',
      '1',
      '--no-color',
    ];
    // It leaves what it has seen where it is started.
    const cwd = mkdtempSync(join(tmpdir(), 'tern-schemathesis-'));
    const { code, output, errors } = await run(command, args, { cwd, limitMs: (SECONDS + 120) * 1000 });
    rmSync(cwd, { recursive: true, force: true });
    if (code !== 0) throw new Error(`${output}${errors}`.slice(-6_000));
    return output.trim().split('\n').slice(-3).join(' ');
  });
}
