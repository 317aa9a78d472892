import { fileOf, isTwin, type SourceFile } from './source-file.js';

/** No import cycles between files, types counted: one problem for each knot, told by its shortest way round. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const graph = new Map<string, string[]>();
  for (const { path, imports } of files) {
    if (isTwin(path)) continue;
    graph.set(path, [...new Set(imports.map(({ specifier }) => fileOf(specifier)).filter((file) => file !== null))]);
  }
  const problems: string[] = [];
  const reported = new Set<string>();
  for (const start of graph.keys()) {
    if (reported.has(start)) continue;
    const bundle = shortestRound(graph, start);
    if (bundle === null) continue;
    for (const file of bundle) reported.add(file);
    problems.push(`import cycle: ${[...bundle, start].join(' → ')}; move what they share into a file below both`);
  }
  return problems;
}

/** The shortest way from `start` back to `start`, or null. */
function shortestRound(graph: ReadonlyMap<string, readonly string[]>, start: string): string[] | null {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return wayTo(file, start, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return null;
}

function wayTo(end: string, start: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const way = [end];
  for (let at = end; at !== start; ) {
    at = cameFrom.get(at) ?? start;
    way.unshift(at);
  }
  return way;
}
