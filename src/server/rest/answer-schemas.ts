import { z } from 'zod'
import {
  type AgentDescription,
  type AgentSetup,
  type AgentTool,
  type ContinuesElsewhere,
  type ExtensionStatus,
  extensionStates,
  type JsonOutput,
  type ModelRequest,
  type OwnerUsage,
  type Principal,
  principalKinds,
  type Receipt,
  type SearchMatch,
  type SessionExport,
  sessionStatuses,
  type ToolSpec,
  toolApprovals,
  type UsageGroup,
  type UsageReport,
  type UsageTotals,
  usageGroupings,
} from '../../contracts/index.ts'
import { published } from '../http/index.ts'
import type { answerDocument, sessionDocument } from './wire.ts'

// The answers of REST. Every answer of the tests is checked against them: a field that is missing here fails there.

/** A schema for each field of a type. */
type Fields<Type> = { readonly [Key in keyof Type]-?: z.ZodType }

const texts = z.array(z.string())
const count = z.int().nonnegative()

const memberFields = {
  name: z.string(),
  displayName: z.string().optional(),
  description: z.string(),
  usage: z.string().optional(),
  examples: texts.optional(),
  input: published('InputContract'),
  output: published('OutputContract'),
  limits: published('Limits'),
  parameters: published('Parameters'),
  overrides: texts,
  models: texts,
  tools: texts,
  clientTools: z.union([z.enum(['allow', 'deny']), texts]).optional(),
  keepSessions: z.literal(true).optional(),
  agents: texts,
  template: z.string().optional(),
} satisfies Fields<Omit<AgentDescription, 'team'>>
const team = z.array(z.object(memberFields).meta({ id: 'TeamMember' })).optional()

export const agentSchema = z.object({ ...memberFields, team }).meta({ id: 'AgentDescription' })
export const agentSetupSchema = z
  .object({
    prompt: z.string(),
    tools: z.array(
      z.object({
        name: z.string(),
        description: z.string(),
        approval: z
          .enum(toolApprovals)
          .describe('`depends`: some calls need approval. `allow`, `ask`, `deny`: a rule decides on all of its calls.'),
      } satisfies Fields<AgentTool>),
    ),
    sources: texts,
  } satisfies Fields<AgentSetup>)
  .meta({ id: 'AgentSetup' })
export const agentList = z.object({ agents: z.array(agentSchema) })

const continuesElsewhere = z.object({
  here: z.literal(false),
  reason: z.string(),
  command: z.string().optional().describe('Continues the session in a shell. For `admin`.'),
} satisfies Fields<ContinuesElsewhere>)

const sessionFields = {
  sessionId: z.string(),
  agent: z.string(),
  title: z.string(),
  status: z.enum(sessionStatuses),
  openRequests: count,
  owner: z.string().optional(),
  key: z.string().optional(),
  labels: texts.optional(),
  workspace: z.string().optional(),
  project: z.enum(['here', 'elsewhere']).optional(),
  continue: z.union([z.object({ here: z.literal(true) }), continuesElsewhere]).optional(),
  reason: z.literal('released').optional(),
  seq: count,
  cost: published('Cost').optional().describe('Of the turns that have ended, with those of children.'),
  match: z
    .object({
      kind: z.enum(['message', 'answer']),
      at: z.number().describe('When its turn ended, in milliseconds since 1970.'),
      snippet: z.string(),
      ranges: z.array(z.array(count).length(2)).describe('Start and end of each match in the snippet, in UTF-16 units.'),
    } satisfies Fields<SearchMatch>)
    .optional()
    .describe('Of a search: the newest text that matches.'),
} as const
export const sessionSchema = z
  .object({
    ...sessionFields,
    createdAt: z.iso.datetime(),
    updatedAt: z.iso.datetime(),
    cursor: z.number().describe('`before` of the page that begins after this session.'),
  } satisfies Fields<ReturnType<typeof sessionDocument>>)
  .meta({ id: 'Session' })
const unindexed = count.optional().describe('Number of sessions that are not covered.')
export const sessionList = z.object({ sessions: z.array(sessionSchema), next: z.number().optional(), unindexed })
export const sessionCreated = z.object({ sessionId: z.string() })

const answerFields = {
  sessionId: z.string(),
  status: z.enum(sessionStatuses.filter((status) => status !== 'running')),
  reason: published('TurnReason').optional(),
  message: z.string().optional(),
  remedy: z.string().optional(),
  format: z.enum(['text', 'markdown', 'json']).optional(),
  text: z.string().optional(),
  value: z.unknown().optional().describe('The answer as JSON, if its format is `json`.'),
  speaker: z.string().optional(),
  usage: published('Usage'),
  cost: published('Cost'),
  diagnostics: z.array(published('Diagnostic')),
} satisfies Fields<ReturnType<typeof answerDocument>>
const requests = z.array(published('ApprovalRequest'))

export const answerSchema = z.object(answerFields).meta({ id: 'Answer' })
/** A session that waits for a person, or runs without its client. */
export const acceptedAnswer = z.union([
  z.object({ ...answerFields, approvals: requests }).meta({ id: 'WaitingAnswer' }),
  z.object({ sessionId: z.string(), status: z.literal('running') }).meta({ id: 'RunningAnswer' }),
])
/** The events of a session, and then its answer. */
export const answerEvents = z.union([published('StreamEvent'), answerSchema])

export const shownSession = z
  .object({
    session: sessionSchema,
    approvals: requests,
    outcome: z.object({ ...answerFields, operations: published('TurnOperation').optional(), trace: published('Trace') }).optional(),
  })
  .meta({ id: 'ShownSession' })

