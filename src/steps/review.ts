import type {
  ApprovalKey,
  ApprovalRequest,
  CallIntent,
  EventDraft,
  ItemStatus,
  ItemView,
  JsonObject,
  Lane,
  MaybePromise,
  Tool,
  ToolFailure,
} from '../contracts/index.ts'
import type { Call } from '../core/index.ts'
import { approvalName } from '../core/index.ts'
import { fingerprint } from '../util/hash.ts'
import { consult } from './approvals.ts'
import { type Arguments, parseArguments } from './arguments.ts'
import { beforeCall } from './hooks.ts'
import { refusal } from './skip.ts'
import type { Stage } from './stage.ts'
import { type Offer, type OfferedTool, unknownTool } from './tool-registry.ts'

// The first half of the pipeline: find → parse, repair, validate → reason → hooks → validate again → approval →
// reserve → intent. It ends with intents recorded, not flushed: they share a commit with the reply that asked for them.

/** A call as far as it is understood. */
interface Understood {
  readonly offered: OfferedTool
  readonly input: JsonObject
  readonly inputHash: number
  readonly title: string
}

/** What comes of a call for now: its intent, or something else to put on record. */
type Settled = CallIntent | readonly EventDraft[]

/** Synchronous where tools ask nothing that takes time. */
export function review(stage: Stage, calls: readonly Call[]): MaybePromise<void> {
  const offer = stage.offer(stage.model(askedModel(stage)))
  for (const [index, call] of calls.entries()) {
    const settled = settle(stage, offer, call)
    if (settled instanceof Promise) return reviewFrom(stage, offer, { calls: calls.slice(index), first: settled })
    put(stage, call, settled)
  }
}

async function reviewFrom(
  stage: Stage,
  offer: Offer,
  { calls, first }: { calls: readonly Call[]; first: Promise<Settled> },
): Promise<void> {
  for (const [index, call] of calls.entries()) put(stage, call, await (index === 0 ? first : settle(stage, offer, call)))
  consult(stage)
}

function put(stage: Stage, { itemId }: Call, settled: Settled): void {
  const { step } = stage.turn
  const stepId = step.kind === 'calling' ? step.id : undefined
  if ('tool' in settled) stage.record({ ...stage.here(stepId), type: 'interaction.item.started', itemId, item: settled })
  else for (const draft of settled) stage.note({ itemId, ...draft }, stepId)
}

function settle(stage: Stage, offer: Offer, call: Call): MaybePromise<Settled> {
  const offered = offer.find(call.part.name)
  if (!offered) return refuse(call, { class: 'unknown_tool', ...unknownTool(call.part.name, offer) })
  switch (call.kind) {
    case 'requested': {
      const parsed = parseArguments(stage.ports.validator, offered, call.part.input)
      return parsed instanceof Promise
        ? parsed.then((each) => consider(stage, call, { offered, parsed: each }))
        : consider(stage, call, { offered, parsed })
    }
    case 'approved':
      return start(stage, call, { offered, input: call.request.input, inputHash: call.request.inputHash, title: call.request.summary })
    case 'denied':
      return refuse(call, {
        class: 'denied',
        message: call.feedback ? `The person declined this call: ${call.feedback}` : 'The person declined this call.',
        remedy: 'Go on without it, or ask for something else.',
      })
    default:
      return []
  }
}

function consider(stage: Stage, call: Call, { offered, parsed }: { offered: OfferedTool; parsed: Arguments }): MaybePromise<Settled> {
  if (!parsed.ok) return refuse(call, parsed.failure)
  const understood = { offered, input: parsed.input, inputHash: fingerprint(call.part.input), title: parsed.reason ?? offered.name }
  if (stage.ports.hooks.length === 0 && !offered.tool.approval) return start(stage, call, understood)
  return considerSlowly(stage, call, understood)
}

async function considerSlowly(stage: Stage, call: Call, given: Understood): Promise<Settled> {
  const verdict = await beforeCall(stage, given.offered, given.input)
  if (!verdict.ok) return [...verdict.drafts, ...refuse(call, verdict.failure)]
  const { input } = verdict
  const understood = input === given.input ? given : { ...given, input, inputHash: fingerprint(JSON.stringify(input)) }
  const request = await approvalNeeded(stage, call, understood)
  if (request) return [...verdict.drafts, { type: 'interaction.approval.requested', request }]
  const started = await start(stage, call, understood)
  if (verdict.drafts.length === 0) return started
  return [...verdict.drafts, ...('tool' in started ? [{ type: 'interaction.item.started', item: started } as const] : started)]
}

