import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { httpErrors } from '#api/http/errors.js';
import type { Clock } from '#kernel/clock.js';

/** Where the explorer is served from, and at which path. */
export interface ExplorerOptions {
  /** The folder of the built page: `index.html` and `assets`. It may be absent, or be replaced while the server runs. */
  readonly folder: string;
  /** Path of the first page, without a slash at its end: empty for `/`. */
  readonly base: '' | '/explorer';
}

/** First parts of the paths of pages below the base (`pageOf` in `web/src/app.tsx`). */
export const EXPLORER_PAGES = [
  ...['account', 'actions', 'block', 'blocks', 'collection', 'config', 'dns', 'jetton', 'local', 'message', 'multisig'],
  ...['nft', 'pool', 'search', 'status', 'top', 'trace', 'tx', 'validators', 'vesting'],
] as const;

/** The page talks to this server only, runs no inline script, sets no inline style and is in no frame. */
const EXPLORER_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Pictures of tokens that are part of their metadata.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SECURITY_HEADERS = {
  'Content-Security-Policy': EXPLORER_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
} as const;

/** How often the folder is looked at for a newer build. */
const LOOK_MS = 1_000;

/** Serves the explorer: its page at the paths of all its pages, and its files, compressed once. */
export function addExplorerRoutes(app: FastifyInstance, { folder, base }: ExplorerOptions, clock: Clock): void {
  const built = new BuiltPage(folder, base, clock);
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.route({ method: ['GET', 'HEAD'], url, handler });
  const page = (request: FastifyRequest, reply: FastifyReply) => {
    reply.headers(SECURITY_HEADERS).header('Cache-Control', 'no-cache');
    const file = built.page();
    if (file !== null) return send(file, request, reply);
    return reply.code(503).header('Content-Type', HTML).header('Retry-After', '2').send(NOT_BUILT);
  };
  get(`${base}/`, page);
  if (base !== '') {
    get(base, (_, reply) => reply.redirect(`${base}/`));
    get('/status', (_, reply) => reply.redirect(`${base}/status`));
  }
  for (const name of EXPLORER_PAGES) {
    get(`${base}/${name}`, page);
    get(`${base}/${name}/*`, page);
  }
  get(`${base}/assets/:file`, (request, reply) => {
    const file = built.asset((request.params as { readonly file: string }).file);
    if (file === null) throw httpErrors['not-found']({});
    // The name changes with the content.
    reply.headers(SECURITY_HEADERS).header('Cache-Control', 'public, max-age=31536000, immutable');
    return send(file, request, reply);
  });
}

const HTML = 'text/html; charset=utf-8';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Stands in place of the page until it is built. */
const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Tern explorer</title></head>
<body>
<h1>The explorer is not built yet</h1>
<p>In a checkout it is built in the background while Tern starts, which takes some seconds; <code>npm run build:web</code> builds
it, too. This page looks again by itself. The APIs are served already: <a href="/api/v2/">v2</a>, <a href="/api/v3/">v3</a>.</p>
</body>
</html>
`;

/** A file in memory, in the forms in which it is sent. */
interface ServedFile {
  readonly type: string;
  readonly etag: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly brotli: Buffer;
}

function servedFile(type: string, bytes: Buffer): ServedFile {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  return { type, etag, bytes, gzipped: gzipSync(bytes), brotli: brotliCompressSync(bytes, { params }) };
}

function send(file: ServedFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('ETag', file.etag).header('Vary', 'Accept-Encoding').header('Content-Type', file.type);
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const accepted = String(request.headers['accept-encoding'] ?? '');
  if (/\bbr\b/.test(accepted)) return reply.header('Content-Encoding', 'br').send(file.brotli);
  if (/\bgzip\b/.test(accepted)) return reply.header('Content-Encoding', 'gzip').send(file.gzipped);
  return reply.send(file.bytes);
}

/** The files of the built page, read when they are first asked for, and again after a build. */
class BuiltPage {
  readonly #folder: string;
  readonly #base: string;
  readonly #clock: Clock;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Tells builds apart; null: there is none. */
  #build: number | null = null;
  #page: ServedFile | null = null;
  #names: ReadonlySet<string> = new Set();
  readonly #assets = new Map<string, ServedFile>();

  constructor(folder: string, base: string, clock: Clock) {
    this.#folder = folder;
    this.#base = base;
    this.#clock = clock;
  }

  /** Null: it is not built. */
  page(): ServedFile | null {
    this.#look();
    return this.#page;
  }

  /** Null: there is no such file. */
  asset(name: string): ServedFile | null {
    this.#look();
    const known = this.#assets.get(name);
    if (known !== undefined) return known;
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
    // Only names that are in the folder: a path cannot lead out of it.
    if (type === undefined || !this.#names.has(name)) return null;
    const file = servedFile(type, readFileSync(join(this.#folder, 'assets', name)));
    this.#assets.set(name, file);
    return file;
  }

  #look(): void {
    const now = this.#clock.now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    const index = join(this.#folder, 'index.html');
    const build = statSync(index, { throwIfNoEntry: false })?.mtimeMs ?? null;
    if (build === this.#build) return;
    this.#assets.clear();
    try {
      const html = build === null ? null : readFileSync(index, 'utf8');
      this.#names = new Set(html === null ? [] : readdirSync(join(this.#folder, 'assets')));
      this.#page = html === null ? null : servedFile(HTML, Buffer.from(mounted(html, this.#base)));
      this.#build = build;
    } catch {
      // It is being replaced: the next request looks again.
      this.#page = null;
      this.#build = null;
    }
  }
}

/** The page for a base: it names its files by paths from there, and says to the script where it is. */
function mounted(html: string, base: string): string {
  return html.replaceAll('"./assets/', `"${base}/assets/`).replace('data-base=""', `data-base="${base}"`);
}
