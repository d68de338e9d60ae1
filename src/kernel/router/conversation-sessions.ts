import type { InputPart, SessionService } from '../../contracts/index.ts'
import { parseCommand } from './commands.ts'

/** Sessions as people use them: while an agent of a handoff talks to the person, `/back` ends that, and no model reads it. */
export const conversationSessions = (sessions: SessionService): SessionService => ({
  ...sessions,
  send: (id, input, options = {}) =>
    options.to === undefined && parseCommand(textOf(input).trim())?.name === 'back'
      ? sessions.send(id, input, { ...options, endsHandoff: true })
      : sessions.send(id, input, options),
})

function textOf(input: string | readonly InputPart[]): string {
  const [first, ...others] = typeof input === 'string' ? [{ type: 'text', text: input } as const] : input
  return first?.type === 'text' && others.length === 0 ? first.text : ''
}
