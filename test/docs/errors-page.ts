import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ErrorClass, ErrorData, ErrorFactory } from '#kernel/tern-error.js';

/** One row of docs/errors.md. */
export interface DocumentedError {
  readonly code: string;
  readonly class: ErrorClass;
  /** The sentence, with `{name}` where the data goes; empty when it cannot be shown that way. */
  readonly meaning: string;
  readonly remedy: string;
}

/** Every error of every `errors.ts` below `folder`. */
export async function collectErrors(folder: string): Promise<DocumentedError[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(^|[\\/])errors\.ts$/.test(file),
  );
  const found: DocumentedError[] = [];
  for (const file of files.sort()) {
    const module = (await import(pathToFileURL(join(folder, file)).href)) as Record<string, unknown>;
    for (const table of Object.values(module)) found.push(...errorsOf(table));
  }
  return found;
}

/** The errors of one exported value, if it is a table made by `defineErrors`. */
export function errorsOf(table: unknown): DocumentedError[] {
  if (typeof table !== 'object' || table === null) return [];
  return Object.values(table).filter(isFactory).map(document);
}

function isFactory(value: unknown): value is ErrorFactory<ErrorData> {
  return typeof value === 'function' && 'code' in value && 'class' in value && 'remedy' in value;
}

function document(factory: ErrorFactory<ErrorData>): DocumentedError {
  return { code: factory.code, class: factory.class, meaning: meaningOf(factory), remedy: factory.remedy };
}

/** Makes the error with data that answers every name with `{name}`. A sentence that computes cannot be shown so. */
function meaningOf(factory: ErrorFactory<ErrorData>): string {
  const placeholders = new Proxy({}, { get: (_, name) => (typeof name === 'string' ? `{${name}}` : undefined) });
  try {
    const { message } = factory(placeholders);
    return /\b(NaN|undefined)\b/.test(message) ? '' : message;
  } catch {
    return '';
  }
}

/** Codes that two errors share. */
export function sharedCodes(errors: readonly DocumentedError[]): string[] {
  const codes = errors.map(({ code }) => code);
  return codes.filter((code, i) => codes.indexOf(code) !== i);
}

const introduction = `# Errors

Every error of Tern has a stable code, a class that states whose problem it is, a sentence, and a remedy.
On the command line it is one line: \`tern: CODE: sentence remedy\`. In the code it is a \`TernError\`; branch on \`code\` or
\`class\`, never on the sentence.

| class | whose problem it is |
|---|---|
| \`caller\` | the input is invalid; the same call fails again |
| \`not-found\` | the input is valid, but the object does not exist |
| \`upstream\` | another party failed or lied; another one may answer |
| \`overloaded\` | a limit was reached; retry later |
| \`internal\` | a bug of Tern; please report it |
| \`shutting-down\` | the process is shutting down |

The rest of this page is written by \`npm run docs:errors\` from the error tables in \`src/\`; a test compares the two.
`;

/** The text of docs/errors.md. */
export function errorsPage(errors: readonly DocumentedError[]): string {
  const modules = new Map<string, DocumentedError[]>();
  for (const error of errors.toSorted((a, b) => (a.code < b.code ? -1 : 1))) {
    const module = error.code.slice(0, error.code.lastIndexOf('/'));
    modules.set(module, [...(modules.get(module) ?? []), error]);
  }
  const sections = [...modules].map(([module, rows]) => `\n## ${module}\n\n${tableOf(rows)}`);
  return introduction + sections.join('');
}

function tableOf(rows: readonly DocumentedError[]): string {
  const lines = rows.map(
    ({ code, class: kind, meaning, remedy }) => `| \`${code}\` | ${kind} | ${cell(meaning)} | ${cell(remedy)} |`,
  );
  return ['| code | class | meaning | how to solve |', '|---|---|---|---|', ...lines, ''].join('\n');
}

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
