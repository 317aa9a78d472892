/** What a codec takes from the TL-B line it quotes. */
export interface SchemaLine {
  /** Constructor name; empty for `_`. */
  readonly name: string;
  readonly tag: number;
  readonly tagBits: number;
  /** The type that it makes: what stands after `=`. */
  readonly type: string;
  /** Names of the explicit fields in order; `_` for a field without a name. */
  readonly fields: readonly string[];
}

/**
 * Takes apart a line such as `block_info#9bc7a987 version:uint32 … = BlockInfo;`. Implicit fields and constraints in
 * braces are passed over; fields in `^[ … ]` count as fields of the constructor itself.
 */
export function parseSchemaLine(line: string): SchemaLine {
  const flat = line.replace(/\{[^}]*\}/g, ' ').trim();
  const head = /^!?(\w*?)(?:([#$])(\w*))?(?=\s)/.exec(flat);
  const name = head?.[1] ?? '';
  const bits = tagBits(head?.[2] === '#', head?.[3] ?? '_');
  const equals = flat.lastIndexOf('=');
  const body = flat.slice(head?.[0].length ?? 0, equals);
  return {
    name: name === '_' ? '' : name,
    tag: bits === '' ? 0 : Number.parseInt(bits, 2),
    tagBits: bits.length,
    type: flat
      .slice(equals + 1)
      .replace(';', '')
      .trim(),
    fields: [...body.matchAll(/(?:^|[\s[])(\w+):/g)].map((match) => match[1] as string),
  };
}

/** The tag in binary digits. In hexadecimal, a `_` at the end says that the last 1 bit and what follows only fill up the digit. */
function tagBits(hex: boolean, written: string): string {
  const digits = written.replace(/_$/, '');
  if (!hex) return digits;
  const bits = [...digits].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('');
  return written.endsWith('_') ? bits.replace(/10*$/, '') : bits;
}

/** A tag as schema lines have it: `#9bc7a987`, or `$011` when it is not whole hexadecimal digits. */
export function tagText(tag: number, bits: number): string {
  return bits % 4 === 0 ? `#${tag.toString(16).padStart(bits / 4, '0')}` : `$${tag.toString(2).padStart(bits, '0')}`;
}
