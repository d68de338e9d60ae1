import type { Blobs, InteractionEvent, ModelRequest } from '../../contracts/index.ts'
import type { Offering, Recipe, SessionState } from '../../core/index.ts'
import { withOutputCap } from './ask.ts'

export interface RecordedStep {
  readonly started: InteractionEvent<'interaction.step.started'>
  /** The state of the session right after it. */
  readonly state: SessionState
}

interface RequestSources {
  readonly recipe: Recipe
  /** By hash. */
  readonly offers: ReadonlyMap<string, Offering>
  readonly blobs: Pick<Blobs, 'getBytes'>
}

/**
 * The request that a step sent, made again with the functions that made it first. `undefined` if the journal does not have its offer.
 */
export async function rebuildRequest(
  { started, state }: RecordedStep,
  { recipe, offers, blobs }: RequestSources,
): Promise<ModelRequest | undefined> {
  const { treeId, turn, stored } = state
  const offering = stored.offer && offers.get(stored.offer.hash)
  if (!stored.offer || !offering) return undefined
  const { abilities, capsOutput } = stored.offer
  const { summaryRequest, withLoadedParts } = await import('./lazy-additions.ts')
  const assembled = recipe.assemble(state, offering)
  const wanted = started.compacts && turn.kind === 'open' ? summaryRequest({ state, turn }, assembled) : assembled
  const request = capsOutput ? withOutputCap(wanted, started.reservation) : wanted
  if (!stored.parts) return request
  return (await withLoadedParts(request, { abilities, read: (blob) => blobs.getBytes(treeId, blob) })).request
}
