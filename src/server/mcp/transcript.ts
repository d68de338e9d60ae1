import type { InputPart, InteractionEvent, SessionExport } from '../../contracts/index.ts'

/** Longer transcripts lose their beginning. */
const maxChars = 1_000_000

/** What people and the root agent said, and which calls there were. */
export function transcript({ session, events }: SessionExport): string {
  const head = [`# ${session.title || session.sessionId}`, `Session ${session.sessionId}, agent ${session.agent}, ${session.status}.`]
  const body = events.flatMap(entryOf).join('\n\n')
  const kept = body.length > maxChars ? `…\n\n${body.slice(-maxChars)}` : body
  return [...head, kept].join('\n\n').trimEnd()
}

function entryOf(event: InteractionEvent): readonly string[] {
  const isRoot = event.agentPath === 'root'
  switch (event.type) {
    case 'interaction.input.accepted':
      return isRoot ? [`## User\n\n${event.parts.map(textOf).join('\n')}`] : []
    case 'interaction.item.started':
      return event.item.kind === 'call' ? [`- ${isRoot ? '' : `${event.agentPath}: `}\`${event.item.tool}\` ${event.item.title}`] : []
    case 'interaction.item.completed':
      if (event.item.kind !== 'text' || event.item.type !== 'agent_message' || event.item.status !== 'completed') return []
      return isRoot && event.item.text !== '' ? [`## Agent\n\n${event.item.text}`] : []
    case 'interaction.approval.requested':
      return [`- waits for ${event.request.scope === 'client' ? 'the client' : 'a person'}: ${event.request.summary}`]
    case 'interaction.approval.resolved':
      return [`- ${event.by}: ${event.decision.kind}`]
    case 'interaction.turn.failed':
      return isRoot ? [`- failed: ${event.ending.message}`] : []
    case 'interaction.turn.interrupted':
      return isRoot ? ['- interrupted'] : []
    default:
      return []
  }
}

const textOf = (part: InputPart): string => (part.type === 'text' ? part.text : `[${part.type}]`)
