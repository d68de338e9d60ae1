import type { InteractionEvent } from '../contracts/index.ts'
import { type HookNode, lastStep, markChanged, type SessionNodes } from './nodes.ts'

/** Adds the effect of a hook to its call, which may not have started yet, or else to the latest step. */
export function applyHook(
  session: SessionNodes,
  { hook, verdict, message = '', itemId }: InteractionEvent<'interaction.hook.completed'>,
): void {
  const node: HookNode = { hook, verdict, message }
  if (itemId === undefined) {
    const place = lastStep(session) ?? session.agent
    place.notes.push(node)
    markChanged(session, place)
    return
  }
  const known = session.hooks.get(itemId)
  if (known) known.push(node)
  else session.hooks.set(itemId, [node])
  markChanged(session, session.calls.get(itemId))
}
