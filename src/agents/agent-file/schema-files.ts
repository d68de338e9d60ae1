import { type Problem, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { parseSchemaFile } from '../values/read-schema.ts'
import type { AgentOptionKey } from './agent-options.ts'
import type { OptionValue, OptionValues, Precedence } from './option-values.ts'
import { type Contract, contracts } from './setting-conflicts.ts'

/** Reads the file of a `schemaRef`, whose path is relative to the agent file. Throws where it cannot, or should not. */
export type ReadSchemaFile = (path: string, withPrecedence: Precedence) => string

export interface WithSchemas {
  readonly values: OptionValues
  readonly problems: readonly Problem[]
}

/** Puts what each `schemaRef` leads to in its place. */
export function withSchemaFiles(values: OptionValues, readFile: ReadSchemaFile | undefined): WithSchemas {
  const all = new Map(values)
  const problems: Problem[] = []
  for (const contract of contracts) {
    const reference = values.get(`${contract}.schemaRef`)
    if (!reference) continue
    all.delete(`${contract}.schemaRef`)
    try {
      const schema = schemaOf(contract, reference, readFile)
      all.set(`${contract}.schema` satisfies AgentOptionKey, { ...reference, value: schema })
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      problems.push(...error.problems)
    }
  }
  return { values: all, problems }
}

function schemaOf(contract: Contract, { value, place, line, rank }: OptionValue, readFile: ReadSchemaFile | undefined): unknown {
  const path = String(value)
  const unreadable = (message: string, remedy: string): TroupeError =>
    new TroupeError('agent_file_invalid', message, { problems: [{ place, message, remedy, ...(line !== undefined && { line }) }] })
  if (!readFile) throw unreadable(`the schema \`${path}\` cannot be read here`, `Write it out as \`${contract}.schema\`.`)
  let text: string
  try {
    text = readFile(path, rank)
  } catch (error) {
    const remedy = error instanceof TroupeError ? error.remedy : undefined
    throw unreadable(
      `the schema \`${path}\` cannot be read: ${messageOf(error)}`,
      remedy ?? 'Give the path of a JSON or YAML file, relative to the agent file.',
    )
  }
  return parseSchemaFile(text, path, contract === 'input' ? 'object' : 'any')
}
