// A client of others in Java: the class path of what a pom.xml names.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The file with the class path; made when it is not there yet, and again when the pom.xml has changed.
 * @param {string} folder where it is written
 * @param {string} sources folder of the pom.xml
 * @param {import('../python-venv.mjs').Run} run
 * @returns {{ classpath: string } | { problem: string }}
 */
export function prepareMaven(folder, sources, run) {
  const [pom, stamp, classpath] = [join(sources, 'pom.xml'), join(folder, 'pom.xml'), join(folder, 'classpath.txt')];
  const wanted = readFileSync(pom, 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return { classpath };
  for (const [program, flag] of [
    ['java', '-version'],
    ['mvn', '-version'],
  ]) {
    const { ok, output } = run(/** @type {string} */ (program), [/** @type {string} */ (flag)]);
    if (!ok) return { problem: `there is no ${program}: install a JDK (17 or newer) and Maven (${output})` };
  }
  mkdirSync(folder, { recursive: true });
  const { ok, output } = run('mvn', [
    ...['-q', '-B', '-f', pom, 'dependency:build-classpath', `-Dmdep.outputFile=${classpath}`],
  ]);
  if (!ok)
    return { problem: `Maven could not fetch what ${pom} names (is the network there?):\n${output.slice(-2_000)}` };
  writeFileSync(stamp, wanted);
  return { classpath };
}
