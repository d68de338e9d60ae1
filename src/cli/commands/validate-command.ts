import { type Problem, TroupeError } from '../../contracts/index.ts'
import { inspectExtensions } from '../../kernel/index.ts'
import {
  type ConfigDiagnostic,
  loadProject,
  loadProjectsAt,
  type ProjectReport,
  schemaErrors,
  sentenceOf,
  unknownModels,
  unpricedBeforeResolving,
  type WorkspaceToolProblems,
  workspaceToolProblems,
} from '../../project/index.ts'
import { joinErrors } from '../../util/join-errors.ts'
import { plural } from '../../util/plural.ts'
import type { ValidateInvocation } from '../arguments/project-invocations.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { placeOf } from '../terminal/place-of.ts'
import { printDocument, printNotice } from '../terminal/print-messages.ts'
import type { Host } from '../terminal/process-host.ts'
import { strictError } from '../terminal/strict-error.ts'

/** `troupe validate`: checks everything that needs no network and no model. Imports trusted modules with tools. */
export async function validateCommand({ paths, isStrict, output, display, configFile }: ValidateInvocation, host: Host): Promise<number> {
  const options = { ...placeOf(host), configFile }
  const projects = paths.length > 0 ? await loadProjectsAt(paths, options) : [await loadProject(options)]
  const checked = await Promise.all(projects.map(async (project) => ({ ...project, tools: await workspaceToolProblems(project, host) })))
  const diagnostics = diagnosticsIn(checked)
  for (const each of diagnostics)
    if (each.severity !== 'info' || display.detail === 'verbose') await printNotice(sentenceOf(each), { host, display })
  const errors = (await Promise.all(checked.map(errorsOf))).flat()
  if (paths.length === 0 && projects.every(({ isConfigured }) => isConfigured)) errors.push(...(await extensionErrors(configFile, host)))
  const warnings = diagnostics.filter(({ severity }) => severity !== 'info')
  if (isStrict && warnings.length > 0) errors.push(strictError(warnings))
  if (errors.length > 0) throw joinErrors(withoutRepeats(errors))
  const agents = agentsIn(projects)
  if (output === 'json') await printDocument({ agents, diagnostics }, host)
  else await host.stdout.line(`${plural(agents.length, 'agent')} and the configuration are valid.`)
  return exitCodes.done.code
}

/** Each file once, even if several projects contain it. It is a child if any of them uses it as one. */
function agentsIn(
  projects: readonly ProjectReport[],
): readonly { readonly name: string; readonly file: string; readonly isChild: boolean }[] {
  const agents = projects.flatMap(({ registry }) => (registry.ok ? registry.agents : []))
  const children = new Set(agents.filter(({ isChild }) => isChild).map(({ path }) => path))
  const byPath = new Map(agents.map((agent) => [agent.path, agent]))
  return [...byPath].map(([path, { definition, place }]) => ({ name: definition.name, file: place, isChild: children.has(path) }))
}

/** Without running their code: see `troupe extensions validate`. */
async function extensionErrors(configFile: string | undefined, host: Host): Promise<readonly TroupeError[]> {
  // A store that cannot be read is none of what this command checks.
  const extensions = await inspectExtensions({ configFile }, placeOf(host)).catch(() => [])
  const problems = extensions.flatMap(({ errors }) => errors)
  return problems.length === 0 ? [] : [new TroupeError('config_invalid', 'Some extensions are invalid.', { problems })]
}

interface CheckedProject extends ProjectReport {
  readonly tools: WorkspaceToolProblems
}

/** Diagnostics and the warnings about tools, in one form and without duplicates. */
function diagnosticsIn(projects: readonly CheckedProject[]): ProjectReport['diagnostics'] {
  const known = projects.flatMap(({ diagnostics, tools }) => [...diagnostics, ...tools.warnings.map(asDiagnostic)])
  return [...new Map(known.map((each) => [`${each.place} ${each.message}`, each])).values()]
}

const asDiagnostic = ({ place, message, remedy = `Check ${place}.` }: Problem): ConfigDiagnostic => ({
  code: 'config_part_missing',
  severity: 'warning',
  place,
  message,
  remedy,
})

function withoutRepeats(errors: readonly TroupeError[]): readonly TroupeError[] {
  const known = new Set<string>()
  return errors.flatMap((error) => {
    const problems = error.problems.filter(({ place, message }) => !known.has(`${place} ${message}`))
    for (const { place, message } of problems) known.add(`${place} ${message}`)
    if (problems.length === error.problems.length) return [error]
    return problems.length === 0 ? [] : [new TroupeError(error.code, error.message, { problems })]
  })
}

async function errorsOf(project: CheckedProject): Promise<readonly TroupeError[]> {
  const { problems } = project.tools
  const missing = 'Some skills, hooks or folders of the agents cannot be used.'
  return [
    ...(project.error ? [project.error] : []),
    ...(problems.length > 0 ? [new TroupeError('config_invalid', missing, { problems })] : []),
    ...(await furtherErrors(project)),
  ]
}

/** Checks schemas and models even if the files have other errors, so that all are reported together. */
async function furtherErrors({ registry, setup, isConfigured }: ProjectReport): Promise<readonly TroupeError[]> {
  const schemas = await schemaErrors(registry.readable)
  // Without the configuration, model aliases are unknown.
  if (!isConfigured) return schemas
  const priced = registry.ok ? await unpricedBeforeResolving(registry.agents, setup) : []
  return [...schemas, ...(await unknownModels(registry.readable, setup)), ...priced]
}