export const exportedSession = z
  .object({
    format: z.literal('troupe.session'),
    version: z.literal(1),
    session: z.object({ ...sessionFields, createdAt: z.number(), updatedAt: z.number() }),
    events: z.array(published('DurableEvent')),
    blobs: z.record(z.string(), z.union([z.string(), z.object({ mediaType: z.string(), data: z.string() })])),
  } satisfies Fields<SessionExport>)
  .meta({ id: 'SessionExport' })

const usageTotals = {
  turns: count,
  failedTurns: count,
  requests: count,
  failedRequests: count,
  usage: published('Usage'),
  costUsd: z.number().describe('Of the requests with a price.'),
  unpriced: count.describe('Requests without a price.'),
  workMs: z.number(),
  p95Ms: z.number().describe('95 of 100 of these turns took at most this long; by model: of the requests of a turn.'),
} satisfies Fields<UsageTotals>
const usageGroup = z.object({ key: z.string(), ...usageTotals } satisfies Fields<UsageGroup>).meta({ id: 'UsageGroup' })
export const usageSchema = z
  .object({
    since: z.iso.datetime().optional().describe('From this time on.'),
    until: z.iso.datetime().optional().describe('Before this time.'),
    by: z.enum(usageGroupings),
    groups: z.array(usageGroup),
    total: z.object(usageTotals),
    unindexed,
  } satisfies Fields<UsageReport & { readonly since?: string; readonly until?: string; readonly unindexed?: number }>)
  .meta({ id: 'UsageReport' })

const tool = z.object({ name: z.string(), description: z.string(), inputSchema: z.looseObject({}) } satisfies Fields<ToolSpec>)
export const modelRequestSchema = z
  .object({
    system: z.string(),
    messages: z
      .array(z.looseObject({ role: z.enum(['user', 'assistant', 'tool']) }))
      .describe('As in the journal, with images and files as base64 in `data`.'),
    tools: z.array(tool),
    toolChoice: z.enum(['auto', 'none']),
    parameters: published('Parameters'),
    output: z
      .object({ schema: z.looseObject({}).optional() } satisfies Fields<JsonOutput>)
      .optional()
      .describe('The answer must be JSON.'),
  } satisfies Fields<ModelRequest>)
  .meta({ id: 'ModelRequest' })

export const receiptSchema = z
  .object({
    clientId: z.string(),
    driven: z.boolean(),
    first: z.object({ decision: published('ApprovalDecision'), by: z.string() }).optional(),
    message: z.string().optional().describe('Why nothing happens yet, if `driven` is false.'),
    continue: continuesElsewhere.optional(),
  } satisfies Fields<Omit<Receipt, 'elsewhere'> & { readonly message?: string }>)
  .meta({ id: 'Receipt' })
export const requestList = z.object({ approvals: requests })
export const allRequests = z.object({
  approvals: z.array(z.object({ session: sessionSchema, request: published('ApprovalRequest') })),
})

export const eventPage = z.object({ events: z.array(published('DurableEvent')), next: count.optional() })
/** `session.changed` has the session, `session.deleted` its id, `server.changed` nothing. */
export const watchEvents = z.union([published('StreamEvent'), sessionSchema, z.object({ sessionId: z.string() }), z.object({})])

const amounts = { tokens: z.number(), costUsd: z.number() } satisfies Fields<OwnerUsage>
const budget = z.object({
  tokensPerDay: z.number().optional(),
  costUsdPerDay: z.number().optional(),
  used: z.object(amounts),
  remaining: z.object(amounts).partial(),
  renewsAt: z.iso.datetime(),
})
const offers = z.array(
  z.object({
    model: z.string(),
    from: z.string().describe('The variable of its key, or the server that has it.'),
  }),
)

export const providerList = z.object({
  providers: z.array(
    z
      .object({
        name: z.string(),
        label: z.string(),
        access: z.enum(['key', 'local']),
        models: offers.describe('Those that can be used now.'),
        problem: z.string().optional(),
        variable: z.string().optional().describe('The variable of its key.'),
        keyPage: z.string().optional().describe('Where people create keys.'),
      })
      .meta({ id: 'Provider' }),
  ),
  file: z.string(),
})

export const connectedKey = z.object({ provider: z.string(), label: z.string(), model: z.string(), notes: texts })

export const statusSchema = z
  .object({
    version: z.string(),
    principal: z.object({ id: z.string(), kind: z.enum(principalKinds), name: z.string().optional() } satisfies Fields<Principal>),
    scopes: texts,
    agents: texts,
    models: texts,
    workspace: z.string().optional().describe('The folder of the server. For `admin`.'),
    budget: budget.optional(),
    warnings: texts.optional(),
    connect: z.object({ models: offers, missing: texts }).optional(),
    demo: z.object({ model: z.string(), offers, processId: z.number() }).optional(),
  })
  .meta({ id: 'Status' })

const extension = z
  .object({
    id: z.string(),
    name: z.string(),
    version: z.string(),
    description: z.string(),
    state: z.enum(extensionStates),
    source: z.enum(['project', 'user', 'bundled']),
    runs: z.enum(['kernel', 'sandbox', 'nowhere']),
    trusted: z.boolean(),
    capabilities: texts,
    health: z.looseObject({}).optional(),
    problems: z.array(z.looseObject({ message: z.string() })),
  } satisfies Fields<ExtensionStatus>)
  .meta({ id: 'Extension' })
export const extensionList = z.object({ extensions: z.array(extension) })
