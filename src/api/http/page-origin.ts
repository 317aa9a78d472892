import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { httpErrors } from '#api/http/errors.js';

/**
 * Refuses what a browser sends on behalf of a page from elsewhere. Taken is what comes from pages of this machine, from pages
 * of the server itself where it is called by its address (behind a name that anybody may point at it there could be anybody's
 * page), and from programs, which say nothing about pages.
 *
 * @throws http/foreign-page
 */
export function refuseForeignPage(method: string, headers: IncomingHttpHeaders): void {
  const { origin, host } = headers;
  if (origin === undefined) {
    const site = headers['sec-fetch-site'];
    // Browsers name the origin with every POST; what a GET without it answers, no other page gets to see.
    if (method !== 'POST' || site === undefined || site === 'same-origin' || site === 'none') return;
    throw httpErrors['foreign-page']({ origin: 'another site' });
  }
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url !== null && (isLoopback(url.hostname) || (url.host === host && isAddress(url.hostname)))) return;
  throw httpErrors['foreign-page']({ origin: origin.slice(0, 100) });
}

/** @param hostname as `URL` gives it: lower case, IPv6 in brackets, IPv4 in four decimal parts */
function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]') return true;
  return /^127(\.\d{1,3}){3}$/.test(hostname);
}

function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
