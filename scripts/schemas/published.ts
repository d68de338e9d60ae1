// The source of schemas/, without the schemas for editors. Tests compare it with the files and with real runs.

import type { ErrorDocument } from '../../src/cli/commands/output/error-documents.ts'
import type { DryRunDocument, OutcomeDocument, PlannedMember, PlannedModel } from '../../src/cli/commands/output/run-documents.ts'
import type { OpenDocument, RestingDocument, SoFar } from '../../src/cli/commands/sessions/session-document.ts'
import type { SessionTotals } from '../../src/cli/commands/sessions/session-totals.ts'
import type { StoredSessionState } from '../../src/cli/commands/sessions/stored-sessions.ts'
import { sessionStatuses } from '../../src/contracts/index.ts'
import { agentDefinitions } from './agent-definitions.ts'
import { lines, runFlag } from './events.ts'
import { itemDefinitions } from './item-definitions.ts'
import { outcomeDefinitions, outcomeFields, progressFields } from './outcome-definitions.ts'
import {
  amount,
  anyOf,
  closed,
  constant,
  count,
  listOf,
  memberOf,
  name,
  oneOf,
  optional,
  ordinal,
  reachable,
  reference,
  type Schema,
  text,
  truth,
} from './shapes.ts'

const exitCode = { type: 'integer', minimum: 0, maximum: 255 }

const error = optional(reference('CommandError'))
const outcomeDocument = closed<OutcomeDocument>(
  {
    ok: truth,
    error,
    ...outcomeFields,
    denials: listOf(reference('Denial')),
    snapshot: reference('Snapshot'),
    summary: optional(reference('AgentSummary')),
    exitCode,
  },
  { description: 'A run that started, whatever its outcome.' },
)
const errorDocument = closed<ErrorDocument>(
  { ok: constant(false), error: reference('CommandError'), exitCode },
  { description: 'Why a run did not start.' },
)
const dryRunDocument = closed<DryRunDocument>(
  {
    ok: constant(true),
    dryRun: constant(true),
    agent: closed<DryRunDocument['agent']>({ name, description: name, file: name, promptChars: count }),
    models: listOf(
      closed<PlannedModel>({ name, id: name, abilities: listOf(reference('ModelAbility')), contextTokens: optional(ordinal) }),
    ),
    parameters: reference('Parameters'),
    limits: reference('Limits'),
    output: reference('OutputContract'),
    tools: listOf(text),
    team: listOf(closed<PlannedMember>({ name, models: listOf(name), tools: listOf(text), agents: listOf(name) })),
    requestChars: count,
    journal: name,
    notices: listOf(text),
    exitCode: constant(0),
  },
  { description: 'What would run: the document of --dry-run.' },
)

type State<Kind extends StoredSessionState['kind']> = Extract<StoredSessionState, { kind: Kind }>
const standing = anyOf(
  closed<State<'running'>>({ kind: constant('running'), driver: text }),
  closed<State<'unfinished'>>({ kind: constant('unfinished') }),
  closed<State<'waiting'>>({ kind: constant('waiting'), open: count, for: optional(constant('client')) }),
  closed<State<'ended'>>({
    kind: constant('ended'),
    status: oneOf<State<'ended'>['status']>({ completed: true, partial: true, failed: true, interrupted: true }),
  }),
  closed<State<'damaged'>>({ kind: constant('damaged'), seq: count }),
)
const shownFields = {
  ok: truth,
  error,
  sessionId: name,
  agent: text,
  title: text,
  workspace: optional(text),
  agentFile: optional(text),
  command: optional(name),
  flags: optional(listOf(runFlag)),
  owner: optional(name),
  key: optional(name),
  labels: optional(listOf(name)),
  status: memberOf(sessionStatuses),
  standing,
  startedAt: amount,
  updatedAt: amount,
  goOn: optional(text),
  asked: text,
  totals: closed<SessionTotals>(
    { turns: count, steps: count, calls: count, usage: reference('Usage'), cost: reference('Cost'), durationMs: amount, waitedMs: amount },
    { description: 'Over all turns of the session, with its descendants.' },
  ),
  damage: optional(closed<NonNullable<RestingDocument['damage']>>({ seq: count, message: text, remedy: optional(text) })),
  exitCode: { enum: [0, 1] },
}
const soFar = closed<SoFar>({
  ...progressFields,
  denials: listOf(reference('Denial')),
  snapshot: reference('Snapshot'),
  summary: optional(reference('AgentSummary')),
})
const restingDocument = closed<RestingDocument>(
  { ...shownFields, outcome: outcomeDocument },
  { description: 'A session that has ended or is suspended, with the document that run --json printed.' },
)
const openDocument = closed<OpenDocument>(
  { ...shownFields, soFar },
  {
    description:
      'A session that is running, was abandoned by its process, or is damaged. Turns that have not ended have the status suspended.',
  },
)

/** `TurnStartedEvent` for `interaction.turn.started`. */
const eventName = (type: string): string =>
  `${type
    .split('.')
    .slice(1)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Event`

const isEvent = (type: string): boolean => type.startsWith('interaction.')
const events = Object.entries(lines).flatMap(([type, schema]) => (isEvent(type) ? [{ name: eventName(type), schema }] : []))
const isDurable = ({ schema }: { readonly schema: Schema }): boolean => 'seq' in (schema.properties as object)
const union = (members: typeof events): Schema => ({ oneOf: members.map((event) => reference(event.name)) })

/** Servers put those of stream events into `/openapi.json`. */
const definitions = {
  ...agentDefinitions,
  ...itemDefinitions,
  ...outcomeDefinitions,
  ...Object.fromEntries(events.map((event) => [event.name, event.schema])),
  DurableEvent: { description: 'An event of the journal.', ...union(events.filter(isDurable)) },
  StreamEvent: { description: 'An event of the journal, or a live event.', ...union(events) },
}

interface About {
  readonly title: string
  readonly description: string
  /** Definitions that it has, besides those that it refers to. */
  readonly also?: readonly string[]
}

function published(id: string, { also = [], ...about }: About, root: Schema): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:troupe:schema:${id}`,
    ...about,
    ...root,
    $defs: reachable([root, also.map(reference)], definitions),
  }
}

/** The content of schemas/, by file name. */
export const publishedSchemas: { readonly [file: string]: Schema } = {
  'stream-event.schema.json': published(
    'stream-event',
    {
      title: 'A line of troupe run --stream-json',
      description: 'Durable events have a seq and form the journal; live events have none. The last line is run.completed or run.failed.',
      also: ['DurableEvent', 'StreamEvent'],
    },
    { oneOf: Object.entries(lines).map(([type, schema]) => (isEvent(type) ? reference(eventName(type)) : schema)) },
  ),
  'run-document.schema.json': published(
    'run-document',
    { title: 'The document of troupe run --json', description: 'An outcome, an error or a dry run.' },
    { oneOf: [outcomeDocument, errorDocument, dryRunDocument] },
  ),
  'session.schema.json': published(
    'session',
    { title: 'The document of troupe sessions show --json', description: 'A session read from its journal, or an error.' },
    { oneOf: [restingDocument, openDocument, errorDocument] },
  ),
}
