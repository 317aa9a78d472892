/** Environment variables, as a process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;
