/** Gas of a run that takes about 1 ms of CPU time, which is one work unit. */
export const GAS_PER_WORK_UNIT = 20_000;
