// The tools of a server as tools of an agent.
import type {
  ApprovalWish,
  Json,
  JsonObject,
  McpServerDefinition,
  Question,
  SchemaValidator,
  Tool,
  ToolContext,
  ToolOutput,
  ToolQuestions,
} from '../../contracts/index.ts'
import { matches } from '../../policy/tool-name-patterns.ts'
import { rateLimit } from '../../util/rate-limit.ts'
import {
  type AskedState,
  askedStateOf,
  type CallQuestions,
  elicitResult,
  formDefaults,
  prerequisites,
  questionFrom,
  questionsOf,
  withDefaults,
} from './call-questions.ts'
import type { CallReply, InputRequests, InputResponses } from './mcp-client.ts'
import type { McpConnection } from './mcp-connection.ts'
import { failureOf, McpError } from './mcp-failure.ts'
import { type McpHost, rootsOf } from './mcp-host.ts'
import { maxProgressPerSecond, maxQuestionRounds } from './mcp-limits.ts'
import type { ServerTool } from './server-tools.ts'
import { resultOutput } from './tool-result.ts'

export interface ToolPlace {
  readonly server: string
  readonly definition: McpServerDefinition
  readonly host: McpHost
  readonly connection: McpConnection
  readonly validator: SchemaValidator
}

export function mcpTool(tool: ServerTool, place: ToolPlace): Tool {
  const effect = lastMatch(place.definition.effects, tool.name) ?? 'write'
  return {
    ...commonParts(tool.name, place),
    description: tool.description,
    inputSchema: tool.inputSchema,
    effect,
    // In the order of the model, but beside calls of other servers.
    concurrency: effect === 'read' ? 'shared' : { key: () => `mcp:${place.server}` },
    execute: async (input, context) => {
      try {
        const reply = await callUntilDone(tool, { input, context, place })
        return reply.kind === 'ask' ? asking(reply.ask, place) : await checkedOutput(tool, reply, place)
      } catch (error) {
        const ask = prerequisites(error, place.server)
        return ask ? asking(ask, place) : { ok: false, error: failureOf(error, place.server) }
      }
    },
  }
}

/** What all tools of a server have in common. */
export function commonParts(name: string, { server, definition, connection }: ToolPlace) {
  const approval: ApprovalWish = {
    summary: `Call ${name} of the MCP server ${server}`,
    keys: [{ key: `mcp:${server}/${name}`, label: `${server}/${name}` }],
    wider: [{ key: `mcp:${server}/`, label: `any tool of the MCP server ${server}`, isPrefix: true }],
    ...(lastMatch(definition.approval, name) === 'allow' && { asks: false }),
  }
  return {
    name: `${server}/${name}`,
    namespace: server,
    timeoutMs: connection.server.timeoutMs,
    approval: () => approval,
    view: () => ({ type: 'mcp_tool_call', details: { server, tool: name } }),
  } satisfies Partial<Tool>
}

function lastMatch<Value>(byPattern: { readonly [pattern: string]: Value } = {}, name: string): Value | undefined {
  return Object.entries(byPattern).findLast(([pattern]) => matches(pattern, name))?.[1]
}

interface Call {
  readonly input: JsonObject
  readonly context: ToolContext
  readonly place: ToolPlace
}

type Reply = Extract<CallReply, { kind: 'result' }> | { readonly kind: 'ask'; readonly ask: ToolQuestions }

const asking = (ask: ToolQuestions, { server }: ToolPlace): ToolOutput => ({
  ok: false,
  error: { class: 'cancelled', message: `The MCP server "${server}" asked a question that nobody answered.` },
  ask,
})

/**
 * Servers of the revision 2026-07-28 ask by returning. Questions for a person end the attempt, and the next one has the answers.
 * The other answers are sent immediately.
 */
async function callUntilDone(tool: ServerTool, { input, context, place }: Call): Promise<Reply> {
  const { signal } = context
  const questions = questionsOf(context, place.server)
  const mayShow = rateLimit(maxProgressPerSecond, place.host.clock)
  const onProgress = (text: string): void => {
    if (mayShow()) context.progress(text)
  }
  let answers = answersFrom(context, place)
  for (let round = 0; round <= maxQuestionRounds; round++) {
    const request = { name: tool.name, arguments: input, definition: tool.definition, ...answers }
    const reply = await place.connection.use((client) => client.callTool(request, { signal, timeoutMs: 'none', questions, onProgress }), {
      signal,
    })
    if (reply.kind === 'result') return reply
    const { responses, forPerson } = await answerRequests(reply.requests, { questions, signal, place })
    if (Object.keys(forPerson).length > 0) {
      const state = {
        responses: responses as JsonObject,
        ...(reply.state !== undefined && { requestState: reply.state }),
        defaults: Object.fromEntries(Object.entries(forPerson).map(([key, question]) => [key, formDefaults(question)])),
      } satisfies AskedState
      return { kind: 'ask', ask: { questions: forPerson, state } }
    }
    answers = { responses, ...(reply.state !== undefined && { state: reply.state }) }
  }
  throw new McpError({
    class: 'failed',
    message: `The MCP server "${place.server}" asked more than ${maxQuestionRounds} times in one call.`,
  })
}

interface Answers {
  readonly responses?: InputResponses
  readonly state?: string
}

/** What the attempt before has asked, with the answers of the person. @throws McpError if the person did not do what is required. */
function answersFrom({ answers = {}, askState }: ToolContext, { server }: ToolPlace): Answers {
  const asked = askedStateOf(askState)
  if (!asked) return {}
  const { responses, requestState: state, defaults, isPrerequisite } = asked
  if (isPrerequisite) {
    if (Object.values(answers).every(({ kind }) => kind === 'accept')) return {}
    throw new McpError({
      class: 'denied',
      message: `The MCP server "${server}" requires that the user opens an address, and the user did not.`,
    })
  }
  const results = Object.entries(answers).map(([key, answer]) => [key, withDefaults(elicitResult(answer), defaults?.[key])])
  return { responses: { ...responses, ...Object.fromEntries(results) }, ...(state !== undefined && { state }) }
}

interface Answering {
  readonly questions: CallQuestions
  readonly signal: AbortSignal
  readonly place: ToolPlace
}

interface Answered {
  readonly responses: InputResponses
  /** Without an answer yet. */
  readonly forPerson: { readonly [key: string]: Question }
}

async function answerRequests(requests: InputRequests, { questions, signal, place }: Answering): Promise<Answered> {
  const responses: Record<string, unknown> = {}
  const forPerson: Record<string, Question> = {}
  for (const [key, request] of Object.entries(requests)) {
    switch (request.method) {
      case 'elicitation/create':
        forPerson[key] = questionFrom(request.params, place.server)
        break
      case 'sampling/createMessage':
        responses[key] = await questions.createMessage(request.params, signal)
        break
      case 'roots/list':
        responses[key] = rootsOf(place.host)
        break
      default:
        throw new McpError({ class: 'failed', message: 'The server asked for something that is not supported.' })
    }
  }
  return { responses, forPerson }
}

async function checkedOutput(
  { outputSchema }: ServerTool,
  { result }: Extract<CallReply, { kind: 'result' }>,
  { server, validator }: ToolPlace,
): Promise<ToolOutput> {
  if (outputSchema === undefined || result.isError) return resultOutput(result, server)
  const value = result.structuredContent as Json | undefined
  if (value === undefined) return resultOutput(result, server, ['there is no structured content'])
  const validate = await validator.compile(outputSchema)
  const validation = await validate(value)
  return resultOutput(result, server, validation.ok ? [] : validation.problems)
}
