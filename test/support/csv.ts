/** Rows of a file of comma-separated values with a header; fields in quotes may hold commas, and quotes twice. */
export function* readCsv(bytes: Uint8Array): Generator<Record<string, string>> {
  const [head, ...lines] = Buffer.from(bytes).toString().trimEnd().split('\n');
  const names = fieldsOf(head!);
  for (const line of lines) {
    const fields = fieldsOf(line);
    yield Object.fromEntries(names.map((name, at) => [name, fields[at] ?? '']));
  }
}

function fieldsOf(line: string): string[] {
  if (!line.includes('"')) return line.split(',');
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}
