import process from 'node:process';

/** CPU time of this process so far, in milliseconds: what a piece of code takes, however busy the machine is. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
