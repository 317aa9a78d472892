import '@fastify/compress';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiStyle } from '#api/http/api-style.js';
import { DocsAssets } from '#api/http/docs-assets.js';
import { DOCS_POLICY, docsPage } from '#api/http/docs-page.js';
import { httpErrors } from '#api/http/errors.js';
import type { AnyHttpApi, HttpNetwork } from '#api/http/http-api.js';
import { JSON_TYPE } from '#api/http/json-type.js';
import type { NetworkChoice } from '#api/http/network-choice.js';
import { openApiDocument } from '#api/http/openapi.js';
import { TONCENTER_MOUNT } from '#api/http/profile.js';
import { styleOf } from '#api/http/styles.js';

interface DocsSubjects {
  readonly networks: readonly HttpNetwork[];
  readonly choice: NetworkChoice;
}

/** Both the page and the document may change with the next version of the program. */
const SHORT_CACHE = 'public, max-age=300';

/**
 * Under each prefix, with and without the mount: the page at the prefix itself, its files under `docs/`, the document at
 * `openapi.json`, and `healthcheck`, which answers as long as the process runs. Page and document have further names where
 * the style of the API says so.
 *
 * @throws http/bad-endpoint when a document cannot be made
 */
export function addDocsRoutes(app: FastifyInstance, { networks, choice }: DocsSubjects): void {
  const assets = new DocsAssets();
  const styles = new Map(networks.flatMap(({ apis }) => apis.map((api) => [api.prefix, styleOf(api)] as const)));
  for (const [prefix, style] of styles) {
    for (const mount of ['', TONCENTER_MOUNT]) {
      addPrefix(app, { prefix, style, mount, assets, documents: documentsOf(networks, prefix, mount), choice });
    }
  }
}

interface PrefixSubjects {
  readonly prefix: string;
  readonly style: ApiStyle;
  readonly mount: string;
  readonly assets: DocsAssets;
  readonly documents: ReadonlyMap<HttpNetwork, { readonly api: AnyHttpApi; readonly text: string }>;
  readonly choice: NetworkChoice;
}

function addPrefix(app: FastifyInstance, { prefix, style, mount, assets, documents, choice }: PrefixSubjects): void {
  const base = `${mount}${prefix}`;
  const get = (url: string, handler: (request: FastifyRequest, reply: FastifyReply) => unknown) =>
    app.route({ method: ['GET', 'HEAD'], url, handler });
  const documentOf = ({ headers }: FastifyRequest) => {
    const found = documents.get(choice.of(headers.host));
    if (found === undefined) throw httpErrors['not-found']({});
    return found;
  };
  const page = (under: string) => (request: FastifyRequest, reply: FastifyReply) => {
    const { title } = documentOf(request).api;
    return reply
      .header('Content-Type', 'text/html; charset=utf-8')
      .header('Content-Security-Policy', DOCS_POLICY)
      .header('X-Content-Type-Options', 'nosniff')
      .header('Referrer-Policy', 'no-referrer')
      .header('Cache-Control', SHORT_CACHE)
      .send(docsPage(title, under));
  };
  get(base, page(`${prefix.slice(prefix.lastIndexOf('/') + 1)}/`));
  for (const name of ['', ...style.pageNames]) get(`${base}/${name}`, page(''));
  for (const name of style.documentNames) {
    get(`${base}/${name}`, (request, reply) => {
      const { text } = documentOf(request);
      return reply.header('Content-Type', JSON_TYPE).header('Cache-Control', SHORT_CACHE).compress(text);
    });
  }
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

function documentsOf(networks: readonly HttpNetwork[], prefix: string, mount: string) {
  const documents = new Map<HttpNetwork, { api: AnyHttpApi; text: string }>();
  for (const network of networks) {
    const api = network.apis.find((one) => one.prefix === prefix);
    if (api === undefined) continue;
    documents.set(network, { api, text: JSON.stringify(openApiDocument(api, mount === '' ? 'spec' : 'toncenter')) });
  }
  return documents;
}
