import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AddressLimit } from '#api/http/address-limit.js';
import { type NetworkChoice, TONCENTER_MOUNT } from '#api/http/api-paths.js';
import { type ApiStyle, JSON_TYPE, styleOf } from '#api/http/api-style.js';
import { INIT_SCRIPT, PAGE_STYLE } from '#api/http/docs-page-files.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, HttpNetwork, Profile } from '#api/http/http-api.js';
import { openApiDocument } from '#api/http/openapi.js';
import { PrecompressedText } from '#api/http/replies.js';

interface DocsSubjects {
  readonly networks: readonly HttpNetwork[];
  readonly choice: NetworkChoice;
  /** Of documents. */
  readonly limit: AddressLimit;
  /** Of documents without the mount. */
  readonly profile: Profile;
  /** `v2.2.0` */
  readonly version: string;
  /** Whether access control is by API keys. */
  readonly hasKeys: boolean;
}

/** Pages beside those of the APIs. */
const OTHER_PAGES: readonly [path: string, name: string][] = [
  ['metrics', 'Metrics'],
  ['readyz', 'Health'],
];

/** Page and document may change with the next version of the program. */
const SHORT_CACHE = 'public, max-age=300';

/**
 * Under each prefix, with and without the mount: the reference page at the prefix itself, its files under `docs/`, the document
 * at `openapi.json`, and `healthcheck`, which responds as long as the process runs. Page and document have further names where
 * the style of the API has them. A document is made when it is first asked for.
 */
export function addDocsRoutes(
  app: FastifyInstance,
  { networks, choice, limit, profile, version, hasKeys }: DocsSubjects,
): void {
  const assets = new DocsAssets();
  const styles = new Map(networks.flatMap(({ apis }) => apis.map((api) => [api.prefix, styleOf(api)] as const)));
  for (const [prefix, style] of styles) {
    for (const mount of ['', TONCENTER_MOUNT]) {
      const documents =
        mount === '' ? documentsOf(networks, prefix, profile, '/') : documentsOf(networks, prefix, 'toncenter', mount);
      addPrefix(app, { prefix, style, mount, assets, documents, choice, limit, version, hasKeys });
    }
  }
}

/** The document of an API. */
interface ServedDocument {
  readonly api: AnyHttpApi;
  readonly text: PrecompressedText;
  /** Null: the API has none. */
  readonly examples: PrecompressedText | null;
}

interface PrefixSubjects {
  readonly prefix: string;
  readonly style: ApiStyle;
  readonly mount: string;
  readonly assets: DocsAssets;
  readonly documents: ReadonlyMap<HttpNetwork, ServedDocument>;
  readonly choice: NetworkChoice;
  readonly limit: AddressLimit;
  readonly version: string;
  readonly hasKeys: boolean;
}

function addPrefix(app: FastifyInstance, subjects: PrefixSubjects): void {
  const { prefix, style, mount, assets, documents, choice, limit, version, hasKeys } = subjects;
  const base = `${mount}${prefix}`;
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.route({ method: ['GET', 'HEAD'], url, handler });
  const documentOf = ({ headers }: FastifyRequest) => {
    const found = documents.get(choice.of(headers.host));
    if (found === undefined) throw httpErrors['not-found']({});
    return found;
  };
  const depth = base.split('/').length - 1;
  const page = (under: string) => (request: FastifyRequest, reply: FastifyReply) => {
    const { api, examples } = documentOf(request);
    const { title } = api;
    const { apis } = choice.of(request.headers.host);
    const isLocal = apis.some((api) => api.pages === 'local');
    const pages = [
      ...apis.map((api): [string, string] => [`${`${mount}${api.prefix}`.slice(1)}`, api.title]),
      ...OTHER_PAGES,
    ];
    const root = '../'.repeat(under === '' ? depth : depth - 1);
    return reply
      .header('Content-Type', 'text/html; charset=utf-8')
      .header('Content-Security-Policy', DOCS_POLICY)
      .header('X-Content-Type-Options', 'nosniff')
      .header('Referrer-Policy', 'no-referrer')
      .header('Cache-Control', SHORT_CACHE)
      .send(
        docsPage({
          title,
          version,
          base: under,
          root: root === '' ? './' : root,
          pages,
          hasKeys,
          isLocal,
          hasExamples: examples !== null,
        }),
      );
  };
  get(base, page(`${prefix.slice(prefix.lastIndexOf('/') + 1)}/`));
  for (const name of ['', ...style.pageNames]) get(`${base}/${name}`, page(''));
  for (const name of style.documentNames) {
    get(`${base}/${name}`, (request, reply) => {
      limit.take(request.ip);
      const { text } = documentOf(request);
      return text.send(request, reply.header('Cache-Control', SHORT_CACHE));
    });
  }
  get(`${base}/docs/examples.json`, (request, reply) => {
    const { examples } = documentOf(request);
    if (examples === null) throw httpErrors['not-found']({});
    return examples.send(request, reply.header('Cache-Control', SHORT_CACHE));
  });
  get(`${base}/docs/:file`, (request, reply) => sendAsset(assets, request, reply));
  get(`${base}/healthcheck`, (_, reply) =>
    reply
      .header('Content-Type', style.healthcheck.type)
      .header('Cache-Control', 'no-store')
      .send(style.healthcheck.body),
  );
}

