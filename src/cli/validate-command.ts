import type { Registry } from '../agents/index.ts'
import type { ValidateInvocation } from './agents-invocations.ts'
import { loadProject, type Project } from './agents-project.ts'
import { exitCodes } from './exit-codes.ts'
import { plural } from './figures.ts'
import type { Host } from './host.ts'
import { joinErrors } from './join-errors.ts'
import { safeJson } from './safe-json.ts'
import { tellNotice } from './tell.ts'
import { uncompiledSchemas, unknownModels } from './validate-parts.ts'

/** `troupe validate`: everything that can be known without asking anybody. */
export async function validateCommand({ paths, output, wishes, configFile }: ValidateInvocation, host: Host): Promise<number> {
  const project = await loadProject(host, { paths, ...(configFile !== undefined && { configFile }) })
  const { registry, error, diagnostics } = project
  const more = registry.ok ? await furtherErrors(project, registry) : []
  const wrong = [...(error ? [error] : []), ...more]
  for (const { place, message, remedy, severity } of diagnostics)
    if (severity !== 'info' || wishes.detail === 'verbose')
      await tellNotice(`${place}  ${message}${remedy === undefined ? '' : `. ${remedy}`}`, { host, wishes })
  if (wrong.length > 0 || !registry.ok) throw joinErrors(wrong)
  const agents = registry.agents.map(({ definition, place, isChild }) => ({ name: definition.name, file: place, isChild }))
  const { code } = exitCodes.done
  if (output === 'json') await host.stdout.line(safeJson({ ok: true, agents, diagnostics, exitCode: code }))
  else await host.stdout.line(`${plural(agents.length, 'agent')} and the configuration are right.`)
  return code
}

async function furtherErrors(project: Project, registry: Extract<Registry, { readonly ok: true }>) {
  return [...(await uncompiledSchemas(registry.agents)), ...(await unknownModels(registry.agents, project.setup))]
}
