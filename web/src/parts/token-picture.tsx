import { useState } from 'preact/hooks';
import type { TokenInfo } from '../api/answers.js';

/** Larger pictures are not drawn: a data address is part of the page. */
const MOST_CHARACTERS = 400_000;

/** Pictures that can be inside of metadata. In an image element a browser runs no script of an SVG and loads nothing. */
const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/i;

/**
 * The picture of a token when it is part of its metadata on chain. Pictures elsewhere are not loaded: a page of Tern makes no
 * request to another host. In place of them stands a pattern that follows from the address.
 */
export function TokenPicture({ token, address }: { readonly token: TokenInfo | null; readonly address: string }) {
  const [isBroken, setBroken] = useState(false);
  const source = pictureOf(token);
  if (source !== null && !isBroken && token?.is_nsfw !== true) {
    return <img class="picture" src={source} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />;
  }
  return <Pattern address={address} />;
}

function pictureOf(token: TokenInfo | null): string | null {
  const data = token?.extra?.image_data;
  const candidates = [token?.image, typeof data === 'string' ? data : null];
  for (const candidate of candidates) {
    if (candidate == null || candidate.length > MOST_CHARACTERS) continue;
    if (EMBEDDED.test(candidate)) return candidate;
    // TEP-64: image_data is the bytes of the picture in base64.
    if (candidate === data && /^[A-Za-z0-9+/]{40,}={0,2}$/.test(candidate))
      return `data:${typeOf(candidate)};base64,${candidate}`;
  }
  return null;
}

/** By the first bytes. */
function typeOf(base64: string): string {
  if (base64.startsWith('/9j/')) return 'image/jpeg';
  if (base64.startsWith('R0lG')) return 'image/gif';
  if (base64.startsWith('UklG')) return 'image/webp';
  return base64.startsWith('PHN2') || base64.startsWith('PD94') ? 'image/svg+xml' : 'image/png';
}

const SIZE = 5;

/** A symmetric pattern of squares in a hue, both from the address: the same address looks the same everywhere. */
function Pattern({ address }: { readonly address: string }) {
  const hex = address.split(':').at(-1) ?? '';
  const hue = Number.parseInt(hex.slice(0, 4), 16) % 360;
  const squares: string[] = [];
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < 3; x++) {
      if (Number.parseInt(hex[4 + y * 3 + x] ?? '0', 16) % 2 === 0) continue;
      squares.push(`M${x} ${y}h1v1h-1z`);
      if (x < 2) squares.push(`M${SIZE - 1 - x} ${y}h1v1h-1z`);
    }
  }
  return (
    <svg class="picture pattern" viewBox="-1 -1 7 7" aria-hidden="true" style={{ color: `hsl(${hue} 55% 50%)` }}>
      <path d={squares.join('')} fill="currentColor" />
    </svg>
  );
}
