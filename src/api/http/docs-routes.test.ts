import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpServer } from '#api/http/server.js';
import { startFakeServer } from '#test/support/fake-http-api.js';

let server: HttpServer;
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(() => server.close());

describe('the reference page', () => {
  for (const path of ['/api/v2', '/api/v2/', '/toncenter/api/v2', '/toncenter/api/v2/']) {
    it(`at ${path} is made of files of this server alone`, async () => {
      const page = await fetch(server.url + path);
      const html = await page.text();
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src [^;]*unsafe/);
      expect(html).not.toMatch(/https?:\/\/|<script>|<style|\son\w+=/);
      expect(html).toContain('<title>A fake API · Tern 2.2.0</title>');
      expect(html).toContain('data-access="open"');
      const [nav = ''] = /<nav>.*<\/nav>/s.exec(html) ?? [];
      const others = [...nav.matchAll(/href="([^"]+)"/g)].map(([, link]) => new URL(link!, server.url + path).pathname);
      expect(others).toEqual([path.replace(/\/$/, ''), '/metrics', '/readyz']);
      const own = html.replace(nav, '');
      const links = [...own.matchAll(/(?:src|href|data-document)="([^"]+)"/g)].map(([, link]) => link as string);
      expect(new Set(links).size).toBe(6);
      for (const link of links) {
        const url = new URL(link, server.url + path);
        const file = await fetch(url);
        expect([file.status, (await file.arrayBuffer()).byteLength > 100], url.pathname).toEqual([200, true]);
        expect(url.pathname.startsWith(path.replace(/\/$/, '')), url.pathname).toBe(true);
      }
    });
  }

  it('serves its files compressed and only when they have changed', async () => {
    const url = `${server.url}/api/v2/docs/swagger-ui-bundle.js`;
    const headers = { 'accept-encoding': 'gzip' };
    const file = await fetch(url, { headers });
    expect(await file.text()).toContain('SwaggerUIBundle');
    expect(file.headers.get('content-encoding')).toBe('gzip');
    const again = await fetch(url, { headers: { ...headers, 'if-none-match': file.headers.get('etag') as string } });
    expect(again.status).toBe(304);
    for (const name of ['nothing', '..%2Fpackage.json', '%2e%2e%2fpackage.json', 'constructor', '__proto__']) {
      const { status } = await fetch(`${server.url}/api/v2/docs/${name}`);
      expect(status, name).toBe(404);
    }
  });

  it('has a document in which every method can be tried where it is served', async () => {
    for (const mount of ['', '/toncenter']) {
      const document = (await (await fetch(`${server.url}${mount}/api/v2/openapi.json`)).json()) as any;
      const base = String(document.servers[0].url).replace(/\/$/, '');
      expect((await fetch(`${server.url}${base}/api/v2/getHead`)).status, mount).toBe(200);
      expect(Object.keys(document.components.securitySchemes), mount).toEqual(['APIKeyHeader', 'APIKeyQuery']);
    }
  });

  it('has a health check beside it', async () => {
    for (const method of ['GET', 'HEAD'])
      expect((await fetch(`${server.url}/api/v2/healthcheck`, { method })).status).toBe(200);
  });
});
