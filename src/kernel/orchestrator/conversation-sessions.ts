import type { SessionService } from '../../contracts/index.ts'

/** Sessions as people use them: `/back` ends a handoff. It goes to the session itself, not to the agent that speaks. */
export const conversationSessions = (sessions: SessionService): SessionService => ({
  ...sessions,
  send: (id, input, options = {}) =>
    typeof input === 'string' && input.trim() === '/back' && options.to === undefined
      ? sessions.send(id, '/back', { ...options, mode: 'steer', to: id })
      : sessions.send(id, input, options),
})