function sendAsset(assets: DocsAssets, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const asset = assets.get((request.params as { file: string }).file);
  if (asset === null) throw httpErrors['not-found']({});
  reply.header('ETag', asset.etag).header('Cache-Control', SHORT_CACHE).header('Vary', 'Accept-Encoding');
  if (request.headers['if-none-match'] === asset.etag) return reply.code(304).send();
  reply.header('Content-Type', asset.type).header('X-Content-Type-Options', 'nosniff');
  if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(asset.bytes);
  return reply.header('Content-Encoding', 'gzip').send(asset.gzipped);
}

function documentsOf(networks: readonly HttpNetwork[], prefix: string, profile: Profile, server: string) {
  const documents = new Map<HttpNetwork, ServedDocument>();
  for (const network of networks) {
    const api = network.apis.find((one) => one.prefix === prefix);
    if (api === undefined) continue;
    const make = () => JSON.stringify(openApiDocument(api, profile, server));
    const { exampleAnswers } = api;
    const examples =
      exampleAnswers === undefined
        ? null
        : new PrecompressedText(() => readFileSync(exampleAnswers, 'utf8'), JSON_TYPE);
    documents.set(network, { api, text: new PrecompressedText(make, JSON_TYPE), examples });
  }
  return documents;
}

/** Lets the page load from and connect to this server only. Swagger UI sets styles on elements. */
const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** What a reference page shows besides its document. */
interface PageFacts {
  readonly title: string;
  /** Version of the program: `v2.2.0`. */
  readonly version: string;
  /** The relative path from the page to the prefix: empty when its path ends in `/`, else `v2/`. */
  readonly base: string;
  /** The relative path from the page to the root of the server: `../`. */
  readonly root: string;
  /** Paths of the other pages of the network, without a slash in front, with their names. */
  readonly pages: readonly (readonly [path: string, name: string])[];
  /** Whether access control is by API keys. */
  readonly hasKeys: boolean;
  /** Whether the network is a local one, whose wallets fill in addresses. */
  readonly isLocal: boolean;
  /** Whether there are recorded answers. */
  readonly hasExamples: boolean;
}

/** The page of the interactive reference. */
function docsPage({ title, version, base, root, pages, hasKeys, isLocal, hasExamples }: PageFacts): string {
  const at = escapeHtml(base);
  const name = `${escapeHtml(title)} · Tern ${escapeHtml(version.replace(/^v/, ''))}`;
  const links = pages.map(([path, text]) => `<a href="${escapeHtml(root + path)}">${escapeHtml(text)}</a>`).join('\n');
  const wallets = isLocal ? ` data-wallets="${escapeHtml(root)}localnet/wallets"` : '';
  const examples = hasExamples ? ` data-examples="${at}docs/examples.json"` : '';
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<link rel="icon" type="image/png" href="${at}docs/favicon-32x32.png">
<link rel="stylesheet" href="${at}docs/swagger-ui.css">
<link rel="stylesheet" href="${at}docs/page.css">
</head>
<body>
<nav><strong>${name}</strong>
${links}
</nav>
<div id="swagger-ui" data-document="${at}openapi.json" data-access="${hasKeys ? 'keys' : 'open'}"${wallets}${examples}></div>
<noscript>The document of this API is <a href="${at}openapi.json">openapi.json</a>.</noscript>
<script src="${at}docs/swagger-ui-bundle.js"></script>
<script src="${at}docs/init.js"></script>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** A file of the reference page. */
interface DocsAsset {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  /** Changes with the bytes. */
  readonly etag: string;
}

/** Files that are made here, by their names. */
const OWN: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  'init.js': { type: 'text/javascript; charset=utf-8', text: INIT_SCRIPT },
  'page.css': { type: 'text/css; charset=utf-8', text: PAGE_STYLE },
};

/** Files of the installed swagger-ui-dist. */
const PACKAGED: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

/** Reads each file on its first request, and caches it with its compressed form. */
class DocsAssets {
  readonly #read = new Map<string, DocsAsset>();

  /** Null: no such file. */
  get(name: string): DocsAsset | null {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
    const type = own?.type ?? (Object.hasOwn(PACKAGED, name) ? PACKAGED[name] : undefined);
    if (type === undefined) return null;
    const bytes = own === undefined ? readFileSync(join(packageFolder(), name)) : Buffer.from(own.text);
    const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
    const asset: DocsAsset = { type, bytes, gzipped: gzipSync(bytes), etag };
    this.#read.set(name, asset);
    return asset;
  }
}

function packageFolder(): string {
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}
