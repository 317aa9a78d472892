import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

/** A file of the reference page. */
export interface DocsAsset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Changes with the bytes. */
  readonly etag: string;
}

/** The start of Swagger UI: the page names the document, nothing is fetched from elsewhere. */
const INIT_SCRIPT = `'use strict';
const root = document.getElementById('swagger-ui');
window.ui = SwaggerUIBundle({
  url: root.dataset.document,
  domNode: root,
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  filter: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

/** Files of swagger-ui-dist, as it is installed. */
const PACKAGED: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Reads each file when it is first asked for, and keeps it, compressed once. */
export class DocsAssets {
  readonly #read = new Map<string, DocsAsset>();

  /** Null: there is no such file. */
  get(name: string): DocsAsset | null {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const type = name === 'init.js' ? 'text/javascript; charset=utf-8' : PACKAGED[name];
    if (type === undefined || !(name === 'init.js' || Object.hasOwn(PACKAGED, name))) return null;
    const bytes = name === 'init.js' ? Buffer.from(INIT_SCRIPT) : readFileSync(join(packageFolder(), name));
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    const asset: DocsAsset = { type, bytes, gzipped: gzipSync(bytes), etag };
    this.#read.set(name, asset);
    return asset;
  }
}

function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}
