import type { InputPart, SessionService } from '../../contracts/index.ts'

/** Sessions as people use them: `/back` ends a handoff. It goes to the session itself, not to the agent that speaks. */
export const conversationSessions = (sessions: SessionService): SessionService => ({
  ...sessions,
  send: (id, input, options = {}) =>
    textOf(input) === '/back' && options.to === undefined
      ? sessions.send(id, '/back', { ...options, mode: 'steer', to: id })
      : sessions.send(id, input, options),
})

function textOf(input: string | readonly InputPart[]): string | undefined {
  const [first, ...others] = typeof input === 'string' ? [{ type: 'text', text: input } as const] : input
  return first?.type === 'text' && others.length === 0 ? first.text.trim() : undefined
}
