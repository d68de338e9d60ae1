import { childLimits, defaultLimits, extensionId, type JsonObject, type ReasoningEffort } from '../../contracts/index.ts'
import { renderFile } from '../../project/index.ts'
import { SourceText, startOfText } from '../../yaml/source-text.ts'
import type { AgentSection, ExtensionManifest } from '../shared/kernel-types.ts'
import { ManifestValues } from './manifest-values.ts'

interface ManifestPlace {
  /** For messages. */
  readonly path: string
  /** The folder of the extension, absolute. Its name is the id. */
  readonly folder: string
  /** The folder of the project, absolute. */
  readonly workspace: string
  /** Values of the configuration over `config`, for the template. */
  readonly config?: JsonObject | undefined
}

type ReadManifest =
  | { readonly ok: true; readonly manifest: ExtensionManifest }
  | { readonly ok: false; readonly problems: SourceText['problems'] }

/** Parts of the kernel, and prefixes of names. People of a channel `token` would be the owners of tokens. */
const reservedIds = ['agent', 'hook', 'kernel', 'orchestrator', 'token', 'troupe']
const entrypoint = /^([\w][\w-]*):([A-Za-z_$][\w$]*)$/

/** Reads a `manifest.yaml`. All problems are reported together. */
export async function readManifest(text: string, place: ManifestPlace): Promise<ReadManifest> {
  const source = new SourceText(text, place.path)
  const values = new ManifestValues(source)
  if (values.isRead) checkValues(source, values, place)
  const manifest = await buildManifest(source, values, place)
  return source.problems.length === 0 ? { ok: true, manifest } : { ok: false, problems: source.problems }
}

