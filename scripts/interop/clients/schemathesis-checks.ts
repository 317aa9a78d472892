import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
    // It leaves what it has seen where it is started.
    const cwd = mkdtempSync(join(tmpdir(), 'tern-schemathesis-'));
    writeFileSync(join(cwd, 'openapi.json'), JSON.stringify(await documentOf(`${url}/api/${api}/openapi.json`)));
    const args = [
      'run',
      'openapi.json',
      '--url',
      url,
      ...checks,
      ...effort,
      // With more of them this version of schemathesis fails by itself.
      '--workers',
      '1',
      '--no-color',
    ];
    const { code, output, errors } = await run(command, args, { cwd, limitMs: (SECONDS + 120) * 1000 });
    rmSync(cwd, { recursive: true, force: true });
    if (code !== 0) throw new Error(`${output}${errors}`.slice(-6_000));
    return output.trim().split('\n').slice(-3).join(' ');
  });
}

interface Parameter {
  readonly $ref?: string;
  readonly in?: string;
  readonly name?: string;
  readonly schema?: object;
}

/** A path or an operation. */
interface WithParameters {
  parameters?: readonly Parameter[];
}

interface Document {
  readonly paths: Readonly<Record<string, WithParameters & Readonly<Record<string, WithParameters>>>>;
  readonly components?: { readonly parameters?: Readonly<Record<string, Parameter>> };
}

/**
 * The document without its headers, and without limits of time: unknown headers, which are made up where some are known, must
 * be let through, a query that is to end after a millisecond ends with 504, and one that needs a later block waits for it. In times, more is taken than the published
 * types say: decimals of unix times, and logical times of 64 bits without sign. Words of an order are taken in any letter case,
 * and by their first letter.
 */
async function documentOf(url: string): Promise<Document> {
  const document = (await (await fetch(url)).json()) as Document;
  const isLeftOut = ({ $ref, in: place, name }: Parameter): boolean => {
    if ($ref !== undefined) return isLeftOut(document.components!.parameters![$ref.split('/').at(-1)!]!);
    return place === 'header' || name === 'x_timeout' || name === 'min_mc_seqno';
  };
  for (const path of Object.values(document.paths)) {
    for (const each of [path, ...Object.values(path)]) {
      each.parameters &&= each.parameters.filter((one) => !isLeftOut(one)).map(asTaken);
    }
  }
  return document;
}

const ORDERS = '^([aA]([sS][cC])?|[dD]([eE][sS][cC])?)$';

function asTaken(parameter: Parameter): Parameter {
  const { name = '', schema } = parameter;
  if (name.endsWith('_utime')) return { ...parameter, schema: { ...schema, type: 'number', format: 'double' } };
  if (name === 'sort') return { ...parameter, schema: { type: 'string', pattern: ORDERS } };
  return /^(.*_)?lt$/.test(name) ? { ...parameter, schema: { ...schema, format: 'uint64' } } : parameter;
}
