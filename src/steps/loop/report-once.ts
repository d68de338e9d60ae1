import type { Diagnostic } from '../../contracts/index.ts'
import type { ActiveSession } from './active-session.ts'

/** Notes a diagnostic once in a turn. */
export function reportOnce(session: ActiveSession, diagnostic: Diagnostic): void {
  const { code, message } = diagnostic
  if (session.turn.diagnostics.toArray().some((told) => told.code === code && told.message === message)) return
  session.note({ type: 'interaction.diagnostic', diagnostic })
}