/** `undefined` when nothing is to be asked: the tool wants no approval, or every key was granted for the stage. */
async function approvalNeeded(stage: Stage, call: Call, { offered, input, inputHash }: Understood): Promise<ApprovalRequest | undefined> {
  if (!offered.tool.approval) return undefined
  const asked = await attempt(() => offered.tool.approval?.(input), failClosed(offered))
  if (!asked) return undefined
  const granted = (key: ApprovalKey) => stage.state.grants.some((grant) => grant.key === key.key)
  if (asked.keys.length > 0 && asked.keys.every(granted)) return undefined
  return {
    id: approvalName(call.itemId, 'call'),
    itemId: call.itemId,
    tool: offered.name,
    summary: asked.summary,
    input,
    inputHash,
    keys: asked.keys,
    scope: 'call',
  }
}

/** A tool that can not say what it needs is asked about as a whole. */
const failClosed = ({ name }: OfferedTool) => ({ keys: [{ key: `tool:${name}`, label: `any call of ${name}` }], summary: `Call ${name}` })

/** The intent: from here on the call may have run. */
function start(stage: Stage, call: Call, understood: Understood): MaybePromise<Settled> {
  const { maxCalls } = stage.state.agent.limits
  if (maxCalls !== undefined && stage.turn.calls >= maxCalls) {
    return refuse(
      call,
      { class: 'budget', message: `The turn has used its ${maxCalls} calls.`, remedy: 'Answer with what you have.' },
      'skipped',
    )
  }
  const { tool } = understood.offered
  const lane = laneOf(tool, understood.input)
  if (!tool.view && !(lane instanceof Promise)) return intentOf(call, understood, { lane })
  return startSlowly(call, understood, lane)
}

async function startSlowly(call: Call, understood: Understood, lane: MaybePromise<Lane>): Promise<Settled> {
  const { tool } = understood.offered
  const view = await attempt(() => tool.view?.(understood.input), undefined)
  return intentOf(call, understood, { lane: await lane, ...(view && { view }) })
}

function intentOf(
  call: Call,
  { offered, input, inputHash, title }: Understood,
  { lane, view }: { lane: Lane; view?: ItemView },
): CallIntent {
  const { tool, name } = offered
  const intent = {
    id: call.itemId,
    type: view?.type ?? 'tool_call',
    tool: name,
    namespace: tool.namespace ?? '',
    title,
    callId: call.part.id,
    input,
    inputHash,
    effect: tool.effect ?? 'write',
    lane,
  } as const
  return view?.details ? { ...intent, details: view.details } : intent
}

const shared: Lane = { kind: 'shared' }
const exclusive: Lane = { kind: 'exclusive' }

function laneOf({ concurrency = 'exclusive' }: Tool, input: JsonObject): Lane | Promise<Lane> {
  if (concurrency === 'shared') return shared
  if (concurrency === 'exclusive') return exclusive
  return attempt(async (): Promise<Lane> => ({ kind: 'key', key: String(await concurrency.key(input)) }), exclusive)
}

/** Tools' small questions must not end a session: where one throws, the careful answer is taken. */
async function attempt<T>(question: () => T | Promise<T>, otherwise: T): Promise<T> {
  try {
    return await question()
  } catch {
    return otherwise
  }
}

/** A call that ends without having run. It still is an item, and its answer goes to the model. */
function refuse(
  call: Call,
  failure: ToolFailure,
  status: ItemStatus = failure.class === 'denied' ? 'declined' : 'failed',
): readonly EventDraft[] {
  return refusal(call, failure, status)
}

/** The model that asked for these calls: its offer is the one that they are held against. */
function askedModel(stage: Stage): string {
  const asked = stage.turn.accounting.toArray().findLast((entry) => entry.kind === 'model')
  return asked?.model ?? stage.state.agent.models[0] ?? ''
}
