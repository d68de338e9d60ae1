export { startPlain } from './plain-command.ts'
export { processSandbox } from './process-sandbox.ts'
export { RepositoryLook } from './repository-look.ts'
export type { Availability, Command, Ending, ProcessSandbox, ProcessSandboxOptions, RunningCommand, StartResult } from './sandbox-types.ts'
