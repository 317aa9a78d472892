import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { INIT_SCRIPT } from '#api/http/docs-page-files.js';

const WALLET = 'UQDWFDS2eND0SS0a3LSoSbbXj5492RovwFRZB3lwc--prwC3';
const OTHER = 'EQCD39VS5jcptHL8vMjEXrzGaRcCVYto7HUn4bpAOg8xqB2N';
const RAW = `0:${'83'.repeat(32)}`;

const parameter = (name: string, required: boolean, example: unknown, schema: object = { type: 'string' }) => ({
  ...{ name, in: 'query', required, example, schema },
});
const answer = { 200: { content: { 'application/json': { schema: { type: 'object' } } } } };
const body = (example: object) => ({ content: { 'application/json': { example } } });

/** What the script of the page makes of a document. */
async function prepared(paths: object, data: Readonly<Record<string, string>>): Promise<any> {
  const files: Readonly<Record<string, unknown>> = {
    'openapi.json': { paths, components: {} },
    wallets: {
      wallets: [
        { mnemonic: null, address: OTHER },
        { mnemonic: 'a b', address: WALLET },
      ],
    },
    'examples.json': { '/api/v2/getHead': { ok: true, result: { seqno: 7 } } },
  };
  const root = { dataset: { document: 'openapi.json', access: 'open', ...data }, textContent: '' };
  return new Promise((resolve, reject) => {
    runInNewContext(INIT_SCRIPT, {
      document: { getElementById: () => root },
      window: {},
      fetch: async (url: string) => ({ ok: url in files, status: 404, json: async () => structuredClone(files[url]) }),
      SwaggerUIBundle: ({ spec }: { spec: object }) => resolve(structuredClone(spec)),
    });
    setTimeout(() => reject(new Error(root.textContent)), 1_000).unref();
  });
}

describe('the script of the reference page', () => {
  it('fills in wallets of a local network where addresses are required, and nothing that is optional', async () => {
    const parameters = [
      parameter('source', true, OTHER),
      parameter('seqno', true, 1, { type: 'integer' }),
      parameter('account', false, [OTHER], { type: 'array', items: { type: 'string' }, default: [] }),
    ];
    const post = { requestBody: body({ from: RAW, to: OTHER, list: [{ address: RAW }], text: 'hello' }) };
    const spec = await prepared({ '/a': { get: { parameters } }, '/b': { post } }, { wallets: 'wallets' });
    const [source, seqno, account] = spec.paths['/a'].get.parameters;
    expect([source.example, seqno.example, account.example, account.schema.default]).toEqual([
      WALLET,
      1,
      undefined,
      undefined,
    ]);
    expect(spec.paths['/b'].post.requestBody).toEqual(
      body({ from: WALLET, to: WALLET, list: [{ address: WALLET }], text: 'hello' }),
    );
  });

  it('shows recorded answers', async () => {
    for (const path of ['/api/v2/getHead', '/toncenter/api/v2/getHead']) {
      const spec = await prepared({ [path]: { get: { responses: answer } } }, { examples: 'examples.json' });
      const good = spec.paths[path].get.responses[200].content['application/json'];
      expect(good.example, path).toEqual({ ok: true, result: { seqno: 7 } });
    }
  });

  it('does without answers and wallets', async () => {
    const get = { parameters: [parameter('address', true, OTHER)], responses: answer };
    const spec = await prepared({ '/a': { get } }, { examples: 'none', wallets: 'none' });
    expect(spec.paths['/a'].get.parameters[0].example).toBe(OTHER);
  });
});
