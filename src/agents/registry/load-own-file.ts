import { dirname, resolve } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { type AgentFile, readAgentWithProblems } from '../agent-file/agent-file.ts'
import type { OptionValues } from '../agent-file/option-values.ts'
import { readContent } from './agent-paths.ts'
import { type Confined, outsideProblem } from './confinement.ts'
import { ineffectiveSettings } from './ineffective-settings.ts'
import type { FileToRead, LoadContext, LoadedFile, Loading } from './loaded-file.ts'
import { scriptProblems, scriptsBeside, withoutScripts } from './script-paths.ts'
import { toolProblems } from './team-checks.ts'

/** Reads an agent file of ours. Schemas and scripts that it names must lie `within` what it is confined to, if it is. */
export function loadOwnFile({ path, place, bytes }: FileToRead, context: LoadContext, within: Confined | undefined): Loading {
  try {
    const { read, problems: faults } = readAgentWithProblems(bytes, place, {
      overrides: context.over,
      defaults: context.defaults,
      readFile: (file, withPrecedence) => {
        const target = resolve(dirname(path), file)
        // Who names a file on the command line has trusted it by that.
        return withPrecedence === 'file' && within ? readConfined(target, within) : readSchemaText(target)
      },
    })
    const models = scriptsBeside(read.agent.models, read.values, { path, context })
    const folders = { file: dirname(path), over: context.workingDirectory }
    const agent = withWritable({ ...read.agent, models }, read.values, folders)
    const scripts = scriptProblems(read.values, path, within)
    const problems = [...faults, ...scripts]
    const diagnostics = ineffectiveSettings(read.values, { policy: context.sandbox, ...folders })
    const file: LoadedFile = { ...read, agent, path, place, dialect: 'troupe', isForPeople: false, diagnostics }
    if (problems.length === 0) return { ok: true, file }
    // Nobody looks at its tools any more: what is wrong with them is told with the rest.
    const all = [...problems, ...toolProblems(file, context.tools)]
    // A script that must not be read is not handed to those who would look into it.
    const checked = scripts.length > 0 ? { ...file, agent: { ...agent, models: withoutScripts(models) } } : file
    return { ok: false, problems: all, said: checked }
  } catch (error) {
    if (error instanceof TroupeError) return { ok: false, problems: error.problems }
    throw error
  }
}

interface Folders {
  readonly file: string
  readonly over: string
}

/** Folders of a sandbox are relative to whoever names them. */
export function withWritable<A extends Pick<AgentFile, 'sandbox'>>(agent: A, values: OptionValues, { file, over }: Folders): A {
  const { sandbox } = agent
  if (!sandbox?.writable) return agent
  const folder = values.get('sandbox.writable')?.rank === 'override' ? over : file
  return { ...agent, sandbox: { ...sandbox, writable: sandbox.writable.map((each) => resolve(folder, each)) } }
}

function readConfined(target: string, within: Confined): string {
  const fault = outsideProblem(target, within)
  if (fault) throw new TroupeError('agent_file_invalid', fault.message, { remedy: fault.remedy })
  return readSchemaText(target)
}

export function readSchemaText(path: string): string {
  const content = readContent(path)
  if (!content.ok) throw new Error(content.kind === 'missing' ? `there is no ${path}` : content.why)
  return new TextDecoder().decode(content.bytes)
}
