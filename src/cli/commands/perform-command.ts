import type { Host } from '../host/process-host.ts'
import type { ProjectInvocation } from '../options/project-invocations.ts'

/** Runs a project command. Its code is loaded on demand. */
export async function performProjectCommand(invocation: ProjectInvocation, host: Host): Promise<number> {
  switch (invocation.kind) {
    case 'validate':
      return (await import('./validate-command.ts')).validateCommand(invocation, host)
    case 'agents':
      return (await import('./agents-command.ts')).agentsCommand(invocation, host)
    case 'init':
      return (await import('./init-command.ts')).initCommand(invocation, host)
    case 'doctor':
      return (await import('./doctor-command.ts')).doctorCommand(invocation, host)
    case 'config':
      return (await import('./config-command.ts')).configCommand(invocation, host)
    case 'trust':
      return (await import('./trust-command.ts')).trustCommand(invocation, host)
    case 'approvals':
      return (await import('../approvals/approvals-command.ts')).approvalsCommand(invocation, host)
    case 'sessions':
      return (await import('../sessions/sessions-command.ts')).sessionsCommand(invocation, host)
    case 'skills':
      return (await import('./skills-command.ts')).skillsCommand(invocation, host)
    default:
      return invocation satisfies never
  }
}
