import { readFileSync } from 'node:fs';

/** The TypeScript examples of docs/guides/library.md, by the heading above each. */
export function libraryExamples(): readonly (readonly [heading: string, code: string])[] {
  const text = readFileSync('docs/guides/library.md', 'utf8');
  const sections = text.split(/^## /m).slice(1);
  return sections.flatMap((section) =>
    [...section.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => [section.split('\n')[0]!, match[1]!] as const),
  );
}
