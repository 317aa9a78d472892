// The part of the WebAssembly API that Tern uses and that the Node types lack.
declare namespace WebAssembly {
  // biome-ignore lint/suspicious/noEmptyInterface: compiled modules are opaque
  interface Module {}
  interface Memory {
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  interface Exports {
    readonly [name: string]: unknown;
  }
  type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  interface Instance {
    readonly exports: Exports;
  }
  const Module: new (bytes: Uint8Array) => Module;
  const Memory: new () => Memory;
  const Instance: new (module: Module, imports?: Imports) => Instance;
  function compile(bytes: Uint8Array): Promise<Module>;
}
