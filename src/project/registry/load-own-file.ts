import { dirname, resolve } from 'node:path'
import { TroupeError } from '../../contracts/index.ts'
import { type AgentFile, readAgentWithProblems } from '../agent-file/agent-file.ts'
import type { OptionValues } from '../options/option-values.ts'
import { readContent } from './agent-paths.ts'
import { type Confined, outsideProblem } from './confinement.ts'
import { ineffectiveSettings } from './ineffective-settings.ts'
import type { FileToRead, LoadContext, LoadedFile, Loading } from './loaded-file.ts'
import { problemOfTool } from './missing-tools.ts'
import { scriptProblems, scriptsBeside, withoutScripts } from './script-paths.ts'
import { unknownTools } from './team-checks.ts'
import { isModulePath } from './tool-modules.ts'

/** Reads a `.ai` file. Its schemas and scripts must be `within` its confinement. */
export function loadOwnFile({ path, place, bytes }: FileToRead, context: LoadContext, within: Confined | undefined): Loading {
  try {
    const { read, problems: faults } = readAgentWithProblems(bytes, place, {
      overrides: context.over,
      defaults: context.defaults,
      readFile: (file, withPrecedence) => {
        const target = resolve(dirname(path), file)
        context.onFile?.(target)
        // A file on the command line needs no trust.
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
    // The team checks skip a file with problems, so its tools are checked here.
    const missing = unknownTools(file, context, file.agent.tools.some(isModulePath)).filter(({ isOptional }) => !isOptional)
    const all = [...problems, ...missing.map(problemOfTool)]
    // A script outside the confinement must not be read by later checks.
    const checked = scripts.length > 0 ? { ...file, agent: { ...agent, models: withoutScripts(models) } } : file
    return { ok: false, problems: all, partial: checked }
  } catch (error) {
    if (error instanceof TroupeError) return { ok: false, problems: error.problems }
    throw error
  }
}

interface Folders {
  readonly file: string
  readonly over: string
}

/** Folders in overrides are relative to the working directory, others to the file. */
export function withWritable<A extends Pick<AgentFile, 'sandbox'>>(agent: A, values: OptionValues, { file, over }: Folders): A {
  const { sandbox } = agent
  if (!sandbox?.writable) return agent
  const folder = values.get('sandbox.writable')?.precedence === 'override' ? over : file
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
