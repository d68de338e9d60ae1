import { boundsOfLimit, parameterBounds, reasoningEfforts } from '../../contracts/index.ts'
import type { Shape, ValueType } from '../../project/index.ts'
import { scheduleProblem } from '../scheduler/cron-times.ts'

const value = (type: ValueType, example: string): Shape => ({ kind: 'value', type, example })
const text = (example: string): Shape => value({ kind: 'text' }, example)
const choice = (...of: readonly string[]): Shape => value({ kind: 'choice', of }, of[0] ?? '')

const schedule: Shape = {
  kind: 'fields',
  required: ['id', 'cron', 'task'],
  of: { id: text('morning'), cron: text('"0 8 * * 1-5"'), time_zone: text('Europe/Berlin'), task: text('Summarize the news') },
  findConflicts({ cron, time_zone }) {
    if (cron === undefined) return []
    const problem = scheduleProblem({ cron: String(cron), ...(time_zone !== undefined && { timeZone: String(time_zone) }) })
    if (!problem) return []
    const { message, remedy = '' } = problem
    const key = problem.place === 'cron' ? 'cron' : 'time_zone'
    return [{ key, message: `has a wrong \`${key}\`: ${message}`, remedy }]
  },
}

/** A `manifest.yaml`. Limits and times have no units. */
export const manifestShape = {
  kind: 'fields',
  required: ['id', 'name', 'version', 'description'],
  of: {
    id: text('file_manager'),
    name: text('File manager'),
    version: text('"1.0.0"'),
    description: text('Reads and writes files'),
    entrypoint: text('main:FileManager'),
    natural_language_description: text('Use it for files.'),
    depends_on: value({ kind: 'names', of: 'extension' }, '[kv]'),
    visibility: choice('all', 'agents'),
    permissions: {
      kind: 'fields',
      of: {
        hosts: value({ kind: 'names', of: 'host' }, '[api.example.com]'),
        read: value({ kind: 'names', of: 'folder' }, '[docs]'),
        write: value({ kind: 'names', of: 'folder' }, '[reports]'),
      },
    },
    config: value({ kind: 'map' }, '{ unit: celsius }'),
    secrets: value({ kind: 'names', of: 'variable' }, '[WEATHER_KEY]'),
    enabled: value({ kind: 'boolean' }, 'false'),
    schedules: { kind: 'list', of: schedule, example: '[{ id: morning, cron: "0 8 * * *", task: Greet }]', uniqueBy: 'id' },
    events: value({ kind: 'names', of: 'event' }, '[price_changed]'),
    agent: {
      kind: 'fields',
      required: ['model'],
      of: {
        integration_mode: choice('tool', 'handoff'),
        model: text('auto'),
        instructions: text('prompts/reviewer.jinja2'),
        parameters: {
          kind: 'fields',
          of: {
            temperature: value(parameterBounds.temperature, '0.2'),
            top_p: value(parameterBounds.topP, '0.9'),
            max_output_tokens: value(parameterBounds.maxOutputTokens, '4000'),
            seed: value(parameterBounds.seed, '7'),
            reasoning_effort: choice(...reasoningEfforts),
            timeout_ms: value(boundsOfLimit('llmTimeout'), '90000'),
          },
        },
        uses_tools: value({ kind: 'names', of: 'extension' }, '[kv, file_manager]'),
        limits: {
          kind: 'fields',
          of: {
            max_turns: value(boundsOfLimit('maxToolTurns'), '10'),
            max_tokens_per_invocation: value(boundsOfLimit('maxTokens'), '50000'),
            time_budget_ms: value(boundsOfLimit('timeBudget'), '120000'),
            idle_ms: value({ kind: 'integer', min: 1 }, '1800000'),
          },
        },
      },
    },
  },
} as const satisfies Shape
