import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CheckReport } from '../check-report.js';

interface Diagnostic {
  readonly severity: number;
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** What `@asyncapi/parser` has to say about a document: an error is 0, a warning 1. */
interface Validator {
  /** @param source where it was read from: its references are relative to that */
  validate(document: string, options: { readonly source: string }): Promise<readonly Diagnostic[]>;
}

/** The document of the WebSocket, as its validator sees it: no errors and no warnings. */
export async function checkAsyncApi(packages: string, url: string, report: CheckReport): Promise<void> {
  await report.check('@asyncapi/parser: document of the WebSocket', async () => {
    const { Parser } = createRequire(join(packages, 'package.json'))('@asyncapi/parser') as {
      readonly Parser: new () => Validator;
    };
    const source = `${url}/api/streaming/asyncapi.json`;
    // The parser takes references that begin with a slash as relative to the folder of the document.
    const document = (await (await fetch(source)).text()).replaceAll('"/api/', `"${url}/api/`);
    const found = (await new Parser().validate(document, { source })).filter(({ severity }) => severity < 2);
    if (found.length > 0) throw new Error(found.map(({ message, path }) => `${path.join('.')}: ${message}`).join('; '));
    const { channels, operations } = JSON.parse(document) as Record<string, object>;
    return `${Object.keys(channels ?? {}).length} channels, ${Object.keys(operations ?? {}).length} operations`;
  });
}
