import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CheckReport } from '../check-report.js';
import { run } from './client-lines.js';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>;
}

/** Names that are not of this machine lead nowhere: what the page needs from elsewhere is missing, then. */
const NOWHERE = 'MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';

/**
 * The page of the API reference, in a browser: what of the document is to be seen there.
 *
 * @param paths how many the document has
 */
export async function checkBrowser(
  browser: string,
  url: string,
  { api, paths: wanted }: { readonly api: string; readonly paths: number },
  report: CheckReport,
): Promise<void> {
  for (const base of [`${url}/api/${api}`, `${url}/toncenter/api/${api}`]) {
    await report.check(`chromium: reference page ${new URL(base).pathname}`, async () => {
      const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as Document;
      // A path has operations, and may have parameters of all of them.
      // A method that GET and POST have is shown once, as GET.
      const operations = Object.values(paths).flatMap(({ post, ...path }) =>
        Object.values({ ...path, ...(path.get === undefined && post !== undefined ? { post } : {}) }).flatMap(
          ({ operationId }) => operationId ?? [],
        ),
      );
      const { page, console } = await openPage(browser, base);
      const missing = operations.filter((operationId) => !page.includes(`-${operationId}"`));
      if (missing.length > 0) throw new Error(`not on the page: ${missing.join()}`);
      const shown = page.split('class="opblock ').length - 1;
      if (shown !== operations.length) throw new Error(`${shown} operations on the page of ${operations.length}`);
      const found = Object.keys(paths).length;
      if (found !== wanted) throw new Error(`${found} paths, wanted are ${wanted}`);
      if (console !== '') throw new Error(`the console of the browser: ${console}`);
      return `${found} paths, ${shown} operations, nothing on the console`;
    });
  }
}

/** What a page has become when it is at rest, and what the browser has to say about it. */
async function openPage(browser: string, url: string): Promise<{ readonly page: string; readonly console: string }> {
  const profile = mkdtempSync(join(tmpdir(), 'tern-browser-'));
  try {
    const how = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`, '--no-first-run'];
    const quiet = ['--disable-background-networking', `--host-resolver-rules=${NOWHERE}`, '--enable-logging=stderr'];
    const args = [...how, ...quiet, '--virtual-time-budget=20000', '--dump-dom', url];
    const { code, output, errors } = await run(browser, args, { limitMs: 90_000 });
    if (code !== 0) throw new Error(`${browser} ended with ${code}: ${errors.slice(-1_000)}`);
    const said = errors.split('\n').filter((line) => /CONSOLE/.test(line));
    return { page: output, console: said.join('\n').slice(0, 1_000) };
  } finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
