import { fromBase64 } from '#kernel/bytes.js';

/** Larger pictures are not drawn: a data address is part of the page. */
const MOST_CHARACTERS = 400_000;

/** Pixels of a side: a few bytes can name a picture of gigabytes, and a browser makes room for all of it. */
const MOST_SIDE = 2_048;

/** An SVG is drawn by the thread of the page: larger ones, and those that repeat or filter, can stop it for minutes. */
const MOST_SVG = 40_000;
const COSTLY_SVG =
  /<!(?:DOCTYPE|ENTITY)|<(?:\w+:)?(?:use|filter|pattern|animate\w*|set|foreignObject|image|script|style)\b/i;

const EMBEDDED = /^data:image\/(png|jpeg|gif|webp|svg\+xml)((?:;[\w=-]{1,40})*),(.*)$/is;

/** Kinds of pictures that are drawn. */
type ImageKind = 'png' | 'jpeg' | 'gif' | 'webp' | 'svg+xml';

/**
 * The address of a picture that is part of the metadata of a token, to be drawn by an image element, in which a browser runs no
 * script and loads nothing; null when there is none, or when drawing it could stop the page.
 *
 * @param image of the metadata: an address; those of other hosts are never drawn
 * @param data TEP-64 `image_data`: the bytes of the picture in base64, or an address
 */
export function embeddedImage(image: unknown, data: unknown): string | null {
  for (const candidate of [image, data]) {
    if (typeof candidate !== 'string' || candidate.length > MOST_CHARACTERS) continue;
    const found = EMBEDDED.exec(candidate) ?? (candidate === data ? rawImage(candidate) : null);
    if (found === null) continue;
    const [, kind = '', parameters = '', content = ''] = found;
    const bytes = bytesOf(content, parameters);
    const type = kind.toLowerCase() as ImageKind;
    if (bytes !== null && isCalm(type, bytes)) return `data:image/${type}${parameters},${content}`;
  }
  return null;
}

/** Bytes of a picture in base64, without an address around them. */
function rawImage(base64: string): readonly string[] | null {
  if (!/^[A-Za-z0-9+/]{40,}={0,2}$/.test(base64)) return null;
  return [base64, kindOf(base64), ';base64', base64];
}

/** By the first bytes. */
function kindOf(base64: string): ImageKind {
  if (base64.startsWith('/9j/')) return 'jpeg';
  if (base64.startsWith('R0lG')) return 'gif';
  if (base64.startsWith('UklG')) return 'webp';
  return base64.startsWith('PHN2') || base64.startsWith('PD94') ? 'svg+xml' : 'png';
}

function bytesOf(content: string, parameters: string): Uint8Array | null {
  try {
    if (/;base64$/i.test(parameters)) return fromBase64(decodeURIComponent(content).replaceAll(/\s/g, ''));
    return new TextEncoder().encode(decodeURIComponent(content));
  } catch {
    // A percent sign that belongs to nothing.
    return null;
  }
}

function isCalm(kind: ImageKind, bytes: Uint8Array): boolean {
  if (kind === 'svg+xml') {
    return bytes.length <= MOST_SVG && !COSTLY_SVG.test(new TextDecoder('utf-8').decode(bytes));
  }
  const sides = sidesOf(kind, new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  return sides?.every((side) => side > 0 && side <= MOST_SIDE) ?? false;
}

/** Width and height as the header of a picture gives them; null: it is no picture of this kind. */
function sidesOf(kind: ImageKind, view: DataView): readonly number[] | null {
  try {
    switch (kind) {
      case 'png':
        return view.getUint32(0) === 0x89504e47 ? [view.getUint32(16), view.getUint32(20)] : null;
      case 'gif':
        return view.getUint32(0) === 0x47494638 ? [view.getUint16(6, true), view.getUint16(8, true)] : null;
      case 'jpeg':
        return view.getUint16(0) === 0xffd8 ? jpegSides(view) : null;
      case 'webp':
        return view.getUint32(0) === 0x52494646 && view.getUint32(8) === 0x57454250 ? webpSides(view) : null;
      default:
        return null;
    }
  } catch (error) {
    // It ends before its header does.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** From the first frame header (SOF0 to SOF15 without DHT, JPG and DAC). @throws RangeError */
function jpegSides(view: DataView): readonly number[] | null {
  for (let at = 2; view.getUint8(at) === 0xff; ) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}

/** @throws RangeError */
function webpSides(view: DataView): readonly number[] | null {
  const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  switch (view.getUint32(12)) {
    // `VP8X`: the canvas
    case 0x56503858:
      return [uint24(24) + 1, uint24(27) + 1];
    // `VP8L`: 14 bits each
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    // `VP8 `
    case 0x56503820:
      return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
    default:
      return null;
  }
}
