import type { SessionsInvocation } from '../agents-invocations.ts'
import type { Host } from '../host.ts'
import { listSessions } from './list-sessions.ts'
import { showSession } from './show-session.ts'

/** `troupe sessions`: the sessions that are stored, and what happened in one of them. */
export function sessionsCommand(invocation: SessionsInvocation, host: Host): Promise<number> {
  switch (invocation.action) {
    case 'list':
      return listSessions(invocation, host)
    case 'show':
      return showSession(invocation, host)
    default:
      return invocation.action satisfies never
  }
}
