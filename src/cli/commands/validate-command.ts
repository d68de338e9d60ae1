import type { ConfigDiagnostic } from '../../agents/index.ts'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { exitCodes } from '../host/exit-codes.ts'
import type { Host } from '../host/process-host.ts'
import { unknownModels } from '../models/unknown-models.ts'
import { unpricedWhereKnown } from '../models/unpriced-models.ts'
import type { ValidateInvocation } from '../options/project-invocations.ts'
import { loadPlaces, loadProject, type Project } from '../team/load-project.ts'
import { uncompiledSchemas } from '../team/uncompiled-schemas.ts'
import { type WorkspaceToolProblems, workspaceToolProblems } from '../team/workspace-tool-problems.ts'
import { plural } from '../terminal/format-numbers.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { printNotice } from '../terminal/print-messages.ts'
import { safeJson } from '../terminal/safe-json.ts'

/** `troupe validate`: everything that can be known without asking anybody. */
export async function validateCommand({ paths, output, display, configFile }: ValidateInvocation, host: Host): Promise<number> {
  const given = configFile === undefined ? {} : { configFile }
  const projects = paths.length > 0 ? await loadPlaces(host, { paths, ...given }) : [await loadProject(host, given)]
  const looked = await Promise.all(projects.map(async (project) => ({ ...project, acting: await workspaceToolProblems(project, host) })))
  const diagnostics = diagnosticsIn(looked)
  for (const { place, message, remedy, severity } of diagnostics)
    if (severity !== 'info' || display.detail === 'verbose')
      await printNotice(`${place}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`, { host, display })
  const wrong = (await Promise.all(looked.map(errorsOf))).flat()
  if (wrong.length > 0) throw joinErrors(withoutRepeats(wrong))
  const agents = agentsIn(projects)
  const { code } = exitCodes.done
  if (output === 'json') await host.stdout.line(safeJson({ ok: true, agents, diagnostics, exitCode: code }))
  else await host.stdout.line(`${plural(agents.length, 'agent')} and the configuration are right.`)
  return code
}

/** Several folders may lead to the same file; an agent counts as a child wherever it was met as one. */
function agentsIn(projects: readonly Project[]): readonly { readonly name: string; readonly file: string; readonly isChild: boolean }[] {
  const agents = projects.flatMap(({ registry }) => (registry.ok ? registry.agents : []))
  const children = new Set(agents.filter(({ isChild }) => isChild).map(({ path }) => path))
  const byPath = new Map(agents.map((agent) => [agent.path, agent]))
  return [...byPath].map(([path, { definition, place }]) => ({ name: definition.name, file: place, isChild: children.has(path) }))
}

interface LookedAt extends Project {
  readonly acting: WorkspaceToolProblems
}

/** The same form for all: what agents are to act with has warnings, too. */
function diagnosticsIn(projects: readonly LookedAt[]): Project['diagnostics'] {
  const told = projects.flatMap(({ diagnostics, acting }) => [...diagnostics, ...acting.warnings.map(asDiagnostic)])
  return [...new Map(told.map((each) => [`${each.place} ${each.message}`, each])).values()]
}

const asDiagnostic = ({ place, message, remedy = `Look at ${place}.` }: Problem): ConfigDiagnostic => ({
  code: 'config_part_missing',
  severity: 'warning',
  place,
  message,
  remedy,
})

function withoutRepeats(errors: readonly TroupeError[]): readonly TroupeError[] {
  const told = new Set<string>()
  return errors.flatMap((error) => {
    const problems = error.problems.filter(({ place, message }) => !told.has(`${place} ${message}`))
    for (const { place, message } of problems) told.add(`${place} ${message}`)
    if (problems.length === error.problems.length) return [error]
    return problems.length === 0 ? [] : [new TroupeError(error.code, error.message, { problems })]
  })
}

async function errorsOf(project: LookedAt): Promise<readonly TroupeError[]> {
  const { problems } = project.acting
  const missing = 'Not everything that agents are to act with is there.'
  return [
    ...(project.error ? [project.error] : []),
    ...(problems.length > 0 ? [new TroupeError('config_invalid', missing, { problems })] : []),
    ...(await furtherErrors(project)),
  ]
}

/** What the files say of schemas and models is looked at beside their other faults, so that one mending is enough. */
async function furtherErrors({ registry, setup, isConfigured }: Project): Promise<readonly TroupeError[]> {
  const schemas = await uncompiledSchemas(registry.readable)
  // Without the configuration nobody knows what its aliases mean.
  if (!isConfigured) return schemas
  const priced = registry.ok ? await unpricedWhereKnown(registry.agents, setup) : []
  return [...schemas, ...(await unknownModels(registry.readable, setup)), ...priced]
}
