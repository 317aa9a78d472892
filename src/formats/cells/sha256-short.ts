import { MESSAGE, SHA256_WASM } from '#formats/cells/generated/sha256-wasm.js';

interface Exports {
  readonly memory: WebAssembly.Memory;
  digest(length: number): void;
}

const module = new WebAssembly.Module(Buffer.from(SHA256_WASM, 'base64'));
const { memory, digest } = new WebAssembly.Instance(module).exports as unknown as Exports;
const bytes = new Uint8Array(memory.buffer);

/** SHA-256 of `input[0, length)`, fewer than 256 bytes, written to `out` at `offset`. */
export function sha256Short(input: Uint8Array, length: number, out: Uint8Array, offset: number): void {
  for (let i = 0; i < length; i++) bytes[MESSAGE + i] = input[i]!;
  digest(length);
  for (let i = 0; i < 32; i++) out[offset + i] = bytes[i]!;
}
