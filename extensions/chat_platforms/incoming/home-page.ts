import type { OpenConversation } from 'troupe/extension'
import { actions, requestContent } from '../outgoing/request-card.ts'
import type { Content } from '../platform.ts'
import type { StoredRequest } from '../state/requests.ts'

interface Entry extends Omit<OpenConversation, 'request'> {
  readonly link: string | undefined
  readonly stored: StoredRequest | undefined
}

/** What waits for a person, then what runs. */
export function homePage(entries: readonly Entry[], hasForms: boolean): readonly Content[] {
  const requests = entries.flatMap(({ stored }) => (stored ? [requestContent(stored, hasForms)] : []))
  const running = entries.map(({ title, agent, state, userId, link }) => ({
    text: `**${title}**\n${agent} · ${state === 'working' ? 'working' : 'waiting for an answer'}`,
    buttons: [
      { type: 'button', id: actions.stop, label: 'Stop', value: userId, style: 'danger' } as const,
      ...(link === undefined ? [] : [{ type: 'link-button', label: 'Open', url: link } as const]),
    ],
  }))
  const empty = (text: string): readonly Content[] => [{ text }]
  return [
    { title: 'Waiting for you' },
    ...(requests.length > 0 ? requests : empty('Nothing waits for you.')),
    { title: 'Running' },
    ...(running.length > 0 ? running : empty('Nothing runs. Mention me in a channel, or write to me, to begin.')),
  ]
}
