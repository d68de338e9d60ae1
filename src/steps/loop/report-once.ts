import type { Diagnostic } from '../../contracts/index.ts'
import type { ActiveSession } from './active-session.ts'

/** What happens again and again in a turn is told once: the same words of the same code. */
export function reportOnce(session: ActiveSession, diagnostic: Diagnostic): void {
  const { code, message } = diagnostic
  if (session.turn.diagnostics.toArray().some((told) => told.code === code && told.message === message)) return
  session.note({ type: 'interaction.diagnostic', diagnostic })
}