function checkValues(source: SourceText, values: ManifestValues, { folder }: ManifestPlace): void {
  if (!['entrypoint', 'agent', 'schedules'].some((key) => values.has(key)))
    source.problem(
      startOfText,
      'there is no `entrypoint`, `agent` or `schedules`',
      'Add `entrypoint: main:ClassName` for code, or an `agent` section.',
    )
  if (values.has('events') && !values.has('agent'))
    source.problem(values.at('events'), '`events` start the agent of this extension, which has none', 'Add an `agent` section.')
  if (values.number('agent.limits.idle_ms') !== undefined && values.get('agent.integration_mode') !== 'handoff')
    source.problem(
      values.at('agent.limits.idle_ms'),
      '`idle_ms` limits a handoff, and this agent talks to no person',
      'Remove it, or write `integration_mode: handoff`.',
    )
  checkId(source, values, folder)
  const written = values.get('entrypoint')
  if (typeof written === 'string' && !entrypoint.test(written))
    source.problem(
      values.at('entrypoint'),
      `\`${written}\` is not \`FILE:CLASS\``,
      'Write it like `entrypoint: main:KvStore`, without `.js` or `.ts`.',
    )
  for (const key of ['depends_on', 'agent.uses_tools'])
    if (values.texts(key).includes(String(values.get('id'))))
      source.problem(
        values.at(key),
        `\`${key}\` names the extension itself`,
        'Remove it. An agent always has the tools of its own extension.',
      )
  for (const key of ['permissions.read', 'permissions.write'])
    for (const path of values.texts(key))
      if (/^(?:[/\\~]|[a-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/i.test(path))
        source.problem(values.at(key), `\`${path}\` is outside the project`, 'Write a path from the folder of the project.')
}

function checkId(source: SourceText, values: ManifestValues, folder: string): void {
  const id = values.get('id')
  if (typeof id !== 'string') return
  const folderName = folder.split(/[/\\]/).at(-1) ?? ''
  const remedy = 'Use at most 40 lower-case letters, digits, and single `_` or `-`; begin with a letter.'
  if (!extensionId.test(id)) source.problem(values.at('id'), `\`${id}\` is not a valid id`, remedy)
  else if (reservedIds.includes(id)) source.problem(values.at('id'), `the id \`${id}\` is reserved`, 'Choose another id.')
  else if (id !== folderName)
    source.problem(
      values.at('id'),
      `the id is \`${id}\`, but the folder is \`${folderName}\``,
      `Rename the folder to \`${id}\`, or write \`id: ${folderName}\`.`,
    )
}

const defaultIdleMs = 30 * 60_000

interface WrittenSchedule {
  readonly id: string
  readonly cron: string
  readonly time_zone?: string
  readonly task: string
}

const scheduleOf = ({ time_zone: timeZone, ...schedule }: WrittenSchedule): ExtensionManifest['schedules'][number] => ({
  ...schedule,
  ...(timeZone !== undefined && { timeZone }),
})

async function buildManifest(source: SourceText, values: ManifestValues, place: ManifestPlace): Promise<ExtensionManifest> {
  const [, file = '', className = ''] = entrypoint.exec(values.text('entrypoint') ?? '') ?? []
  const natural = values.text('natural_language_description')
  return {
    id: values.text('id') ?? '',
    name: values.text('name') ?? '',
    version: values.text('version') ?? '',
    description: values.text('description') ?? '',
    ...(file !== '' && { entrypoint: { file, className } }),
    ...(natural !== undefined && { naturalLanguageDescription: natural }),
    dependsOn: values.texts('depends_on'),
    visibility: values.get('visibility') === 'agents' ? 'agents' : 'all',
    permissions: {
      hosts: values.texts('permissions.hosts'),
      read: values.texts('permissions.read'),
      write: values.texts('permissions.write'),
    },
    config: (values.get('config') ?? {}) as JsonObject,
    secrets: values.texts('secrets'),
    enabled: values.get('enabled') !== false,
    schedules: ((values.get('schedules') ?? []) as readonly WrittenSchedule[]).map(scheduleOf),
    events: values.texts('events'),
    ...(values.has('agent') && { agent: await buildAgent(source, values, place) }),
  }
}

async function buildAgent(source: SourceText, values: ManifestValues, place: ManifestPlace): Promise<AgentSection> {
  const number = values.number
  const parameters = {
    temperature: number('agent.parameters.temperature'),
    topP: number('agent.parameters.top_p'),
    maxOutputTokens: number('agent.parameters.max_output_tokens'),
    seed: number('agent.parameters.seed'),
    reasoning: values.text('agent.parameters.reasoning_effort') as ReasoningEffort | undefined,
    timeoutMs: number('agent.parameters.timeout_ms'),
  }
  return {
    integrationMode: values.get('agent.integration_mode') === 'handoff' ? 'handoff' : 'tool',
    model: values.text('agent.model') ?? '',
    instructions: await renderInstructions(source, values, place),
    parameters: Object.fromEntries(Object.entries(parameters).filter(([, value]) => value !== undefined)),
    usesTools: values.texts('agent.uses_tools'),
    limits: {
      maxTurns: number('agent.limits.max_turns') ?? defaultLimits.maxToolTurns,
      maxTokensPerInvocation: number('agent.limits.max_tokens_per_invocation') ?? childLimits.maxTokens,
      timeBudgetMs: number('agent.limits.time_budget_ms') ?? childLimits.timeBudget,
      idleMs: number('agent.limits.idle_ms') ?? defaultIdleMs,
    },
  }
}

async function renderInstructions(
  source: SourceText,
  values: ManifestValues,
  { folder, workspace, config }: ManifestPlace,
): Promise<string> {
  const [id, name] = [values.text('id') ?? '', values.text('name') ?? '']
  const path = values.text('agent.instructions')
  if (path === undefined) return `You are ${name}. ${values.text('description') ?? ''}`
  const folders = [
    { path: folder, name: 'the folder of the extension' },
    { path: workspace, name: 'the folder of the project' },
  ]
  const merged = { ...((values.get('config') ?? {}) as JsonObject), ...config }
  const rendered = await renderFile(path, folders, { id, name, config: merged })
  if (rendered.ok) return rendered.text
  const { message, remedy, problems } = rendered
  if (problems.length === 0) source.problem(values.at('agent.instructions'), message, remedy)
  for (const problem of problems) source.addProblem(problem)
  return ''
}
