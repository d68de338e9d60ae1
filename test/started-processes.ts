import type { ChildProcess } from 'node:child_process'

/** Processes that the current test file has started. `end-processes.ts` ends those that still run when the file has ended. */
export const startedProcesses = new Set<ChildProcess>()
