// The sources of schemas/. Nothing loads them at run time: tests hold them against the files and against real runs.
import type { DryRunDocument, ErrorDocument, OutcomeDocument, PlannedModel } from '../run-documents.ts'
import { definitions } from './definitions.ts'
import { lines, runError } from './events.ts'
import { outcomeFields } from './outcomes.ts'
import { closed, constant, count, listOf, name, optional, ordinal, reachable, reference, type Schema, text, truth } from './shapes.ts'

const exitCode = { type: 'integer', minimum: 0, maximum: 255 }

const outcomeDocument = closed<OutcomeDocument>(
  { ok: truth, ...outcomeFields, snapshot: reference('Snapshot'), summary: optional(reference('AgentSummary')), exitCode },
  { description: 'A run that came about, however it ended.' },
)
const errorDocument = closed<ErrorDocument>(
  { ok: constant(false), error: runError, exitCode },
  { description: 'Why a run did not come about.' },
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
    requestChars: count,
    journal: name,
    notices: listOf(text),
    exitCode: constant(0),
  },
  { description: 'What would run: --dry-run with --json.' },
)

function published(id: string, about: { readonly title: string; readonly description: string }, root: Schema): Schema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `urn:troupe:schema:${id}`,
    ...about,
    ...root,
    $defs: reachable(root, definitions),
  }
}

/** What stands in schemas/, by file. */
export const publishedSchemas: { readonly [file: string]: Schema } = {
  'stream-event.schema.json': published(
    'stream-event',
    {
      title: 'A line of troupe run --stream-json',
      description: 'Durable events have a seq and are the journal; live events have none. The last line is run.completed or run.failed.',
    },
    { oneOf: Object.values(lines) },
  ),
  'run-document.schema.json': published(
    'run-document',
    { title: 'The document of troupe run --json', description: 'One of three, whatever happens.' },
    { oneOf: [outcomeDocument, errorDocument, dryRunDocument] },
  ),
}
