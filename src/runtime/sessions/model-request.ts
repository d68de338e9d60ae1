import { type ModelRequest, type ModelRequestPlace, type Store, type TreeId, TroupeError } from '../../contracts/index.ts'
import { agentLoop, apply, type Offering, type Recipe } from '../../core/index.ts'
import { type RecordedStep, rebuildRequest } from '../../steps/index.ts'
import { knownNames } from '../../util/nearest-names.ts'
import { unknownTree } from '../journal/tree-cache.ts'
import { foldJournal, type Observer } from '../journal/tree-state.ts'

interface Parts {
  readonly store: Store
  /** Default: the loop of Troupe. */
  readonly recipe?: Recipe
}

/** Makes a model request again, from journal and blobs alone. */
export async function modelRequest({ store, recipe = agentLoop }: Parts, treeId: TreeId, place: ModelRequestPlace): Promise<ModelRequest> {
  const { step, offers } = await findStep(store, treeId, place)
  const request = await rebuildRequest(step, { recipe, offers, blobs: store.blobs })
  if (request) return request
  const { stepId, at } = step.started
  throw new TroupeError('request_not_recorded', `The tools of step ${stepId} were not recorded.`, {
    remedy: `An older version of Troupe sent this request, at ${new Date(at).toISOString()}. Newer requests of the session can be shown.`,
  })
}

interface Found {
  readonly step: RecordedStep
  readonly offers: ReadonlyMap<string, Offering>
}

async function findStep(store: Store, treeId: TreeId, place: ModelRequestPlace): Promise<Found> {
  const { sessionId = treeId, stepId, attempt } = place
  const offers = new Map<string, Offering>()
  const steps = new Set<string>()
  const attempts: number[] = []
  let step: RecordedStep | undefined
  let hasSession = false
  const observe: Observer = (event, stateOf) => {
    if (event.type === 'interaction.offer.recorded') offers.set(event.hash, { specs: event.tools, instructions: event.instructions })
    if ((event.sessionId as string) !== sessionId) return
    hasSession = true
    if (event.type !== 'interaction.step.started' || !event.stepId) return
    steps.add(event.stepId)
    if (event.stepId !== stepId) return
    attempts.push(event.attempt)
    const before = stateOf(event.sessionId)
    if (before && (attempt ?? event.attempt) === event.attempt) step = { started: event, state: apply(before, event) }
  }
  const state = await foldJournal(store.journal, treeId, { observe })
  if (!state) throw unknownTree(treeId)
  if (step) return { step, offers }
  if (!hasSession)
    throw new TroupeError('step_unknown', `Session ${treeId} has no child ${sessionId}.`, { remedy: 'Use the session id of a child.' })
  if (attempts.length === 0)
    throw new TroupeError('step_unknown', `Session ${sessionId} has no model request ${stepId}.`, {
      remedy: steps.size === 0 ? 'It has sent none.' : knownNames(String(stepId), [...steps], 'step'),
    })
  throw new TroupeError('step_unknown', `Step ${stepId} has no attempt ${attempt}.`, { remedy: `Use one of: ${attempts.join(', ')}.` })
}
