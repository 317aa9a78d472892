import { useMemo, useState } from 'preact/hooks';
import type { TokenInfo } from '../api/answers.js';
import { embeddedImage } from '../format/token-image.js';

/**
 * The picture of a token when it is part of its metadata on chain. Pictures elsewhere are not loaded: a page of Tern makes no
 * request to another host. In place of them stands a pattern that follows from the address.
 */
export function TokenPicture({ token, address }: { readonly token: TokenInfo | null; readonly address: string }) {
  const [isBroken, setBroken] = useState(false);
  const [image, data] = [token?.image, token?.extra?.image_data];
  const source = useMemo(() => embeddedImage(image, data), [image, data]);
  if (source !== null && !isBroken && token?.is_nsfw !== true) {
    return <img class="picture" src={source} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />;
  }
  return <Pattern address={address} />;
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
