import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type AgentFile, parseAgentFile } from '../agents/index.ts'
import { type Clock, type ModelAdapter, type Problem, TroupeError } from '../contracts/index.ts'
import { builtInModels } from '../models/index.ts'
import { nearestNames } from '../util/nearest-names.ts'

export interface LoadedAgent {
  readonly agent: AgentFile
  readonly adapter: ModelAdapter
}

/** Reads an agent file and finds its models; throws everything that is wrong with either. */
export async function loadAgent(file: string, clock: Clock): Promise<LoadedAgent> {
  const agent = parseAgentFile(await readAgentFile(file), file)
  const adapter = builtInModels({ readFile: (path) => readFile(path, 'utf8'), baseDir: dirname(file), clock })
  const errors: TroupeError[] = []
  for (const model of agent.models) {
    try {
      await adapter.resolve(model)
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      errors.push(error)
    }
  }
  if (errors.length > 0) throw together(errors)
  return { agent, adapter }
}

/** Several errors as one; the code is the first one's. */
export function together(errors: readonly TroupeError[]): TroupeError {
  const [first, ...more] = errors
  if (!first) throw new TroupeError('internal', 'there is no error to tell')
  if (more.length === 0) return first
  const problems = errors.flatMap((error): readonly Problem[] => {
    if (error.problems.length > 0) return error.problems
    return [{ place: error.code, message: error.message, ...(error.remedy !== undefined && { remedy: error.remedy }) }]
  })
  return new TroupeError(first.code, `There are ${problems.length} problems.`, { problems })
}

async function readAgentFile(file: string): Promise<Uint8Array> {
  try {
    const { size } = await regularFile(file)
    if (size > largestAgentFile) throw Object.assign(new Error(), { code: `it has ${size} bytes, and ${largestAgentFile} is the most` })
    return await readFile(file)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    const message = code === 'ENOENT' ? 'There is no such file.' : code === 'EISDIR' ? 'It is a folder.' : `It cannot be read (${code}).`
    const problem = { place: file, message, remedy: await neighbours(file) }
    throw new TroupeError('agent_file_invalid', `the agent file ${file} cannot be read`, { problems: [problem], cause })
  }
}

const largestAgentFile = 4 * 1024 * 1024

/** A device or a pipe may never end. */
async function regularFile(file: string): Promise<{ readonly size: number }> {
  const found = await stat(file)
  if (found.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
  if (!found.isFile()) throw Object.assign(new Error(), { code: 'it is not a regular file' })
  return found
}

/** What the person may have meant. */
async function neighbours(file: string): Promise<string> {
  const folder = dirname(file)
  const names = await readdir(folder).catch(() => [])
  const agents = names.filter((name) => name.endsWith('.ai')).toSorted()
  const near = nearestNames(basename(file), agents)
  if (near.length > 0) return `Did you mean ${near.join(', ')}?`
  return agents.length > 0 ? `In ${folder} there are ${agents.slice(0, 10).join(', ')}.` : 'Give the path of an agent, a .ai file.'
}
