import type { SessionState } from '../../core/index.ts'

/** Whether a message of a user, or of the project, has exactly this text. */
export const hasText = ({ history }: SessionState, text: string): boolean =>
  history
    .toArray()
    .some(({ role, ...rest }) => role === 'user' && 'parts' in rest && rest.parts.some((part) => 'text' in part && part.text === text))
