import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type AgentFile, parseAgentFile } from '../agents/index.ts'
import { type Clock, TroupeError } from '../contracts/index.ts'
import type { Variables } from '../models/index.ts'
import { nearestNames } from '../util/nearest-names.ts'
import { type FoundModels, findModels } from './find-models.ts'

export interface LoadedAgent extends FoundModels {
  readonly agent: AgentFile
}

export interface Surroundings {
  readonly clock: Clock
  /** Where keys and addresses of providers are looked for. */
  readonly variables: Variables
}

/** Reads an agent file and finds its models; throws everything that is wrong with either. */
export async function loadAgent(file: string, surroundings: Surroundings): Promise<LoadedAgent> {
  const agent = parseAgentFile(await readAgentFile(file), file)
  const found = await findModels(agent.models, { ...surroundings, readFile: (path) => readFile(path, 'utf8'), baseDir: dirname(file) })
  return { agent, ...found }
}

export async function readAgentFile(file: string): Promise<Uint8Array> {
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
