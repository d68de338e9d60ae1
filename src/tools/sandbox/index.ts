export { trustedPath } from '../trusted-path.ts'
export { processSandbox } from './process-sandbox.ts'
export type { Availability, Command, Ending, ProcessSandbox, ProcessSandboxOptions, RunningCommand, StartResult } from './sandbox-types.ts'
export { startUnsandboxed } from './unsandboxed-command.ts'
