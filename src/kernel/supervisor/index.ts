export { requestReload } from './folder-lock.ts'
export { type KernelSetup, setupVariable } from './messages.ts'
export { connectSupervisor, type SupervisedKernel, withoutSupervisor } from './supervised-kernel.ts'
export { Supervisor, type SupervisorEnd } from './supervisor.ts'
export {
  clearQuarantine,
  type Quarantined,
  quarantineNotice,
  readSupervisorState,
  supervisorFolder,
} from './supervisor-state.ts'
