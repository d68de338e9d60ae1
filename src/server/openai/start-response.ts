import type { AgentDescription, InputPart, Json, OutputContract, SendOptions, SessionService } from '../../contracts/index.ts'
import { isSameJson } from '../../util/json-values.ts'
import { approvalRequired, type Continued, continueTurn, findAgent, HttpError, type RouteRequest, wireCall } from '../http/index.ts'
import { readTools } from './client-tools.ts'
import { invalid } from './content.ts'
import type { Conversation } from './conversation.ts'
import { withReferencedItems } from './item-references.ts'
import type { OpenAiDependencies } from './openai-routes.ts'
import { type ResponseBody, repeatedFields, responseSettings } from './response-body.ts'
import { readInput } from './response-input.ts'
import {
  type ContinuedTurn,
  claimContinuation,
  loadResponse,
  parseResponseId,
  type ResponseRecord,
  releaseContinuation,
  responseAddress,
  type StoredResponse,
  saveResponse,
  unknownResponse,
} from './response-records.ts'
import { isOver, type ResponseState, readState } from './response-state.ts'
import { withId } from './response-turn.ts'
import { type AskedFormat, labelsOf, limitsOf, outputOf } from './settings.ts'

// Begins the turn of a response, in a new session or in that of an earlier response, or continues the one that waits for results of its
// client.
//
// 1. A response continues exactly the conversation that ends with the one before it: the same session if nothing came after, and
//    otherwise a copy that ends there.
// 2. The record is stored before the client learns the id.

interface StartedResponse {
  readonly response: StoredResponse
  readonly ignored: readonly string[]
  /** Also for `store: false`, which hides the response only. */
  readonly keepsSession: boolean
}

export async function startResponse(request: RouteRequest<ResponseBody>, dependencies: OpenAiDependencies): Promise<StartedResponse> {
  const { body, sessions } = request
  const agent = findAgent(sessions, body.model)
  const { parameters, ignored } = responseSettings(body, agent)
  const input = await withReferencedItems(body.input, { sessions, records: dependencies.records })
  const conversation = readInput(input, { hasEarlier: Boolean(body.previous_response_id) })
  const tools = readTools(body)
  const asked = outputOf(askedFormat(body), agent) ?? null
  const instructions = joined([body.instructions ?? '', ...conversation.instructions])
  const settings = { parameters, limits: limitsOf(body), ...tools.settings }
  const previous = await previousResponse(request, dependencies)
  // A turn keeps its format.
  const output = previous && conversation.returned ? previous.response.record.output : asked
  const turn: Turn = { request, agent, conversation, settings, labels: labelsOf(body), instructions, output }
  const place = await request.admit(agent.name)
  const returned = await returnedTo(turn, previous, dependencies)
  const { after, continues, ...where } = returned ?? (previous ? await continued(turn, previous, dependencies) : await begun(turn))
  request.concerns(where.sessionId)
  if (body.background === true) place.keepUntil(sessions.outcome(where.sessionId))
  const record = {
    createdAt: Math.floor(dependencies.clock.now() / 1000),
    agent: agent.name,
    after,
    instructions: returned?.instructions ?? instructions,
    ownInstructions: body.instructions || (returned && previous?.response.record.ownInstructions) || '',
    output,
    isJson: (output ?? agent.output).format === 'json',
    background: body.background === true,
    isStreamed: body.stream === true,
    request: repeatedFields(body, { ...agent.parameters, ...parameters }),
    showsCalls: showsCalls(request.raw.headers),
    ...(tools.custom.size > 0 && { custom: [...tools.custom] }),
    ...(continues && { continues }),
  }
  const response = { ...where, record }
  await saveResponse(dependencies.records, response)
  if (returned && returned.requests.length > 0) throw withId(approvalRequired(where.sessionId, returned.requests), where.id)
  return { response, ignored: [...ignored, ...tools.ignored], keepsSession: agent.keepSessions === true }
}

/** Most clients do not know calls that a server runs itself, and refuse their items: they are sent on request. */
const showsCalls = (headers: Headers): boolean => /(?:^|[\s,])calls(?:$|[\s,])/i.test(headers.get('x-troupe-include') ?? '')

interface Turn {
  readonly request: RouteRequest<ResponseBody>
  readonly agent: AgentDescription
  readonly conversation: Conversation
  readonly settings: Pick<SendOptions, 'parameters' | 'limits' | 'clientTools' | 'toolChoice'>
  readonly labels: readonly string[]
  readonly instructions: string
  readonly output: OutputContract | null
}

type Begun = ReturnType<typeof responseAddress> & { readonly after: number; readonly continues?: ContinuedTurn }

function askedFormat({ text }: ResponseBody): AskedFormat | undefined {
  const format = text?.format ?? undefined
  return format?.type === 'json_schema' ? { type: 'json_schema', schema: format.schema } : format
}

async function begun({ request, agent, conversation, settings, labels, instructions, output }: Turn): Promise<Begun> {
  const { input, history } = conversation
  const sessionId = await request.sessions.start(input, {
    agent: agent.name,
    history,
    ...settings,
    labels,
    ...(instructions !== '' && { instructions }),
    ...(output && { output }),
  })
  return { ...responseAddress(sessionId), after: 0 }
}

interface Previous {
  readonly response: StoredResponse
  readonly state: ResponseState
  /** The number of the event that ended its turn. */
  readonly endSeq: number
}

