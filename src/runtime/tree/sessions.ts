import type { SessionState } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'

/** Makes a session that can be driven out of its state. */
export interface SessionFactory {
  createSession(state: SessionState): ActiveSession
}
