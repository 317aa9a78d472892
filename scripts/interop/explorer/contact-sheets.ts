import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Appearance } from './page-checks.js';
import { type WatchedBrowser, WIDTHS } from './watched-browser.js';

/** How the screenshots of a desk and of a phone stand beside each other; sizes of tiles in pixels. */
const DESK_TILES = { columns: 4, width: 400, height: 300 };
const PHONE_TILES = { columns: 8, width: 200, height: 430 };

/** Draws all screenshots of one appearance beside each other, with their names. @returns the file */
export async function drawContactSheet(
  browser: WatchedBrowser,
  pictures: string,
  { width, theme }: Appearance,
): Promise<string> {
  const suffix = `-${width}-${theme}.png`;
  const tiles = readdirSync(pictures)
    .filter((file) => file.endsWith(suffix))
    .sort()
    .map((file) => {
      const source = readFileSync(join(pictures, file)).toString('base64');
      return `<figure><figcaption>${file.slice(0, -suffix.length)}</figcaption><div><img src="data:image/png;base64,${source}"></div></figure>`;
    });
  const tile = width === WIDTHS[0] ? DESK_TILES : PHONE_TILES;
  const watched = await browser.open({ width: tile.columns * (tile.width + 8) });
  try {
    await watched.page.setContent(`<!doctype html><style>
      body { margin: 0; padding: 4px; background: #888; font: 11px sans-serif; color: #fff;
        display: grid; grid-template-columns: repeat(${tile.columns}, ${tile.width}px); gap: 8px }
      figure { margin: 0 } figcaption { padding: 2px }
      figure div { height: ${tile.height}px; overflow: hidden } img { display: block; width: 100% }
    </style>${tiles.join('')}`);
    const path = join(pictures, `pages-${width}-${theme}.jpg`);
    await watched.page.screenshot({ path, type: 'jpeg', quality: 62, fullPage: true });
    return path;
  } finally {
    await watched.close();
  }
}