async function previousResponse(
  { body, sessions }: RouteRequest<ResponseBody>,
  { records }: OpenAiDependencies,
): Promise<Previous | undefined> {
  const id = body.previous_response_id ?? undefined
  if (id === undefined) return undefined
  const response = await findResponse(sessions, { id, records })
  const { turn } = response.state
  if (turn.kind === 'suspended') throw approvalRequired(response.response.sessionId, await sessions.requests(response.response.sessionId))
  if (!isOver(turn))
    throw new HttpError('conflict', `The response "${id}" is not complete.`, {
      parameter: 'previous_response_id',
      remedy: 'Wait for its end.',
    })
  if (response.response.record.agent !== body.model)
    throw invalid('model', `the response "${id}" is from "${response.response.record.agent}"`, 'Continue with the same model.')
  return { ...response, endSeq: turn.end.seq }
}

/** Results of calls continue their turn, wherever the client has its history. `undefined`: there is no such turn here. */
async function returnedTo(
  { request, agent, conversation, settings }: Turn,
  previous: Previous | undefined,
  { ids }: OpenAiDependencies,
): Promise<(Begun & Pick<Continued, 'requests'> & { readonly instructions: string }) | undefined> {
  const { returned } = conversation
  if (previous) requireResults(previous, returned)
  if (!returned) return undefined
  const { clientTools = [], toolChoice = 'auto' } = settings
  const instructions = previous
    ? changedInstructions(request.body, previous.response.record)
    : joined([request.body.instructions ?? '', returned.instructions ?? ''])
  const turn = await continueTurn(request, {
    agent: agent.name,
    returned: { ...returned, instructions },
    settings: { clientTools, toolChoice },
  })
  if (!turn) return undefined
  const { sessionId, after, requests, open, ...where } = turn
  return { ...responseAddress(sessionId, ids.next()), after, requests, instructions, continues: { ...where, open: open.map(wireCall) } }
}

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n\n')

/** Those of the response before, with other ones of the request: system messages in its input stay. */
function changedInstructions({ instructions: own }: ResponseBody, { instructions, ownInstructions: before = '' }: ResponseRecord): string {
  if (!own) return instructions
  return before === '' ? joined([own, instructions]) : instructions.replace(before, () => own)
}

/** What follows a response with calls begins with their results. */
function requireResults({ response, state }: Previous, returned: Conversation['returned']): void {
  const calls = state.turn.kind === 'called' ? state.output.flatMap((item) => ('call_id' in item ? [item.call_id] : [])) : []
  const missing = calls.filter((id) => !returned?.results.some((result) => result.id === id))
  if (missing.length > 0) throw invalid('input', `there is no output for the call ${missing[0]} of "${response.id}"`, 'Send it.')
  const other = returned?.results.find(({ id }) => !calls.includes(id))
  if (other) throw invalid('input', `"${response.id}" has no call ${other.id}`, 'Send outputs of its calls.')
}

/** Throws 404 if there is none, also if it belongs to another owner. */
export async function findResponse(
  sessions: SessionService,
  { id, records }: { readonly id: string; readonly records: OpenAiDependencies['records'] },
): Promise<{ readonly response: StoredResponse; readonly state: ResponseState }> {
  const address = parseResponseId(id)
  const response = address && (await loadResponse(records, address))
  const state = response && (await readState(sessions, response))
  if (!state) throw unknownResponse(id)
  return { response, state }
}

async function continued(turn: Turn, previous: Previous, { records, ids }: OpenAiDependencies): Promise<Begun> {
  const { sessions, body } = turn.request
  const parts = continuingParts(turn.conversation)
  const clientId = ids.next()
  const address = responseAddress(previous.response.sessionId, clientId)
  const isNext = !previous.state.isContinued && body.store !== false && (await claimContinuation(records, previous.response, address.id))
  const sessionId = isNext ? address.sessionId : await sessions.fork(address.sessionId, { seq: previous.endSeq })
  const entry = await sessions.get(sessionId)
  const { record } = previous.response
  const changes = { ...(hasTools(record) && noTools), ...turn.settings, ...changedSettings(turn, record) }
  const undo = () => (isNext ? releaseContinuation(records, previous.response, address.id) : sessions.delete(sessionId))
  const sending = sessions.send(sessionId, parts, { ...changes, clientId })
  const { driven } = await sending.catch((error: unknown) => undo().then(() => Promise.reject(error)))
  if (!driven)
    throw new HttpError('turn_failed', 'This server cannot continue the session of the response.', {
      sessionId,
      remedy: 'Ask the server that started it, or send the conversation as input.',
    })
  return { ...responseAddress(sessionId, clientId), after: isNext ? previous.endSeq : (entry?.seq ?? 0) }
}

/** Tools belong to one response. */
const noTools = { clientTools: [], toolChoice: 'auto' } as const
export const hasTools = ({ request: { tools }, continues }: ResponseRecord): boolean =>
  continues !== undefined || (Array.isArray(tools) && tools.length > 0)

/** Instructions and format belong to one response. They are sent if they are not those of the session. */
function changedSettings({ instructions, output }: Turn, before: ResponseRecord): Pick<SendOptions, 'instructions' | 'output'> {
  return {
    ...(instructions !== before.instructions && { instructions }),
    ...(!isSameJson(output as Json, before.output as Json) && { output }),
  }
}

/** The session has the rest of the conversation. */
function continuingParts({ history, input }: Conversation): readonly InputPart[] {
  const earlier = history.flatMap((message) => {
    if (message.role === 'user') return message.parts
    throw invalid('input', 'after previous_response_id, only messages of the user are possible', 'Send what is new.')
  })
  return [...earlier, ...input]
}
