import { type Problem, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import type { AgentOptionKey } from '../options/agent-options.ts'
import { locationOf, type OptionValue, type OptionValues, type Precedence } from '../options/option-values.ts'
import { type Contract, contracts } from '../options/setting-conflicts.ts'
import { parseSchemaFile } from '../values/read-schema.ts'

/** Reads the file of a `schemaRef`, relative to the agent file. Throws if the file cannot or must not be read. */
export type ReadSchemaFile = (path: string, precedence: Precedence) => string

interface WithSchemas {
  readonly values: OptionValues
  readonly problems: readonly Problem[]
}

/** Replaces each `schemaRef` by the `schema` in its file. */
export function withSchemaFiles(values: OptionValues, readFile: ReadSchemaFile | undefined): WithSchemas {
  const all = new Map(values)
  const problems: Problem[] = []
  for (const contract of contracts) {
    const reference = values.get(`${contract}.schemaRef`)
    if (!reference) continue
    all.delete(`${contract}.schemaRef`)
    try {
      const schema = loadSchema(contract, reference, readFile)
      all.set(`${contract}.schema` satisfies AgentOptionKey, { ...reference, value: schema })
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      problems.push(...error.problems)
    }
  }
  return { values: all, problems }
}

function loadSchema(contract: Contract, reference: OptionValue, readFile: ReadSchemaFile | undefined): unknown {
  const path = String(reference.value)
  const unreadable = (message: string, remedy: string): TroupeError =>
    new TroupeError('agent_file_invalid', message, { problems: [{ ...locationOf(reference), message, remedy }] })
  if (!readFile) throw unreadable(`the schema \`${path}\` cannot be read here`, `Write the schema into \`${contract}.schema\`.`)
  let text: string
  try {
    text = readFile(path, reference.precedence)
  } catch (error) {
    const remedy = error instanceof TroupeError ? error.remedy : undefined
    throw unreadable(
      `the schema \`${path}\` cannot be read: ${messageOf(error)}`,
      remedy ?? 'Give the path of a JSON or YAML file, relative to the agent file.',
    )
  }
  return parseSchemaFile(text, path, contract === 'input' ? 'object' : 'any')
}
